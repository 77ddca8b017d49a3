import OperationJobs

extension Job {
  /// A job that runs a closure: for using a backend without operations. One allocation beside the closure's.
  public init(priority: Operation.QueuePriority = .normal, _ body: @escaping @Sendable () -> Void) {
    self.init(level: priority.level, body)
  }

  /// How urgent the job is among the backend's jobs.
  public var priority: Operation.QueuePriority { Operation.QueuePriority(level: level) }
}
