import OperationCore
import OperationJobs

/// A thread of others that uses the backend throughout the body of `withDeterministicOperations`, or that makes the
/// task of a seeded test.
final class HostThread: DrivenThread {
  let backend: DeterministicBackend

  init(_ backend: DeterministicBackend) { self.backend = backend }

  var drivenBackend: (any DrivenBackend)? { backend }
}
