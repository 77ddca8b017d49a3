import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects

/// As `external-add`, with operations of all five priorities, mixed by the seed.
struct WithPriority: Workload {
  let name = BenchmarkName("overhead", "with-priority")
  let summary = "one outside thread adds empty operations of mixed priorities"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] { [["ops": "10000"]] }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    var random = SeededGenerator(seed: setting.seed, purpose: "with-priority")
    let levels = (0..<operations).map { _ in PriorityLevel.allCases.randomElement(using: &random)! }
    return .rounds(of: operations, flags, on: subject) {
      for index in 0..<operations {
        let flag = flags.slot(index)
        let item = S.makeOperation { flag.mark() }
        S.setPriority(levels[index], of: item)
        subject.add(item)
      }
    }
  }
}
