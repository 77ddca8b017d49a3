import Synchronization

/// Adds an asynchronous map on a queue.
extension Sequence where Element: Sendable {
  /// Returns what an asynchronous function returns for each element, in the order of the elements. Each call is an operation of
  /// the queue: so the queue's limit says how many calls run at a time.
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
  /// `cancelAllOperations()` hold for the calls as for all operations. The calls are at least as urgent as the waiting task.
  ///
  /// *Errors*: the first error, by time, cancels all other calls, and is thrown when all have ended. A call that was cancelled
  /// counts as one that threw `CancellationError`, whether it has begun or not.
  ///
  /// *Cancelling*: when the waiting task is cancelled, all calls are cancelled. `CancellationError` is thrown when all have ended. So no
  /// call outlives this one.
  ///
  /// *Cost*: what `addTask` costs for each element. Without a `limit` all operations exist at once. With a limit the next one is made
  /// when a call has returned.
  ///
  /// In an operation of the same queue that operation holds one of the places. Traps when the limit is less than 1.
  ///
  /// - Parameters:
  ///   - queue: has the operations.
  ///   - limit: of the calls of this map, how many may be in the queue at a time; nil for all. For long sequences, and where others
  ///     that add to the queue shall not wait behind all elements.
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

/// One call of `concurrentMap(in:limit:priority:_:)`.
///
/// While no call has failed, at least `limit` elements more than there are results have been added, or all: each call that
/// returns a value adds one, before its operation finishes. So the operation that is awaited next exists.
private final class MapRun<Element: Sendable, Value: Sendable>: Sendable {
  typealias Call = TaskOperation<Value, any Error>

  private struct State {
    /// The unfinished operations, and finished ones whose values were not taken.
    var calls: [Call?]
    var addedCount = 0
    /// Why no further call begins. The first reason counts.
    var failure: (any Error)?
  }

  private let elements: [Element]
  private let queue: OperationQueue
  private let priority: Operation.QueuePriority?
  /// The priority of the waiting task.
  private let taskPriority: TaskPriority
  private let transform: @Sendable (Element) async throws -> Value
  private let state: Mutex<State>

  init(
    _ elements: [Element], in queue: OperationQueue, priority: Operation.QueuePriority?, taskPriority: TaskPriority,
    _ transform: @escaping @Sendable (Element) async throws -> Value
  ) {
    self.elements = elements
    self.queue = queue
    self.priority = priority
    self.taskPriority = taskPriority
    self.transform = transform
    state = Mutex(State(calls: Array(repeating: nil, count: elements.count)))
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
      while let call = state.withLock({
        $0.failure == nil && values.count < elements.count ? $0.calls[values.count] : nil
      }) {
        guard await call.finished(), case .success(let value)? = call.result else {
          // The call has said why before its end. Or it never began, or the waiting task was cancelled.
          stop(CancellationError())
          break
        }
        state.withLock { $0.calls[values.count] = nil }
        values.append(value)
      }
      if values.count == elements.count { return values }
      let (calls, failure) = state.withLock { state in
        defer { state.calls = [] }
        return (state.calls, state.failure)
      }
      for case let call? in calls { await call.finishedAtLast() }
      throw failure ?? CancellationError()
    } onCancel: {
      stop(CancellationError())
    }
  }

  /// Adds the operation of the next element, if there is one.
  @discardableResult
  private func addNext() -> Call? {
    let call = state.withLock { state -> Call? in
      guard state.failure == nil, state.addedCount < elements.count else { return nil }
      let index = state.addedCount
      state.addedCount += 1
      // The closure has the index alone: what is inherited, such as task-local values, comes with the adding.
      let call = Call { try await self.call(self.elements[index]) }
      state.calls[index] = call
      return call
    }
    guard let call else { return nil }
    if let priority { call.queuePriority = priority }
    call.escalate(to: taskPriority)
    // Without the lock: a queue of a user's class may run here. Who stops the run meanwhile has seen the call.
    queue.addOperation(call)
    return call
  }

  private func call(_ element: Element) async throws -> Value {
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
    let calls = state.withLock { state -> [Call?] in
      guard state.failure == nil else { return [] }
      state.failure = error
      return state.calls
    }
    for case let call? in calls { call.cancel() }
  }
}
