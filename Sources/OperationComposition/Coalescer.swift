import OperationCore
import Operations
import Synchronization

/// Runs one operation for all who ask for the same thing at the same time.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// func picture(_ url: String, with coalescer: Coalescer<String, [UInt8]>) async throws -> [UInt8] {
///   try await coalescer.value(for: url) { Array(url.utf8) }
/// }
/// ```
///
/// The first request of a key adds an operation to the queue. Requests that come before its body has ended share it.
/// The operation belongs to all of them alike:
///
/// * A request that leaves (`cancel()`, or a cancelled task) ends at once, and the work goes on for the others. When
///   the last request leaves, the operation is cancelled. A request that comes then starts a new operation.
/// * What the body returns or throws is the result of all who ask at that time. The next request begins anew: the
///   coalescer keeps no results.
/// * The operation is as urgent as its most urgent request. `priority` of a request may change at any time. A task that
///   waits for a request lends it nothing beyond that.
/// * A request that is made in the body of another coalesced operation, of this coalescer or of any, is as urgent as
///   that operation, and follows its changes. So steps that build on each other (download, decode, draw) have a
///   coalescer each. Raising a request for the last step raises the steps before, too.
///
/// A body that waits for its own value, directly or through other operations, gets a `CircularWait` that names both. A
/// request that a body makes for its own value does not keep the operation going when all others have left.
///
/// The body has the task-local values of the first request. Memory is held for a key only while there is a request.
public final class Coalescer<Key: Hashable & Sendable, Success: Sendable>: Sendable {
  private let entries = Mutex<[Key: Entry]>([:])
  private let queue: OperationQueue

  private let name: (@Sendable (Key) -> String)?

  /// - Parameters:
  ///   - queue: where the operations are added, with its limits and its backend.
  ///   - name: the name of a key's operation, for diagnosis and traces; nil leaves the operations without names.
  public init(queue: OperationQueue, name: (@Sendable (Key) -> String)? = nil) {
    self.queue = queue
    self.name = name
  }

  /// How many keys have a request now.
  public var count: Int { entries.withLock { $0.count } }

  /// Waits for the value of a key. Cancelling the waiting task ends the wait at once, and leaves.
  ///
  /// Throws what the body threw; `CancellationError` when the task was cancelled, or the operation (such as by
  /// `cancelAllOperations()`).
  /// - Parameters:
  ///   - key: what is asked for.
  ///   - priority: how urgent this request is. Nil: `.normal`, or what the coalesced operation has whose body asks.
  ///   - body: not called when the request shares the operation of an earlier one.
  public func value(
    for key: Key, priority: Operation.QueuePriority? = nil, _ body: @escaping @Sendable () async throws -> Success
  ) async throws -> Success {
    let request = request(for: key, priority: priority, body)
    defer { request.cancel() }
    return try await request.value
  }

  /// Asks for the value of a key. The request lasts until it is cancelled, or nobody holds it any more.
  public func request(
    for key: Key, priority: Operation.QueuePriority? = nil, _ body: @escaping @Sendable () async throws -> Success
  ) -> CoalescedRequest<Success> {
    let asking = Followers.current
    let leading = priority == nil ? asking : nil
    let priority = priority ?? leading?.priority ?? .normal
    let request = CoalescedRequest<Success>(priority: priority, leading)
    let (entry, isNew) = entries.withLock { entries in
      // An operation that was cancelled is nobody's any more.
      if let entry = entries[key], !entry.operation.isCancelled {
        entry.requests.set(priority, of: ObjectIdentifier(request), isOwn: asking === entry.followers)
        return (entry, false)
      }
      let entry = Entry(key: key, coalescer: self, body)
      entry.requests.set(priority, of: ObjectIdentifier(request), isOwn: false)
      entries[key] = entry
      return (entry, true)
    }
    request.begin(entry)
    if isNew {
      // Without the lock: the program's closure may take locks of its own.
      if let name { entry.operation.name = name(key) }
      // Said once, so that the queue's quality of service decides nothing.
      entry.operation.queuePriority = .normal
    }
    entry.applyPriority()
    leading?.add(request)
    // Without a lock: a queue of a user's class may run here. Who shares the operation meanwhile may wait for it
    // already.
    if isNew { queue.addOperation(entry.operation) }
    return request
  }

  /// An operation and its requests.
  fileprivate final class Entry: SharedWork<Success>, @unchecked Sendable {
    // Sendable: the variables are touched under the coalescer's lock.

    let key: Key
    let coalescer: Coalescer
    var requests = Requests()
    /// A thread sets the operation's priority now.
    var isApplying = false
    /// The body has ended. A request that leaves now must not cancel an operation that is about to finish.
    var isOver = false

    init(key: Key, coalescer: Coalescer, _ body: @escaping @Sendable () async throws -> Success) {
      self.key = key
      self.coalescer = coalescer
      let promise = Promise<Success>()
      let delivery = Delivery(promise)
      let link = Link()
      let followers = Followers { "\(key)" }
      super.init(
        promise, followers,
        TaskOperation {
          let result: Result<Success, any Error>
          do {
            result = .success(try await Followers.$current.withValue(followers, operation: body))
          } catch {
            result = .failure(error)
          }
          link.entry.withLock { $0.take() }?.ended()
          delivery.promise.deliver(result)
          return try result.get()
        })
      link.entry.withLock { $0 = self }
    }

    /// Lets the body find the entry, until the body has ended. A body that never runs is released, and with it the
    /// link.
    private final class Link: Sendable {
      let entry = Mutex<Entry?>(nil)
      deinit { entry.withLock { $0.take() }?.ended() }
    }

    /// The body has ended: the next request begins anew.
    private func ended() {
      coalescer.entries.withLock { entries in
        isOver = true
        if entries[key] === self { entries[key] = nil }
      }
    }

    override func note(_ priority: Operation.QueuePriority, of request: ObjectIdentifier) {
      coalescer.entries.withLock { _ in
        requests.change(priority, of: request)
      }
    }

    override func leave(_ request: ObjectIdentifier) {
      let isUnwanted = coalescer.entries.withLock { entries in
        guard requests.remove(request), requests.haveNobodyElse, !isOver else { return false }
        // A new entry may stand there, when this one's operation was cancelled.
        if entries[key] === self { entries[key] = nil }
        return true
      }
      guard isUnwanted else { return applyPriority() }
      operation.cancel()
      // Who still waits is the body itself, or waits on its behalf.
      promise.deliver(.failure(CancellationError()))
    }

    /// Gives the operation the priority of its most urgent request. One thread at a time sets it, and goes on until
    /// what it has set is right: so the last change is not overtaken by an earlier one.
    override func applyPriority() {
      var applied: Operation.QueuePriority?
      while let wanted = coalescer.entries.withLock({ _ in next(after: applied) }) {
        // Without the lock: observers run here.
        operation.queuePriority = wanted
        followers.apply(wanted)
        applied = wanted
      }
    }

    /// - Parameter applied: what this thread has set; nil when it begins.
    /// - Returns: what is to be set; nil when nothing is, or another thread does it.
    private func next(after applied: Operation.QueuePriority?) -> Operation.QueuePriority? {
      if applied == nil, isApplying { return nil }
      let wanted = requests.mostUrgent
      isApplying = wanted != nil && wanted != applied ?? operation.queuePriority
      return isApplying ? wanted : nil
    }
  }
}

/// The requests of an operation, and how urgent they are. Each call is O(1).
private struct Requests {
  private struct Request {
    var priority: Operation.QueuePriority
    /// The body itself has made it.
    let isOwn: Bool
  }

  private var requests: [ObjectIdentifier: Request] = [:]
  private var ownCount = 0
  private var counts: [Operation.QueuePriority: Int] = [:]

  var haveNobodyElse: Bool { requests.count == ownCount }
  /// Nil where there is no request.
  var mostUrgent: Operation.QueuePriority? { counts.keys.max { $0.rawValue < $1.rawValue } }

  mutating func set(_ priority: Operation.QueuePriority, of request: ObjectIdentifier, isOwn: Bool) {
    requests[request] = Request(priority: priority, isOwn: isOwn)
    counts[priority, default: 0] += 1
    if isOwn { ownCount += 1 }
  }

  /// No effect on a request that has left.
  mutating func change(_ priority: Operation.QueuePriority, of request: ObjectIdentifier) {
    guard let old = requests[request] else { return }
    remove(request)
    set(priority, of: request, isOwn: old.isOwn)
  }

  /// - Returns: false when there was no such request.
  @discardableResult
  mutating func remove(_ request: ObjectIdentifier) -> Bool {
    guard let old = requests.removeValue(forKey: request), let count = counts[old.priority] else { return false }
    counts[old.priority] = count > 1 ? count - 1 : nil
    if old.isOwn { ownCount -= 1 }
    return true
  }
}

/// What a request knows of its work.
private class SharedWork<Success: Sendable>: @unchecked Sendable {
  // Sendable: nothing changes.

  let promise: Promise<Success>
  let followers: Followers
  let operation: TaskOperation<Success, any Error>

  init(_ promise: Promise<Success>, _ followers: Followers, _ operation: TaskOperation<Success, any Error>) {
    self.promise = promise
    self.followers = followers
    self.operation = operation
  }

  /// The calling task is about to wait for the value.
  func beginAwait() throws(CircularWait) -> AwaitMark? {
    do throws(CircularWait) { return try operation.beginAwait() } catch {
      // Who has no name has a key.
      var operations = error.operations
      if let asking = Followers.current {
        for end in [operations.indices.first, operations.indices.last] {
          end.map { operations[$0] += " for \(asking.name())" }
        }
      }
      if operations.count > 2 { operations[1] += " for \(followers.name())" }
      throw CircularWait(operations: operations)
    }
  }

  func note(_ priority: Operation.QueuePriority, of request: ObjectIdentifier) {}
  func applyPriority() {}
  func leave(_ request: ObjectIdentifier) {}
}

/// A request that shares an operation with others: see `Coalescer`. The request leaves when it is cancelled, and when
/// nobody holds it any more.
public final class CoalescedRequest<Success: Sendable>: Sendable, FollowingRequest {
  private struct State: Sendable {
    var work: SharedWork<Success>?
    var priority: Operation.QueuePriority
    var isCancelled = false
    /// The numbers of the waits for `value` that are under way.
    var waits: Set<Int> = []
  }

  private let state: Mutex<State>
  /// Whom the request follows.
  private let leading: Followers?

  fileprivate init(priority: Operation.QueuePriority, _ leading: Followers?) {
    state = Mutex(State(priority: priority))
    self.leading = leading
  }

  fileprivate func begin(_ work: SharedWork<Success>) { state.withLock { $0.work = work } }

  deinit { cancel() }

  /// How urgent the request is. The operation is as urgent as its most urgent request.
  public var priority: Operation.QueuePriority {
    get { state.withLock { $0.priority } }
    set {
      let work = state.withLock { state in
        state.priority = newValue
        // Under this lock too: of two threads that set it, the last one's value is the work's.
        state.work?.note(newValue, of: ObjectIdentifier(self))
        return state.work
      }
      work?.applyPriority()
    }
  }

  /// Whether the request has left.
  public var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Leaves. A wait for `value` ends with a `CancellationError` at once. The operation is cancelled when no other
  /// request is left.
  public func cancel() {
    let (work, waits) = state.withLock { state in
      state.isCancelled = true
      return (state.work.take(), state.waits)
    }
    guard let work else { return }
    leading?.remove(ObjectIdentifier(self))
    for wait in waits { work.promise.leave(wait) }
    work.leave(ObjectIdentifier(self))
  }

  /// Waits for the operation and returns what its body returned. Cancelling the waiting task ends the wait at once; the
  /// request stays.
  ///
  /// Throws what the body threw; `CancellationError` when the waiting task, the request or the operation was cancelled;
  /// a `CircularWait` in the body of an operation that the value waits for.
  public var value: Success {
    get async throws {
      let wait = state.withLock { state -> (SharedWork<Success>, Int)? in
        guard let work = state.work else { return nil }
        let number = work.promise.number()
        state.waits.insert(number)
        return (work, number)
      }
      guard let (work, number) = wait else { throw CancellationError() }
      defer { state.withLock { _ = $0.waits.remove(number) } }
      let mark = try work.beginAwait()
      defer { mark?.end() }
      return try await work.promise.wait(number)
    }
  }
}
