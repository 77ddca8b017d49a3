import HarnessMeasuring
import HarnessWords
import Subjects

/// A task on Swift's default executor goes to the subject for one step, and comes back.
struct Hop: Workload {
  let name = BenchmarkName("async", "hop")
  let summary = "a task of the default executor goes to the subject for one step and comes back"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.hops

  func extendedParameterSets() -> [Parameters] { [["ops": "1000"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let hops = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: hops)
    return .task(of: hops, flags, on: subject, executor: nil) {
      for index in 0..<hops { await subject.hop { flags.slot(index).mark() } }
    }
  }
}
