import HarnessMeasuring
import HarnessWords
import Subjects

/// `start()` on the caller's thread, of operations that are in no queue.
///
/// Timed: creating, starting (with the body inside), and releasing each operation. Nothing else runs, so the time is
/// the cost of an operation without a scheduler.
struct ManualStart: Workload {
  let name = BenchmarkName("overhead", "manual-start")
  let summary = "starts operations on the calling thread, without a queue"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.operations

  func parameterSets() -> [Parameters] { [["ops": "1000"]] }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let flags = RunFlags(count: operations)
    return Trial(operationsPerRepeat: operations) { repeats in
      var elapsed = Elapsed()
      var isFinished = true
      for _ in 0..<repeats {
        let start = Counters.read()
        for index in 0..<operations {
          let flag = flags.slot(index)
          let item = S.makeOperation { flag.mark() }
          S.start(item)
          if !S.isFinished(item) { isFinished = false }
        }
        elapsed.add(since: start)
        try flags.check()
        guard isFinished else { throw CheckFailed("start() returned before the operation was finished") }
      }
      return Value(elapsed.readings(operations: operations * repeats))
    }
  }
}
