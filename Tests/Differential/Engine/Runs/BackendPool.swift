import Operations
import TestSupport

/// Backends for many programs: one for each number of workers, twice. One of both only serves calm programs, so that it
/// never has more threads than workers.
struct BackendPool {
  private let calm: [any Backend]
  private let busy: [any Backend]

  /// Fresh ones without fairness, since the model knows one order, the strict one; they are shut down when the body
  /// returns, and left alone when it throws: their threads may hang.
  static func with<Result>(_ kind: TestBackend, _ body: (BackendPool) throws -> Result) throws -> Result {
    try kind.withBackend(workers: 1, fairnessInterval: 0) { first in
      try kind.withBackend(workers: 2, fairnessInterval: 0) { second in
        try kind.withBackend(workers: 1, fairnessInterval: 0) { third in
          try kind.withBackend(workers: 2, fairnessInterval: 0) { fourth in
            try body(BackendPool(calm: [first, second], busy: [third, fourth]))
          }
        }
      }
    }
  }

  func backends(for program: Program) -> [any Backend] {
    let pool = program.isCalm ? calm : busy
    return program.backends.map { pool[min(2, $0.workers) - 1] }
  }
}
