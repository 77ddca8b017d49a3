import Dispatch
import Harness
import Subjects

/// One operation adds the others from inside, to the queue it runs on.
///
/// Timed: from adding that operation until all the others have run. The thread outside sleeps meanwhile; it waits for
/// the adding operation to return before it drains, since a barrier of Dispatch covers only what was submitted before
/// it.
struct LocalAdd: Workload {
  let name = BenchmarkName("overhead", "local-add")
  let summary = "one operation adds empty operations to its own queue"
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
    let added = DispatchSemaphore(value: 0)
    return Trial(operationsPerRepeat: operations) { repeats in
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        let start = Counters.read()
        subject.submit {
          for index in 0..<operations {
            let flag = flags.slot(index)
            subject.submit { flag.mark() }
          }
          added.signal()
        }
        added.wait()
        subject.drain()
        elapsed.add(since: start)
        try flags.check()
        try check(subject)
      }
      return Value(elapsed.readings(operations: operations * repeats))
    }
  }
}
