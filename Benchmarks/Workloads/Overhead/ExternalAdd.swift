import HarnessMeasuring
import HarnessWords
import Subjects

/// One thread outside adds operations with a nearly empty body, and waits until all have run.
///
/// Timed: creating, adding, running and releasing each operation, and the wait. Operations are added `ops` at a time,
/// so that the backlog and its memory have the same bound for every subject. The counting process also adds operations
/// to a suspended subject, if the subject can be suspended. `pending_bytes_per_op` is what each operation holds while
/// it waits.
struct ExternalAdd: Workload {
  let name = BenchmarkName("overhead", "external-add")
  let summary = "one outside thread adds empty operations and waits for all"
  let metrics = Metric.cost + Metric.allocation + [Metric.pendingBytesPerOp]
  let headlines =
    Metric.cost + Metric.allocation + [Metric.pendingBytesPerOp, .threadsCreated, .peakRSS]

  func parameterSets() -> [Parameters] { [["ops": "10000"]] }
  func extendedParameterSets() -> [Parameters] { ["1000", "100000", "1000000"].map { ["ops": $0] } }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let operations = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    let add = {
      subject.addAll { adder in
        for index in 0..<operations {
          let flag = flags.slot(index)
          adder.submit { flag.mark() }
        }
      }
    }
    var trial = Trial.rounds(of: operations, flags, on: subject, add: add)
    if S.abilities.contains(.suspension) {
      trial.pend = { whilePending in
        subject.setSuspended(true)
        add()
        whilePending()
        guard flags.ran == 0 else { throw CheckFailed("\(flags.ran) operations ran though they were suspended") }
        subject.setSuspended(false)
        subject.drain()
        try flags.check()
        return operations
      }
    }
    return trial
  }
}
