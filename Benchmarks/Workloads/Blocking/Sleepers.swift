import HarnessMeasuring
import HarnessWords
import Subjects

/// Bodies that block: all bodies sleep for the same time, in a queue that may run all of them at once.
///
/// `efficiency` is one sleep divided by the makespan: 1 when all bodies sleep at the same time. A subject with a limit
/// gets `maxConcurrentOperationCount = bodies`; the others run as many bodies as they choose. The cost in threads is in
/// `threads_created`.
struct Sleepers: Workload {
  let name = BenchmarkName("blocking", "sleepers")
  let summary = "bodies that block, in a queue that may run all at once"
  let metrics = [Metric.efficiency, .makespan]
  let headlines = [Metric.efficiency, .makespan, .threadsCreated]
  let repeats = RepeatPolicy.calibrated(seconds: 0.3)

  func parameterSets() -> [Parameters] { [["bodies": "16", "sleep_ms": "50"]] }
  func extendedParameterSets() -> [Parameters] {
    [["bodies": "16", "sleep_ms": "10"], ["bodies": "100", "sleep_ms": "100"]]
  }

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    try trial(subject, setting, configure: { _, _ in }, check: { _ in })
  }

  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try trial(subject, setting, configure: { $0.setLimit($1) }, check: { try checkEmpty($0.remaining) })
  }

  private func trial<S: ClosureSubject>(
    _ type: S.Type, _ setting: Setting, configure: (S, Int) -> Void, check: @escaping (S) throws -> Void
  ) throws -> Trial {
    let bodies = try setting.integer("bodies")
    let sleep = UInt64(try setting.number("sleep_ms") * 1_000_000)
    let subject = S(workers: setting.workers)
    configure(subject, bodies)
    let flags = RunFlags(count: bodies)
    return Trial(operationsPerRepeat: bodies) { repeats in
      var makespan: UInt64 = 0
      for _ in 0..<repeats {
        let start = Clock.now()
        for index in 0..<bodies {
          let flag = flags.slot(index)
          subject.submit {
            Pacer.sleep(nanoseconds: sleep)
            flag.mark()
          }
        }
        subject.drain()
        makespan += Clock.now() - start
        try flags.check()
        try check(subject)
      }
      let mean = Double(makespan) / Double(repeats)
      return Value([
        Reading(.efficiency, Double(sleep) / mean, count: bodies * repeats),
        Reading(.makespan, mean, count: repeats),
      ])
    }
  }
}
