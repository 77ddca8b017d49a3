import HarnessMeasuring
import HarnessWords
import Subjects

/// The cost of a queue that is almost idle: one operation every `period_ms`, and the share of one CPU that all threads
/// of the process use together.
///
/// The adding thread sleeps between operations, and its own wake-ups are part of the number, for every subject alike.
struct IdleCPU: Workload {
  let name = BenchmarkName("idle", "cpu")
  let summary = "the CPU share of a process that adds one operation every few milliseconds"
  let metrics = [Metric.idleCPUPercent, .voluntarySwitchesPerOp]
  let repeats = RepeatPolicy.samples(50, seconds: 0.9)

  func parameterSets() -> [Parameters] { [["ops": "50", "period_ms": "10"]] }
  func extendedParameterSets() -> [Parameters] { [["ops": "500", "period_ms": "10"]] }
  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    let operations = parameters.integer("ops") ?? 50
    return .samples(operations, seconds: Double(operations) * (parameters.number("period_ms") ?? 10) / 1_000)
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let period = UInt64(try setting.number("period_ms") * 1_000_000)
    let subject = S(workers: setting.workers)
    return Trial(operationsPerRepeat: 1) { operations in
      let flags = RunFlags(count: operations)
      defer { flags.deallocate() }
      var elapsed = Elapsed()
      let start = Counters.read()
      for index in 0..<operations {
        let flag = flags.slot(index)
        subject.submit { flag.mark() }
        Pacer.sleep(until: start.wall + UInt64(index + 1) * period)
      }
      subject.drain()
      elapsed.add(since: start)
      try flags.check()
      let percent = 100 * Double(elapsed.cpu) / Double(elapsed.wall)
      return Value(
        [Reading(.idleCPUPercent, percent, count: operations)]
          + elapsed.readings(operations: operations).filter { $0.metric == .voluntarySwitchesPerOp })
    }
  }
}
