import OperationCore
import OperationJobs

/// A thread of others that uses the backend throughout the body of `withDeterministicOperations`.
final class HostThread: DrivenThread {
  private let backend: DeterministicBackend

  init(_ backend: DeterministicBackend) { self.backend = backend }

  var drivenBackend: (any DrivenBackend)? { backend }
}
