import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// The time from the call of `cancel()` until a running body sees the flag. The body polls without pause, so the time
/// is the library's share: what `cancel()` does before it sets the flag, and what reading the flag costs.
struct ObserveRunning: Workload {
  let name = BenchmarkName("cancellation", "observe-running")
  let summary = "from cancel() until a running body sees it"
  let metrics = SampleSeries.metrics("latency")
  let needs = Abilities.cancellation
  let repeats = RepeatPolicy.samples(SampleSeries.samplesForP99, seconds: 0.35)

  func parameterSets() -> [Parameters] { [[:]] }

  func prepare<S: CancellableSubject>(cancellable type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    let mark = Sighting()
    return Trial(operationsPerRepeat: 1) { repeats in
      var samples: [UInt64] = []
      samples.reserveCapacity(repeats)
      for _ in 0..<repeats {
        mark.reset()
        let work = subject.submitCancellable { work in
          mark.began.store(true, ordering: .releasing)
          while !S.isCancelled(work) {}
          mark.seen.store(Clock.now(), ordering: .releasing)
        }
        while !mark.began.load(ordering: .acquiring) {}
        let called = Clock.now()
        S.cancel(work)
        subject.drain()
        let seen = mark.seen.load(ordering: .acquiring)
        guard seen > 0 else { throw CheckFailed("a running body that was cancelled did not run to its end") }
        samples.append(seen > called ? seen - called : 0)
      }
      return Value(samples: [SampleSeries("latency", nanoseconds: samples)])
    }
  }
}

/// The signals of the running body to the thread that cancels the body.
private final class Sighting: Sendable {
  let began = Atomic<Bool>(false)
  let seen = Atomic<UInt64>(0)

  func reset() {
    began.store(false, ordering: .relaxed)
    seen.store(0, ordering: .relaxed)
  }
}
