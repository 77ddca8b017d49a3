import OperationCore
import OperationGraphs

extension OperationGraph {
  /// An operation that runs the graph once, on the backend of its queue.
  ///
  /// ```swift
  /// import Operations
  ///
  /// let graph = OperationGraph(of: Int.self) { graph in
  ///   let left = graph.add { 20 }
  ///   let right = graph.add { 22 }
  ///   return graph.add(left, right) { left, right in left + right }
  /// }
  /// func answer(_ queue: OperationQueue) async throws -> Int {
  ///   let operation = graph.operation()
  ///   queue.addOperation(operation)
  ///   return try await operation.value
  /// }
  /// ```
  ///
  /// The operation has what every operation has: dependencies, a priority, a completion block, waits. Cancelling it
  /// stops the run as cancelling a task does that awaits `run(afterFailure:)`. A node is no operation: only the run has
  /// a level, an owner that can be observed, and dependencies that can be changed.
  ///
  /// - Parameters:
  ///   - name: as `Operation.name`.
  ///   - mode: what becomes of nodes that do not come after one that has thrown.
  public func operation(
    name: String? = nil, afterFailure mode: GraphFailureMode = .skipOthers
  ) -> TaskOperation<Output, any Error> {
    TaskOperation(name: name) { try await self.run(afterFailure: mode) }
  }
}
