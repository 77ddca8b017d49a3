import TestSupport
import Testing

@testable import OperationCore

/// The place of an operation that has finished, in a queue with a limit.
@Suite("Held places")
struct HeldPlaceTests {
  /// Does something whenever it gets a job, on the thread that submits.
  private final class ProbingBackend: Backend {
    let name = "probing"
    let workerCount = 1
    let held = HeldBackend()
    private let probe: @Sendable () -> Void

    init(_ probe: @escaping @Sendable () -> Void) { self.probe = probe }

    func submit(_ job: Job) {
      held.submit(job)
      probe()
    }
  }

  @Test("Nobody gets the place before the dependents that the finish releases are in the controller's lists")
  func dependentsComeFirst() throws {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    queue.maxConcurrentOperationCount = 1
    let log = EventLog<String>()
    let probed = Counter()
    // Runs between the release of the first dependent and that of the second.
    let probing = ProbingBackend {
      probed.increment()
      queue.addOperation { log.append("added meanwhile") }
      _ = try? inTime("another thread that looks for jobs") { backend.runAll() }
    }
    let other = OperationQueue(backend: probing)
    other.maxConcurrentOperationCount = 1
    let first = BlockOperation { log.append("first") }
    let elsewhere = BlockOperation {}
    let urgent = BlockOperation { log.append("urgent") }
    urgent.queuePriority = .veryHigh
    for dependent in [elsewhere, urgent] { dependent.addDependency(first) }
    other.addOperation(elsewhere)
    queue.addOperations([urgent, first], waitUntilFinished: false)
    backend.runAll()
    probing.held.runAll()
    #expect(probed.value == 1 && log.events == ["first", "urgent", "added meanwhile"])
  }
}
