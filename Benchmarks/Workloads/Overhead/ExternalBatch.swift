import HarnessMeasuring
import HarnessWords
import Subjects

/// One thread outside adds operations in batches (`addOperations`), and waits until all have run.
///
/// Timed: creating the operations, adding them `batch` at a time, running and releasing them, and the wait. A subject
/// with closures alone has no such call, and a loop that adds single closures is `external-add`.
struct ExternalBatch: Workload {
  let name = BenchmarkName("overhead", "external-batch")
  let summary = "one outside thread adds empty operations in batches and waits for all"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] { [["ops": "10000", "batch": "1000"]] }
  func extendedParameterSets() -> [Parameters] { ["10", "100", "10000"].map { ["ops": "10000", "batch": $0] } }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let batch = max(1, try setting.integer("batch"))
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    // One array for all batches: an allocation of some KB makes the system's allocator merge all its free blocks.
    var kept: [S.Item] = []
    kept.reserveCapacity(batch)
    return .rounds(of: operations, flags, on: subject) {
      // Local to this function, so that no exclusivity check is made on access.
      var items = exchange(&kept, with: [])
      for first in stride(from: 0, to: operations, by: batch) {
        for index in first..<min(first + batch, operations) {
          let flag = flags.slot(index)
          items.append(S.makeOperation { flag.mark() })
        }
        subject.add(contentsOf: items)
        items.removeAll(keepingCapacity: true)
      }
      kept = items
    }
  }
}
