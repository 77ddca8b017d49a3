import OperationJobs

// What a driven backend is told of operations that are waited for.

extension DrivenBackends {
  /// The driven backend that is told when the calling thread waits for `operation`; nil for none.
  static func concerned(with operation: Operation) -> (any DrivenBackend)? {
    guard exist else { return nil }
    return here ?? operation.owner?.supervisedBackend as? any DrivenBackend
  }

  /// The driven backend that is told when the calling task waits for `operation`; nil for none. A task that waits for
  /// an operation on the backend waits for the operation's body, too: a body is no guest.
  @inline(__always)
  static func host(ofTaskWaitingFor operation: Operation) -> (any DrivenBackend)? {
    exist ? otherBackend(of: operation) : nil
  }

  @inline(never)
  private static func otherBackend(of operation: Operation) -> (any DrivenBackend)? {
    guard let backend = operation.owner?.supervisedBackend as? any DrivenBackend else { return nil }
    return isInBody(of: backend) ? nil : backend
  }

  /// Whether the calling task is the body of an operation on the backend, or a child task of one. All other tasks are
  /// guests, wherever they run.
  package static func isInBody(of backend: any DrivenBackend) -> Bool { TaskRun.isCurrent(on: backend) }

  /// Returns when the operation has departed. Another driven backend, on which the operation is or on which a
  /// dependency of it is, runs meanwhile: else that one would run only while some thread waited for it.
  static func wait(for operation: Operation, on backend: any DrivenBackend) {
    var last: Operation?
    backend.wait(
      until: { operation.hasDeparted },
      whenQuiet: {
        guard let (target, other) = holdingUp(operation, elsewhereThan: backend), target !== last else { return }
        last = target
        other.run(until: { target.hasDeparted })
      })
  }

  /// What `operation` waits for on another driven backend, when nothing more can happen on `backend`.
  private static func holdingUp(
    _ operation: Operation, elsewhereThan backend: any DrivenBackend
  ) -> (Operation, any DrivenBackend)? {
    var target = operation
    // A cycle has no end.
    for _ in 0..<1_000_000 {
      guard let next = target.firstUnfinishedDependency() else { break }
      target = next
    }
    guard let other = target.owner?.supervisedBackend as? any DrivenBackend, other !== backend else { return nil }
    return (target, other)
  }
}
