import Harness
import Subjects

/// One thread outside adds operations with a next to empty body, and waits until all have run.
///
/// Timed: creating and adding each operation, running it, releasing it, and the wait. Operations are added `ops` at a
/// time, so that the backlog, and with it the memory, is bounded the same way for every subject.
struct ExternalAdd: Workload {
  let name = BenchmarkName("overhead", "external-add")
  let summary = "one outside thread adds empty operations and waits for all"
  let metrics = Metric.cost + Metric.allocation
  let requirement = Capability.closures
  let repeats = RepeatPolicy.calibrated()
  let countsAllocations = true

  func parameterSets() -> [Parameters] { [["ops": "10000"]] }

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    try trial(subject, setting) { _ in }
  }

  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try trial(subject, setting) { try checkEmpty($0.remaining) }
  }

  private func trial<S: ClosureSubject>(
    _ type: S.Type, _ setting: Setting, check: @escaping (S) throws -> Void
  ) throws -> Trial {
    let operations = try setting.integer("ops")
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: operations)
    return Trial(operationsPerRepeat: operations) { repeats in
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        let start = Counters.read()
        for index in 0..<operations {
          let flag = flags.slot(index)
          subject.submit { flag.mark() }
        }
        subject.drain()
        elapsed.add(since: start)
        try flags.check()
        try check(subject)
      }
      return Value(elapsed.readings(operations: operations * repeats))
    }
  }
}
