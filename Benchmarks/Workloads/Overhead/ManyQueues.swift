import HarnessMeasuring
import HarnessWords
import Subjects

/// One thread outside adds operations to several queues in turn, all on the same threads, and waits for each queue.
///
/// Timed: adding, running and releasing each operation, and the waits. The number of operations does not depend on the
/// number of queues.
struct ManyQueues: Workload {
  let name = BenchmarkName("overhead", "many-queues")
  let summary = "one outside thread adds empty operations to several queues in turn"
  let metrics = Metric.cost + Metric.allocation
  let needs = Abilities.queues

  func parameterSets() -> [Parameters] { [["ops": "10000", "queues": "100"]] }
  func extendedParameterSets() -> [Parameters] { ["1", "10", "1000", "10000"].map { ["ops": "10000", "queues": $0] } }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let queues = S.queues(max(1, try setting.integer("queues")), workers: setting.workers)
    let flags = RunFlags(count: operations)
    return Trial(operationsPerRepeat: operations) { repeats in
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        let start = Counters.read()
        for index in 0..<operations {
          let flag = flags.slot(index)
          queues[index % queues.count].submit { flag.mark() }
        }
        for queue in queues { queue.drain() }
        elapsed.add(since: start)
        try flags.check()
        for queue in queues { try checkEmpty(queue.remaining) }
      }
      return Value(elapsed.readings(operations: operations * repeats))
    }
  }
}
