import HarnessMeasuring
import HarnessWords
import Subjects

/// Operations from outside while the workers have work. The latency is the time from the intended start until the body
/// begins.
///
/// Twice as many operations as workers spin and add themselves again, so that there is always something to run. The
/// probes come in an open loop, `interval_us` apart on average, at random times from the seed, and no probe waits for
/// the probe before. Between probes, the adding thread sleeps, because the workers keep all CPUs. The kernel's delay in
/// waking the adding thread is part of the number, for every subject alike.
struct WakeBusy: Workload {
  let name = BenchmarkName("latency", "wake-busy")
  let summary = "from the intended start of an operation while the workers are busy until its body begins"
  let metrics = SampleSeries.metrics("latency")
  let needs = Abilities.threads
  let repeats = RepeatPolicy.samples(1_000, seconds: 0.6)

  func parameterSets() -> [Parameters] { [parameters(samples: 1_000)] }
  func extendedParameterSets() -> [Parameters] { [parameters(samples: SampleSeries.samplesForP99)] }
  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    let samples = parameters.integer("samples") ?? 1_000
    return .samples(samples, seconds: Double(samples) * 600e-6)
  }

  private func parameters(samples: Int) -> Parameters {
    ["samples": "\(samples)", "interval_us": "300", "work_ns": "5000"]
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    Pacer.sharpen()
    let subject = S(workers: setting.workers)
    let interval = try setting.number("interval_us") * 1_000
    let rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    var values: UInt64 = 0
    return Trial(operationsPerRepeat: 1) { repeats in
      values += 1
      let schedule = ArrivalSchedule(
        count: repeats, interval: interval, spacing: .exponential, seed: setting.seed &+ values)
      let samples = LatencySamples(count: repeats)
      let load = BackgroundLoad(subject, chains: 2 * setting.workers, rounds: rounds)
      load.start()
      let begin = Clock.now()
      for (index, offset) in schedule.offsets.enumerated() {
        let intended = begin + offset
        Pacer.sleep(until: intended)
        subject.submit { samples.begin(index, intended: intended) }
      }
      let links = load.stop()
      subject.drain()
      guard links > 0 else { throw CheckFailed("the workers had nothing to do") }
      return Value(samples: [try samples.series()])
    }
  }
}
