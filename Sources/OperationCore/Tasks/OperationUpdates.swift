import Synchronization

/// Values that change, for `for await`: the present value, and then each change.
///
/// ```swift
/// import Operations
///
/// func follow(_ operation: Operation) async {
///   for await state in operation.states { print(state) }
///   print("finished")
/// }
/// ```
///
/// Each loop observes for itself, from its beginning to its end. Cancelling the task ends the loop.
public struct OperationUpdates<Element: Sendable>: AsyncSequence, Sendable {
  public typealias Failure = Never

  /// Calls the closure at each change, until the tokens end.
  fileprivate typealias Observe = @Sendable (_ changed: @escaping @Sendable () -> Void) -> [OperationObservation]

  fileprivate struct Reader: Sendable {
    /// The present value; nil when `last` is still the present value.
    let next: @Sendable (_ last: Element?) -> Element?
    /// Whether no value comes behind this one.
    let isLast: @Sendable (Element) -> Bool
  }

  private let observe: Observe
  private let reader: Reader

  fileprivate init(
    next: @escaping @Sendable (_ last: Element?) -> Element?,
    isLast: @escaping @Sendable (Element) -> Bool = { _ in false }, observe: @escaping Observe
  ) {
    self.observe = observe
    reader = Reader(next: next, isLast: isLast)
  }

  /// Begins to observe.
  public func makeAsyncIterator() -> AsyncIterator {
    // One change that nobody has looked at says as much as many.
    let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    return AsyncIterator(
      changes: changes.makeAsyncIterator(), tokens: observe { continuation.yield() }, reader: reader)
  }

  /// Waits for one value after the other. The task that waits reads the values: the thread that makes a change may hold
  /// a lock that reading a property takes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var changes: AsyncStream<Void>.Iterator
    /// The observation lasts as long as the iterator.
    fileprivate let tokens: [OperationObservation]
    fileprivate let reader: Reader
    fileprivate var last: Element?

    /// The next value; nil when there will be none, and when the task has been cancelled.
    public mutating func next() async -> Element? { await next(isolation: nil) }

    /// Waits for the next value on the caller's actor, as `next()` does on none.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      if let last, reader.isLast(last) { return nil }
      while !Task.isCancelled {
        if let value = reader.next(last) {
          last = value
          return value
        }
        guard await changes.next(isolation: actor) != nil else { return nil }
      }
      return nil
    }
  }
}

/// What an operation does. The states come in this order; an operation may leave some of them out.
public enum OperationState: Int, Sendable, CaseIterable, Comparable {
  /// The operation waits for dependencies, or its class says that it is not ready.
  case waiting
  /// `isReady` is true: the operation waits for its turn.
  case ready
  /// `isExecuting` is true.
  case executing
  /// `isFinished` is true.
  case finished

  /// The order in which the states come.
  public static func < (left: OperationState, right: OperationState) -> Bool { left.rawValue < right.rawValue }
}

extension Operation {
  /// The operation's present state, and each later one, for `for await`. The loop ends behind `finished`. Each state
  /// comes at most once. A state that the operation has left before anybody could look is left out: an operation that
  /// is cancelled before its start goes from waiting or ready to finished.
  ///
  /// The loop holds the operation. O(1) for each change.
  public final var states: OperationUpdates<OperationState> {
    OperationUpdates { last in
      let state = self.presentState
      return last.map { $0 < state } ?? true ? state : nil
    } isLast: {
      $0 == .finished
    } observe: { changed in
      // The handlers hold the operation until the tokens end.
      [
        self.observe(\.isReady) { _, _ in withExtendedLifetime(self, changed) },
        self.observe(\.isExecuting) { _, _ in withExtendedLifetime(self, changed) },
        self.observe(\.isFinished) { _, _ in withExtendedLifetime(self, changed) },
      ]
    }
  }

  fileprivate final var presentState: OperationState {
    if isFinished { return .finished }
    if isExecuting { return .executing }
    return isReady ? .ready : .waiting
  }
}

extension OperationProgress {
  /// What the progress was at an instant.
  public struct Snapshot: Sendable, Equatable {
    /// How many operations have finished.
    public let completedUnitCount: Int64
    /// How many operations make the whole.
    public let totalUnitCount: Int64
    /// From 0.0 to 1.0; 0 while the total is 0.
    public var fractionCompleted: Double {
      totalUnitCount > 0 ? min(1, Double(completedUnitCount) / Double(totalUnitCount)) : 0
    }
  }

  /// The present progress, and what it has become after each change of the queue, for `for await`. While nobody takes
  /// them, changes become one: the loop gets the newest. The loop has no end of its own, since more operations may
  /// come: leave it, or cancel its task.
  ///
  /// ```swift
  /// import Operations
  ///
  /// func show(_ queue: OperationQueue) async {
  ///   for await now in queue.progress.updates {
  ///     print("\(now.completedUnitCount) of \(now.totalUnitCount)")
  ///     if now.fractionCompleted == 1 { break }
  ///   }
  /// }
  /// ```
  ///
  /// The loop holds the queue. O(1) for each change. The changes of an observed queue are made under one lock.
  public var updates: OperationUpdates<Snapshot> {
    OperationUpdates { last in
      let now = self.snapshot
      return now == last ? nil : now
    } isLast: { _ in
      self.observedQueue == nil
    } observe: { changed in
      // The handler holds the queue until the token ends.
      self.observedQueue.map { queue in
        [queue.observe(\.operationCount) { _, _ in withExtendedLifetime(queue, changed) }]
      } ?? []
    }
  }

  private var snapshot: Snapshot {
    // The total first: what is added in between is in neither count.
    let total = totalUnitCount
    return Snapshot(completedUnitCount: min(completedUnitCount, total), totalUnitCount: total)
  }
}
