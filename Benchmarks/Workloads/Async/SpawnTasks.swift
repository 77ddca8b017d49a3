import HarnessMeasuring
import HarnessWords
import Subjects

/// Tasks that do nothing, and the wait for them. `form=task` is an unstructured task for each, awaited one after the
/// other; `form=group` is a child of one task group for each.
struct SpawnTasks: Workload {
  let name = BenchmarkName("async", "spawn")
  let summary = "a task spawns empty tasks on its executor and awaits them"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.tasks

  func extendedParameterSets() -> [Parameters] {
    [["form": "task", "ops": "1000"], ["form": "group", "ops": "20000"]]
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let executor = subject.taskExecutor
    let flags = RunFlags(count: operations)
    let round: @Sendable () async -> Void
    switch setting.parameters["form"] {
    case "task":
      round = {
        let tasks = (0..<operations).map { index in Task(executorPreference: executor) { flags.slot(index).mark() } }
        for task in tasks { await task.value }
      }
    case "group":
      round = {
        await withTaskGroup(of: Void.self) { group in
          for index in 0..<operations { group.addTask { flags.slot(index).mark() } }
          await group.waitForAll()
        }
      }
    default: throw Complaint(.usage, "form is task or group, not as in '\(setting.parameters)'")
    }
    return .task(of: operations, flags, on: subject, executor: executor, round)
  }
}
