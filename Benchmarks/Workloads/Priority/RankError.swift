import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects

/// How far starts are from strict priority: see `PriorityReplay`. Operations that other workers are just claiming are
/// part of the number. An exact scheduler on P workers still has errors below P now and then, because an operation is
/// logged by its own first instruction.
struct RankError: Workload {
  let name = BenchmarkName("priority", "rank-error")
  let summary = "higher operations passed over by each start, lower ones started before each"
  let metrics = Metric.distribution("rank_error") + Metric.distribution("delay")
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] { [["ops": "2000", "work_ns": "2000"]] }

  func extendedParameterSets() -> [Parameters] { FairnessVariants.of(parameterSets()) }
  func needs(_ parameters: Parameters) -> Abilities { FairnessVariants.needs(parameters, beside: needs) }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let burst = try PriorityBurst<S>(setting)
    return Trial(operationsPerRepeat: try setting.integer("ops")) { repeats in
      var rankErrors: [Int] = []
      var delays: [Int] = []
      for number in 0..<repeats {
        let replay = PriorityReplay(try burst.run(number).map(\.event))
        rankErrors += replay.rankErrors
        delays += replay.delays
      }
      return Value(readings("rank_error", rankErrors) + readings("delay", delays))
    }
  }

  private func readings(_ prefix: String, _ values: [Int]) -> [Reading] {
    let sorted = values.sorted()
    let mean = Double(sorted.reduce(0, +)) / Double(sorted.count)
    let p99 = Statistics.percentile(0.99, ofSorted: sorted)
    return zip(Metric.distribution(prefix), [mean, Double(p99), Double(sorted[sorted.count - 1])]).map {
      Reading($0, $1, count: sorted.count)
    }
  }
}
