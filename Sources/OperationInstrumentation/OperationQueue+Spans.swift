import Operations
import Tracing

/// Adds operations that run in spans.
extension OperationQueue {
  /// Adds an operation whose body runs in a span of swift-distributed-tracing.
  ///
  /// ```swift
  /// import OperationInstrumentation
  /// import Operations
  ///
  /// func load(on queue: OperationQueue) async throws -> Int {
  ///   try await queue.addTask(inSpan: "load") { 6 * 7 }.value
  /// }
  /// ```
  ///
  /// The span is a child of the one in which the operation was added: a body has the task-local values of there. The
  /// span lasts as long as the body runs. The attribute `operation.waited_ns` has the time from the adding to the
  /// start. An error of the body is recorded in the span.
  /// - Parameters:
  ///   - name: that of the span and of the operation.
  ///   - priority: as `Operation.queuePriority`; nil leaves it to the qualities of service.
  ///   - dependencies: what the operation waits for.
  ///   - tracer: makes the span; the one of the program where it is nil.
  ///   - body: runs as a task on the queue's backend.
  @discardableResult
  public final func addTask<Success: Sendable, Dependencies: Sequence>(
    inSpan name: String, priority: Operation.QueuePriority? = nil,
    dependencies: Dependencies = EmptyCollection<Operation>(), tracer: (any Tracer)? = nil,
    body: @escaping @Sendable () async throws -> Success
  ) -> TaskOperation<Success, any Error> where Dependencies.Element: Operation {
    let added = ContinuousClock.now
    return addTask(name: name, priority: priority, dependencies: dependencies) { () async throws -> Success in
      let waited = added.duration(to: .now)
      return try await (tracer ?? InstrumentationSystem.tracer).withAnySpan(name) { span in
        span.attributes["operation.waited_ns"] = waited.wholeNanoseconds
        return try await body()
      }
    }
  }
}
