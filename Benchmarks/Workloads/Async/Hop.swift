import HarnessMeasuring
import HarnessWords
import Subjects

/// A task on Swift's default executor goes to the subject for one step, and comes back.
struct Hop: Workload {
  let name = BenchmarkName("async", "hop")
  let summary = "a task of the default executor goes to the subject for one step and comes back"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.tasks

  func extendedParameterSets() -> [Parameters] { [["ops": "1000"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let hops = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    // A task without a preference that prefers the default executor for a step goes there as it would go anywhere else.
    let there = subject.taskExecutor ?? globalConcurrentExecutor
    let flags = RunFlags(count: hops)
    return .task(of: hops, flags, on: subject, executor: nil) {
      for index in 0..<hops { await withTaskExecutorPreference(there) { flags.slot(index).mark() } }
    }
  }
}
