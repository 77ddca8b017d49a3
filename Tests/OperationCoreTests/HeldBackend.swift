import OperationCore
import OperationJobs
import TestSupport

/// Keeps jobs until a test runs them, on the test's own thread: every interleaving of whole jobs can be written down.
final class HeldBackend: Backend {
  let name = "held"
  let workerCount = 2
  private let jobs = Monitor<[Job]>([])
  private let together = Monitor<[Int]>([])

  func submit(_ job: Job) {
    jobs.with { $0.append(job) }
    together.with { $0.append(1) }
  }

  func submit(contentsOf list: consuming JobList) {
    var list = list
    together.with { $0.append(list.count) }
    while let job = list.popFirst() { jobs.with { $0.append(job) } }
  }

  /// How many jobs each submission had.
  var submissions: [Int] { together.value }

  var count: Int { jobs.with { $0.count } }
  var words: [UInt] { jobs.with { $0.map(\.word) } }
  var priorities: [Operation.QueuePriority] { jobs.with { $0.map(\.priority) } }

  /// Runs the job at a place, by default the oldest.
  /// - Returns: the job that it handed to its thread, which is held first in line now.
  @discardableResult
  func run(at place: Int = 0) -> Job? {
    let job = jobs.with { $0.remove(at: place) }
    guard let next = job.run() else { return nil }
    jobs.with { $0.insert(next, at: 0) }
    return next
  }

  /// Runs what is held and what that adds.
  func runAll() {
    while count > 0 { run() }
  }
}
