import DeterministicOperations
import OperationComposition
import Operations
import TestSupport

struct Refused: Error, Equatable {
  var number = 0
}

/// A body that runs as a task on queues of a fresh backend.
func compose<Result: Sendable>(
  on backend: TestBackend, workers: Int = 2, _ body: @escaping @Sendable (any Backend) async throws -> Result
) async throws -> Result {
  try await AsynchronousTest.run { try await body(backend.leftRunning(workers: workers)) }
}

/// A body on the virtual clock of a deterministic backend, whose time goes on by itself where nothing else is said.
func inVirtualTime<Result: Sendable>(
  seed: UInt64, advancesByItself: Bool = true, _ body: @escaping @Sendable (DeterministicBackend) async throws -> Result
) async throws -> Result {
  try await AsynchronousTest.run {
    try await withDeterministicOperations(seed: seed, advancesByItself: advancesByItself) { backend in
      try await body(backend)
    }
  }
}

let seeds: [UInt64] = Array(1...20)
