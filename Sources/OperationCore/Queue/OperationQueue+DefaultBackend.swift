import OperationJobs

extension OperationQueue {
  /// The backend of `OperationQueue()`. In a deterministic test that is the test's backend. O(1).
  ///
  /// ```swift
  /// let squares = OperationQueue.defaultBackend.run { (1...10).concurrentMap { $0 * $0 } }
  /// print(squares)
  /// ```
  public static var defaultBackend: any Backend { DrivenBackends.orDefault }
}
