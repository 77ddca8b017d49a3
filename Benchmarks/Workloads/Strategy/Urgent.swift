import HarnessMeasuring
import HarnessWords
import Subjects

/// Urgent operations from outside behind a backlog. The latency is the time from just before an urgent operation is
/// made and added until its body begins.
///
/// The backlog is one batch from outside, of levels normal and low in turn. Then come the urgent operations, of the
/// highest level, at fixed distances. No urgent operation waits for the one before. The backlog lasts several times as
/// long as the urgent operations take to come, so each of them finds operations that were added earlier. Between two
/// urgent operations the adding thread sleeps, because the workers keep all CPUs. How late the kernel wakes that thread
/// is not part of the latency.
struct Urgent: Workload {
  let name = BenchmarkName("strategy", "urgent")
  let summary = "urgent operations from outside behind a backlog, from adding until the body begins"
  let metrics = SampleSeries.metrics("latency")
  let needs = Abilities.operations
  /// Backlogs, each with its urgent operations.
  let repeats = RepeatPolicy.samples(30, seconds: 0.5)

  func extendedParameterSets() -> [Parameters] {
    [["backlog": "1000", "work_ns": "5000", "urgent": "10", "interval_us": "50"]]
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    Pacer.sharpen()
    let backlog = try setting.integer("backlog")
    let urgent = try setting.integer("urgent")
    let interval = UInt64(try setting.number("interval_us") * 1_000)
    let rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    let subject = S(workers: setting.workers)
    let flags = RunFlags(count: backlog)
    return Trial(operationsPerRepeat: backlog + urgent) { repeats in
      let samples = LatencySamples(count: urgent * repeats)
      for number in 0..<repeats {
        let items = (0..<backlog).map { index in
          let flag = flags.slot(index)
          let item = S.makeOperation {
            Spin.run(rounds: rounds)
            flag.mark()
          }
          S.setPriority(index.isMultiple(of: 2) ? .normal : .low, of: item)
          return item
        }
        subject.add(contentsOf: items)
        let begin = Clock.now()
        for index in 0..<urgent {
          Pacer.sleep(until: begin + UInt64(index + 1) * interval)
          let request = number * urgent + index
          let start = Clock.now()
          let item = S.makeOperation { samples.begin(request, intended: start) }
          S.setPriority(.veryHigh, of: item)
          subject.add(item)
        }
        subject.drain()
        try flags.check()
        try checkEmpty(subject.remaining)
      }
      return Value(samples: [try samples.series()])
    }
  }
}
