import HarnessMeasuring
import HarnessWords
import Subjects

/// Several threads outside add operations at the same time, and one thread waits until all operations have run.
///
/// Timed: from waking the producers until all operations have run. Each producer adds its part of `ops`, so the number
/// of operations does not depend on the number of producers.
struct ContendedAdd: Workload {
  let name = BenchmarkName("overhead", "contended-add")
  let summary = "several outside threads add empty operations at once"
  let metrics = Metric.cost + Metric.allocation

  func parameterSets() -> [Parameters] { [["ops": "10000", "producers": "2"]] }
  func extendedParameterSets() -> [Parameters] { ["1", "4", "8", "16"].map { ["ops": "10000", "producers": $0] } }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let producers = max(1, try setting.integer("producers"))
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    let team = try ThreadTeam(count: producers)
    let produce: @Sendable (Int) -> Void = { producer in
      for index in slice(producer, of: producers, count: operations) {
        let flag = flags.slot(index)
        subject.submit { flag.mark() }
      }
    }
    return .rounds(of: operations, flags, on: subject) { team.run(produce) }
  }
}
