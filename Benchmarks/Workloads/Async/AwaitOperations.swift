import HarnessMeasuring
import HarnessWords
import Subjects

/// Asynchronous bodies that are added and awaited, in the form that users of the subject write: operations of a queue,
/// or children of a task group.
struct AwaitOperations: Workload {
  let name = BenchmarkName("async", "operations")
  let summary = "a task adds operations with empty asynchronous bodies and awaits them"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.tasks

  func extendedParameterSets() -> [Parameters] { [["ops": "1000"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    return .task(of: operations, flags, on: subject, executor: subject.taskExecutor) {
      await subject.runTasks(operations, limit: nil) { flags.slot($0).mark() }
    }
  }
}
