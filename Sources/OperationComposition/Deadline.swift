/// Runs a body, and cancels its task when a deadline passes. Waits for the body in any case.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// func answer(on queue: OperationQueue) async throws -> Int {
///   let operation = queue.addTask { 6 * 7 }
///   // Cancels the operation when it has not finished in time, also while it still waits in the queue.
///   return try await withDeadline(.now + .seconds(5)) { try await operation.value(cancelling: true) }
/// }
/// ```
///
/// What the body returns or throws counts, also after the deadline: only a `CancellationError` that the deadline has caused
/// becomes `DeadlineExceeded`. A body that does not look at its cancelling takes as long as it takes. The words are those of the
/// proposal [SE-0526](https://github.com/swiftlang/swift-evolution/blob/main/proposals/0526-deadline.md).
///
/// - Parameters:
///   - deadline: an instant of the clock. One that has passed cancels the body at once.
///   - tolerance: how much later the cancelling may come, as `Clock.sleep(until:tolerance:)` has it.
///   - clock: the clock of the deadline, such as that of a `DeterministicBackend`.
///   - body: runs as a child task.
public func withDeadline<Success: Sendable, C: Clock>(
  _ deadline: C.Instant, tolerance: C.Duration? = nil, clock: C = ContinuousClock(),
  body: @escaping @Sendable () async throws -> Success
) async throws -> Success {
  let (result, hasPassed) = await withTaskGroup(of: Ended<Success>.self) { group in
    group.addTask {
      do { return .body(.success(try await body())) } catch { return .body(.failure(error)) }
    }
    group.addTask { .clock(hasPassed: (try? await clock.sleep(until: deadline, tolerance: tolerance)) != nil) }
    defer { group.cancelAll() }
    var hasPassed = false
    while true {
      switch await group.next() {
      case .clock(let passed)?:
        hasPassed = passed
        if passed { group.cancelAll() }
      case .body(let result)?: return (result, hasPassed)
      case nil: fatalError("Operations: a deadline's body has no result")
      }
    }
  }
  if hasPassed, !Task.isCancelled, case .failure(let error) = result, error is CancellationError {
    throw DeadlineExceeded()
  }
  return try result.get()
}

private enum Ended<Success: Sendable>: Sendable {
  case body(Result<Success, any Error>)
  case clock(hasPassed: Bool)
}

/// The body of `withDeadline` was cancelled by its deadline.
public struct DeadlineExceeded: Error, Hashable, CustomStringConvertible {
  /// The error.
  public init() {}
  public var description: String { "the deadline has passed" }
}
