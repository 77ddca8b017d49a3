import DeterministicOperations
import Glibc
import Operations
import TestSupport

/// Runs on the deterministic backend that end a process, or write to standard error.
enum DeterministicScenarios {
  static let all: [String: @Sendable () -> Void] = [
    "deterministic-crash": { forSeeds { crash($0) } },
    "deterministic-seed": { forSeeds { print("seed \($0.seed)") } },
    "deterministic-run-in-job": { inJob { $0.run() } },
    "deterministic-advance-in-job": { inJob { $0.advance(by: .seconds(1)) } },
    "deterministic-shutdown-in-job": { inJob { $0.shutdown() } },
    "deterministic-back": {
      withDeterministicOperations(seed: 1) { backend in
        backend.advance(by: .seconds(2))
        backend.run(until: .init(offset: .seconds(1)))
      }
    },
    "deterministic-negative": { withDeterministicOperations(seed: 1) { $0.work(for: .seconds(-1)) } },
    "deterministic-no-workers": { _ = DeterministicBackend(workers: 0, seed: 1) },
    "deterministic-late-job": {
      let backend = DeterministicBackend(seed: 1)
      backend.shutdown()
      backend.submit(Job {})
    },
    "deterministic-late-timer": {
      let backend = DeterministicBackend(seed: 1)
      backend.shutdown()
      backend.after(.seconds(1)) {}
    },
    "deterministic-silent": { silent() },
    "deterministic-standstill": { standstill() },
  ]

  private static func forSeeds(_ body: (DeterministicBackend) -> Void) {
    do { try forEachSeed(0..<2_000, body) } catch {
      print("\(error)")
      exit(1)
    }
  }

  /// The last of six operations goes first: one order in some hundreds.
  private static func crash(_ backend: DeterministicBackend) {
    let log = EventLog<Int>()
    let queue = OperationQueue()
    for number in 0..<6 {
      queue.addOperation {
        log.append(number)
        if log.events == [5, 4] { fatalError("the culprit's last words") }
      }
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  private static func inJob(_ body: @escaping @Sendable (DeterministicBackend) -> Void) {
    withDeterministicOperations(seed: 1) { backend in
      OperationQueue().addOperations([BlockOperation { body(backend) }], waitUntilFinished: true)
    }
  }

  /// A body that waits with a semaphore of its own for another body of the one worker.
  private static func silent() {
    withDeterministicOperations(seed: 1, workers: 1) { _ in
      let gate = Gate()
      let queue = OperationQueue()
      queue.addOperation { gate.pass() }
      queue.addOperation { gate.open() }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// The clock stands still, and only its owner could move it.
  private static func standstill() {
    withDeterministicOperations(seed: 1, advancesByItself: false) { backend in
      let operation = AsynchronousOperation { operation in backend.after(.seconds(9)) { operation.finish() } }
      let queue = OperationQueue()
      queue.addOperation(operation)
      startThread {
        sleep(7)
        backend.advance(by: .seconds(9))
      }
      operation.waitUntilFinished()
    }
  }
}
