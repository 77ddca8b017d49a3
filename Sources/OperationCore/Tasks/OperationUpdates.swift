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

  private let limit: AsyncStream<Element>.Continuation.BufferingPolicy
  private let subscribe: @Sendable (AsyncStream<Element>.Continuation) -> [OperationObservation]

  /// - Parameters:
  ///   - limit: which values are kept while nobody takes them.
  ///   - subscribe: begins to observe, and gives the present value. The observation ends with the tokens. The tokens' handlers do
  ///     not hold the tokens.
  init(
    keeping limit: AsyncStream<Element>.Continuation.BufferingPolicy,
    _ subscribe: @escaping @Sendable (AsyncStream<Element>.Continuation) -> [OperationObservation]
  ) {
    self.limit = limit
    self.subscribe = subscribe
  }

  public func makeAsyncIterator() -> AsyncIterator {
    let (values, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: limit)
    return AsyncIterator(values: values.makeAsyncIterator(), tokens: subscribe(continuation))
  }

  /// Waits for one value after the other.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var values: AsyncStream<Element>.Iterator
    /// The observation lasts as long as the iterator.
    fileprivate let tokens: [OperationObservation]

    /// The next value; nil when there will be none, and when the task has been cancelled.
    public mutating func next() async -> Element? { await values.next() }

    /// The same, on the actor that the caller runs on.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await values.next(isolation: actor)
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

  public static func < (left: OperationState, right: OperationState) -> Bool { left.rawValue < right.rawValue }
}

extension Operation {
  /// The operation's present state, and each later one, for `for await`. The loop ends behind `finished`. Each state comes at
  /// most once. A state that the operation has left before anybody could look is left out: an operation that is
  /// cancelled before its start goes from waiting or ready to finished.
  ///
  /// The loop holds the operation. O(1) for each change.
  public final var states: OperationUpdates<OperationState> {
    OperationUpdates(keeping: .unbounded) { continuation in
      let teller = StateTeller(continuation)
      // The handlers hold the operation until the tokens end.
      let tokens = [
        self.observe(\.isReady) { _, _ in teller.tell(self) },
        self.observe(\.isExecuting) { _, _ in teller.tell(self) },
        self.observe(\.isFinished) { _, _ in teller.tell(self) },
      ]
      teller.tell(self)
      return tokens
    }
  }

  fileprivate final var stateForPeople: OperationState {
    if isFinished { return .finished }
    if isExecuting { return .executing }
    return isReady ? .ready : .waiting
  }
}

/// Tells each state once, in order.
private final class StateTeller: Sendable {
  private let last = Mutex<OperationState?>(nil)
  private let continuation: AsyncStream<OperationState>.Continuation

  init(_ continuation: AsyncStream<OperationState>.Continuation) { self.continuation = continuation }

  func tell(_ operation: Operation) {
    // Read without the lock: a subclass may compute the state. A thread that comes late with an earlier state tells nothing.
    let state = operation.stateForPeople
    last.withLock { last in
      if let last, last >= state { return }
      last = state
      continuation.yield(state)
      if state == .finished { continuation.finish() }
    }
  }
}

extension OperationProgress {
  /// What the progress was at an instant.
  public struct Snapshot: Sendable, Equatable {
    public let completedUnitCount: Int64
    public let totalUnitCount: Int64
    /// From 0.0 to 1.0; 0 while the total is 0.
    public var fractionCompleted: Double {
      totalUnitCount > 0 ? min(1, Double(completedUnitCount) / Double(totalUnitCount)) : 0
    }
  }

  /// The present progress, and what it has become after each change of the queue, for `for await`. While nobody takes them,
  /// changes become one: the loop gets the newest. The loop has no end of its own, since more operations may come; leave it, or cancel its task.
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
    OperationUpdates(keeping: .bufferingNewest(1)) { continuation in
      guard let queue = self.observedQueue else {
        continuation.yield(self.snapshot)
        continuation.finish()
        return []
      }
      // The handler holds the queue until the token ends.
      let token = queue.observe(\.operationCount) { _, _ in
        withExtendedLifetime(queue) { _ = continuation.yield(self.snapshot) }
      }
      continuation.yield(self.snapshot)
      return [token]
    }
  }

  private var snapshot: Snapshot {
    // The total first: what is added in between is in neither count.
    let total = totalUnitCount
    return Snapshot(completedUnitCount: min(completedUnitCount, total), totalUnitCount: total)
  }
}
