import HarnessMeasuring
import HarnessWords
import Subjects

/// One operation after all workers have gone to sleep. The latency is the time from just before the operation is added
/// until its body begins.
///
/// Before each sample, the benchmark asks the kernel until no thread of the subject runs. The latency measures waking:
/// the library's decision to wake a thread, the system call, and the time until the kernel puts the thread on a CPU.
struct WakeIdle: Workload {
  let name = BenchmarkName("latency", "wake-idle")
  let summary = "from adding an operation while all workers sleep until its body begins"
  let metrics = SampleSeries.metrics("latency")
  let needs = Abilities.threads
  let repeats = RepeatPolicy.samples(1_000, seconds: 0.17)

  func parameterSets() -> [Parameters] { [["samples": "1000"]] }
  func extendedParameterSets() -> [Parameters] { [["samples": "\(SampleSeries.samplesForP99)"]] }
  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    let samples = parameters.integer("samples") ?? 1_000
    return .samples(samples, seconds: Double(samples) * 170e-6)
  }

  /// A subject that takes longer to go to sleep is taken never to sleep.
  private static let patience: UInt64 = 2_000_000_000

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let others = Threads.all()
    let subject = S(workers: setting.workers)
    return Trial(operationsPerRepeat: 1) { repeats in
      let samples = LatencySamples(count: repeats)
      for index in 0..<repeats {
        guard Threads.waitUntilAsleep(except: others, nanoseconds: Self.patience) else {
          throw CheckFailed("a thread still runs \(Self.patience / 1_000_000_000) s after the last operation ended")
        }
        let start = Clock.now()
        subject.submit { samples.begin(index, intended: start) }
        subject.drain()
      }
      return Value(samples: [try samples.series()])
    }
  }
}
