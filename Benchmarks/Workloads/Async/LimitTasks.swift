import HarnessMeasuring
import HarnessWords
import Subjects

/// Asynchronous bodies of which at most `max` run at a time, in the form that users of the subject write: a queue with
/// a limit, or a task group as a window. Each body is suspended once.
struct LimitTasks: Workload {
  let name = BenchmarkName("async", "limit")
  let summary = "at most max asynchronous bodies at a time, each of which is suspended once"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.tasks

  func extendedParameterSets() -> [Parameters] { [["ops": "1000", "max": "4"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let limit = max(1, try setting.integer("max"))
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    let gauge = ConcurrencyGauge()
    return .task(of: operations, flags, on: subject, executor: subject.taskExecutor) {
      await subject.runTasks(operations, limit: limit) { index in
        gauge.enter(limit: limit)
        await Task.yield()
        flags.slot(index).mark()
        gauge.leave()
      }
    } verify: {
      try gauge.check(limit: limit)
    }
  }
}
