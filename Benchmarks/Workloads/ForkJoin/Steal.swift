import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// From just before a fork is made until another thread runs its body, while the other threads look for work.
///
/// A thread of the subject makes one fork after the other. Its own body of each pair computes until the fork has begun,
/// so the fork runs on another thread. A fork that nobody takes within `patience` runs on the thread that made it. Its
/// latency is then at least that long: the sample counts, and the percentile shows it.
struct Steal: Workload {
  let name = BenchmarkName("forkjoin", "steal")
  let summary = "from making a fork until another thread, which looks for work, runs its body"
  let metrics = SampleSeries.metrics("latency")
  let needs = Abilities.forks.union(.threads)
  let repeats = RepeatPolicy.samples(SampleSeries.samplesForP99, seconds: 0.05)

  func extendedParameterSets() -> [Parameters] { [["samples": "\(SampleSeries.samplesForP99)"]] }
  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    let samples = parameters.integer("samples") ?? SampleSeries.samplesForP99
    return .samples(samples, seconds: Double(samples) * 5e-6)
  }

  /// How long a fork waits for another thread, in nanoseconds.
  static let patience: UInt64 = 1_000_000

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    return Trial(operationsPerRepeat: 1) { repeats in
      let samples = LatencySamples(count: repeats)
      let begun = Begun()
      subject.submit {
        for index in 0..<repeats {
          let start = Clock.now()
          _ = S.fork(
            {
              while begun.count.load(ordering: .acquiring) <= index, Clock.now() - start < Self.patience {}
              return 0
            },
            {
              samples.begin(index, intended: start)
              begun.count.store(index + 1, ordering: .releasing)
              return 0
            })
        }
      }
      subject.drain()
      try checkEmpty(subject.unfinished ?? 0)
      return Value(samples: [try samples.series()])
    }
  }

  /// How many forks have begun.
  private final class Begun: Sendable {
    let count = Atomic<Int>(0)
  }
}
