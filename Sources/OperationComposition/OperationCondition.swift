import OperationCore
import OperationExecutors
import Operations
import Synchronization

/// What must hold before an operation may run. An operation whose conditions are not evaluated yet holds no place in
/// its queue, and blocks no thread.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// struct IsOnline: OperationCondition {
///   let check: @Sendable () async -> Bool
///   struct Offline: Error {}
///
///   func evaluate() async throws {
///     guard await check() else { throw Offline() }
///   }
/// }
///
/// func upload(on queue: OperationQueue) async throws {
///   let online = IsOnline { true }
///   try await queue.addTask(conditions: [online, Delay(for: .milliseconds(10))]) { print("sent") }.value
/// }
/// ```
///
/// `Delay`, `TokenBucket` and the turns of a `MutualExclusion` are conditions.
public protocol OperationCondition: Sendable {
  /// Called once, on the adding thread, before the operation is added: adds the operations that have to finish first.
  /// Does nothing where a condition has no method of that name.
  func prepare(_ operation: Operation)

  /// Returns when the operation may go on. Throws when it must not run. Runs as a task on the queue's backend, and is
  /// cancelled when the operation is.
  func evaluate() async throws
}

extension OperationCondition {
  public func prepare(_ operation: Operation) {}
}

/// Adds operations that wait for conditions.
extension OperationQueue {
  /// Adds an operation that runs when its conditions hold.
  ///
  /// The conditions are evaluated one after the other, in the order of the list, once `dependencies` have finished, and
  /// what the conditions' `prepare(_:)` has added. So a token is taken when the operation has its turn, and not before.
  /// The first one that throws ends the evaluation: the body does not run, and the operation's result is that error.
  ///
  /// The conditions are an operation of their own, on which this one depends: `whyNotStarted()` names it. When this
  /// operation is cancelled, it finishes at once, and the evaluation is cancelled.
  ///
  /// Traps as `addOperation(_:)` does. O(dependencies + conditions); a small queue and a second operation for each
  /// call.
  ///
  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - priority: as `Operation.queuePriority`; nil leaves it to the qualities of service.
  ///   - dependencies: operations that finish before the first condition is evaluated.
  ///   - conditions: what must hold.
  ///   - body: runs as a task on the queue's backend.
  /// - Returns: the operation, whose `value` is what the body returns.
  @discardableResult
  public final func addTask<Success: Sendable, Dependencies: Sequence>(
    name: String? = nil, priority: Operation.QueuePriority? = nil,
    dependencies: Dependencies = EmptyCollection<Operation>(),
    conditions: [any OperationCondition], body: @escaping @Sendable () async throws -> Success
  ) -> TaskOperation<Success, any Error> where Dependencies.Element: Operation {
    let gate = Gate(conditions)
    let operation = TaskOperation<Success, any Error> {
      // The gate has finished: nothing waits here.
      try await gate.operation.value
      return try await body()
    }
    operation.addDependencies(dependencies)
    for condition in conditions { condition.prepare(operation) }
    // A condition that takes something, such as a token, takes it when all else is there.
    for dependency in operation.dependencies { gate.operation.addDependency(dependency) }
    operation.addDependency(gate.operation)
    gate.open(for: operation, name: name, priority: priority, on: backend)
    add(operation, name: name, priority: priority)
    return operation
  }
}

/// The evaluation of an operation's conditions, as an operation.
private struct Gate {
  let operation: TaskOperation<Void, any Error>
  /// Cancels the evaluation when the operation is cancelled. The gate's body holds the observation until it has ended.
  private let watch = CancellationWatch()

  init(_ conditions: [any OperationCondition]) {
    operation = TaskOperation { [watch] in
      for condition in conditions { try await condition.evaluate() }
      withExtendedLifetime(watch) {}
    }
  }

  /// Adds the gate to a queue of its own: neither a limit nor a suspension of the operation's queue holds it up.
  func open(for waiting: Operation, name: String?, priority: Operation.QueuePriority?, on backend: any Backend) {
    operation.name = "conditions of \(name ?? "an operation")"
    if let priority { operation.queuePriority = priority }
    watch.begin(waiting) { [weak operation] in operation?.cancel() }
    OperationQueue(backend: backend).addOperation(operation)
  }
}

/// A condition that holds after some time.
///
/// ```swift
/// import OperationComposition
/// import Operations
///
/// func remind(on queue: OperationQueue) {
///   queue.addTask(conditions: [Delay(for: .seconds(60))]) { print("a minute later") }
/// }
/// ```
public struct Delay<C: Clock>: OperationCondition where C.Duration == Duration {
  private enum End: Sendable {
    case after(Duration)
    case at(C.Instant)
  }

  private let end: End
  private let tolerance: Duration?
  private let clock: C

  /// Holds when `duration` has passed since the evaluation began.
  /// - Parameters:
  ///   - duration: 0 or more; less counts as 0, and more than a hundred years as a hundred.
  ///   - tolerance: how much later the operation may become ready, as `Clock.sleep(until:tolerance:)` has it.
  ///   - clock: the clock that measures, such as that of a `DeterministicBackend`.
  public init(for duration: Duration, tolerance: Duration? = nil, clock: C = ContinuousClock()) {
    end = .after(duration)
    self.tolerance = tolerance
    self.clock = clock
  }

  /// Holds from an instant on. One more than a hundred years away counts as a hundred.
  public init(until instant: C.Instant, tolerance: Duration? = nil, clock: C = ContinuousClock()) {
    end = .at(instant)
    self.tolerance = tolerance
    self.clock = clock
  }

  public func evaluate() async throws {
    tellRealTime(of: C.self, "a delay")
    let instant =
      switch end {
      case .after(let duration): clock.now.advanced(by: min(max(duration, .zero), .century))
      case .at(let instant): clock.withinACentury(instant)
      }
    try await Alarm.sleep(until: instant, on: clock, tolerance: clock.withinACentury(tolerance))
  }
}

/// Calls a closure when an operation is cancelled, while the watch exists. May call the closure twice.
final class CancellationWatch: Sendable {
  private let token = Mutex<OperationObservation?>(nil)

  func begin(_ operation: Operation, _ whenCancelled: @escaping @Sendable () -> Void) {
    let token = operation.observe(\.isCancelled) { _, _ in whenCancelled() }
    self.token.withLock { $0 = token }
    if operation.isCancelled { whenCancelled() }
  }
}
