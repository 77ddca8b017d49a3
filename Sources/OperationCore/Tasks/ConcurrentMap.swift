import OperationJobs
import Primitives
import Synchronization

/// Adds an asynchronous map on a queue.
extension Sequence where Element: Sendable {
  /// Returns what an asynchronous function returns for each element, in the order of the elements. Each call is an
  /// operation of the queue: so the queue's limit says how many calls run at a time.
  ///
  /// ```swift
  /// import Operations
  ///
  /// func load(_ page: Int) async throws -> String { "page \(page)" }
  ///
  /// func loadAll(_ pages: [Int]) async throws -> [String] {
  ///   let queue = OperationQueue(maxConcurrentOperationCount: 4)
  ///   return try await pages.concurrentMap(in: queue) { page in try await load(page) }
  /// }
  /// ```
  ///
  /// Other operations of the queue, and other calls, share its places. Its priorities, its suspension and
  /// `cancelAllOperations()` hold for the calls as for all operations. The calls are at least as urgent as the waiting
  /// task.
  ///
  /// *Errors*: the first error, by time, cancels all other calls, and is thrown when all have ended. A call that was
  /// cancelled counts as one that threw `CancellationError`, whether it has begun or not.
  ///
  /// *Cancelling*: when the waiting task is cancelled, all calls are cancelled. `CancellationError` is thrown when all
  /// have ended. So no call outlives this one.
  ///
  /// *Cost*: what `addTask` costs for each element. Without a `limit` all operations exist at once. With a limit the
  /// next one is made when a call has returned.
  ///
  /// In an operation of the same queue that operation holds one of the places. Traps when the limit is less than 1.
  ///
  /// - Parameters:
  ///   - queue: has the operations.
  ///   - limit: of the calls of this map, how many may be in the queue at a time; nil for all. For long sequences, and
  ///     where others that add to the queue shall not wait behind all elements.
  ///   - priority: as `Operation.queuePriority` of the operations; nil leaves it to the qualities of service.
  ///   - transform: called with each element, as a task on the queue's backend.
  /// - Returns: the results, in the order of the elements.
  public nonisolated(nonsending) func concurrentMap<Result: Sendable>(
    in queue: OperationQueue, limit: Int? = nil, priority: Operation.QueuePriority? = nil,
    _ transform: @escaping @Sendable (Element) async throws -> Result
  ) async throws -> [Result] {
    if let limit, limit < 1 {
      misuse(queue, "the limit of concurrentMap cannot be \(limit): it is nil (none), 1, or more")
    }
    let run = MapRun(Array(self), in: queue, priority: priority, taskPriority: Task.currentPriority, transform)
    return try await run.results(limit: limit ?? .max)
  }
}

/// One call of `concurrentMap(in:limit:priority:_:)`. `Tasks/README.md` has the protocol.
private final class MapRun<Element: Sendable, Value: Sendable>: @unchecked Sendable {
  // Sendable: the slots are atomics. A slot owns a reference to its operation from the store on. The waiting task alone
  // takes the reference out, under the lock of `failure`, and who reads a slot reads it under that lock.
  typealias Call = TaskOperation<Value, any Error>

  private let elements: [Element]
  private let queue: OperationQueue
  private let priority: Operation.QueuePriority?
  /// The priority of the waiting task.
  private let taskPriority: TaskPriority
  private let transform: @Sendable (Element) async throws -> Value
  /// The operation of each element; 0 before it is made, and when its value was taken.
  private let slots: UnsafeMutablePointer<Atomic<UInt>>
  /// How many elements somebody has claimed to add; may be more than there are.
  private let claimed = Atomic<Int>(0)
  private let isStopped = Atomic<Bool>(false)
  /// Why no further call begins. The first reason counts.
  private let failure = Locked<(any Error)?>(nil)

  init(
    _ elements: [Element], in queue: OperationQueue, priority: Operation.QueuePriority?, taskPriority: TaskPriority,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) {
    self.elements = elements
    self.queue = queue
    self.priority = priority
    self.taskPriority = taskPriority
    self.transform = transform
    slots = .allocate(capacity: elements.count)
    for index in 0..<elements.count { (slots + index).initialize(to: Atomic(0)) }
  }

  deinit {
    for index in 0..<elements.count { Self.owned(slots[index].load(ordering: .relaxed))?.release() }
    slots.deinitialize(count: elements.count)
    slots.deallocate()
  }

  nonisolated(nonsending) func results(limit: Int) async throws -> [Value] {
    try await withTaskCancellationHandler {
      var last: Call?
      for _ in 0..<Swift.min(limit, elements.count) {
        let next = addNext()
        // Somebody has cancelled all operations of the queue. The next one came in later, or was cancelled, too.
        if let last, last.isCancelled { stop(CancellationError()) }
        last = next
      }
      var values: [Value] = []
      values.reserveCapacity(elements.count)
      while values.count < elements.count, !isStopped.load(ordering: .acquiring), let call = call(at: values.count) {
        guard await call.finished(), case .success(let value)? = call.result else {
          // The call has said why before its end. Or it never began, or the waiting task was cancelled.
          stop(CancellationError())
          break
        }
        letGo(at: values.count)
        values.append(value)
      }
      if values.count == elements.count { return values }
      // What adds an element has a smaller number: when that one has finished, the slot is filled, or stays empty.
      for index in 0..<elements.count { await call(at: index)?.finishedAtLast() }
      throw failure.withLock { failure.state } ?? CancellationError()
    } onCancel: {
      stop(CancellationError())
    }
  }

  /// Adds the operation of the next element, if there is one. Takes no lock: all calls come here.
  @discardableResult
  private func addNext() -> Call? {
    guard claimed.load(ordering: .relaxed) < elements.count, !isStopped.load(ordering: .relaxed) else { return nil }
    let index = claimed.wrappingAdd(1, ordering: .relaxed).oldValue
    guard index < elements.count else { return nil }
    let call = Call { try await self.call(self.elements[index]) }
    slots[index].store(
      UInt(bitPattern: Unmanaged.passRetained(call).toOpaque()), ordering: .sequentiallyConsistent)
    // Who stops the run raises the flag first, and looks at the slots second: one of the two sees the other.
    if isStopped.load(ordering: .sequentiallyConsistent) { call.cancel() }
    if let priority { call.queuePriority = priority }
    call.escalate(to: taskPriority)
    queue.addOperation(call)
    return call
  }

  private func call(_ element: Element) async throws -> Value {
    // A call that was cancelled before this one may have left its place to this one.
    if isStopped.load(ordering: .acquiring) { throw CancellationError() }
    do {
      let value = try await transform(element)
      // A cancelled call adds no other: who has cancelled all operations of the queue shall see no new ones.
      if !Task.isCancelled { addNext() }
      if Task.isCancelled { stop(CancellationError()) }
      return value
    } catch {
      stop(error)
      throw error
    }
  }

  private func stop(_ error: any Error) {
    let isFirst = failure.withLock {
      if failure.state != nil { return false }
      failure.state = error
      isStopped.store(true, ordering: .sequentiallyConsistent)
      return true
    }
    guard isFirst else { return }
    // Each without the lock: cancelling runs code of the user's.
    for index in 0..<elements.count { call(at: index)?.cancel() }
  }

  private func call(at index: Int) -> Call? {
    failure.withLock { Self.owned(slots[index].load(ordering: .sequentiallyConsistent))?.takeUnretainedValue() }
  }

  private func letGo(at index: Int) {
    failure.withLock { Self.owned(slots[index].exchange(0, ordering: .relaxed)) }?.release()
  }

  private static func owned(_ word: UInt) -> Unmanaged<Call>? {
    UnsafeRawPointer(bitPattern: word).map { Unmanaged.fromOpaque($0) }
  }
}
