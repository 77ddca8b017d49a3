import HarnessMeasuring
import Subjects

extension Trial {
  /// The metrics of `besideOneThread`.
  static let metricsBesideOneThread = Metric.cost + [.speedup, .forkOverhead]
  static let headlinesBesideOneThread = [Metric.nsPerOp, .speedup, .forkOverhead]

  /// A trial with the speed-up over one thread. `alone` and `together` each make a result of what `prepare` makes, and
  /// `verify` checks the result. Only `alone` and `together` are timed.
  static func besideOneThread<Input, Output>(
    operations: Int, prepare: @escaping () -> Input, alone: @escaping (Input) -> Output,
    together: @escaping (Input) -> Output, verify: @escaping (Output) throws -> Void
  ) -> Trial {
    func run(_ repeats: Int) throws -> Elapsed {
      var elapsed = Elapsed()
      for _ in 0..<repeats {
        let input = prepare()
        let start = Counters.read()
        let output = together(input)
        elapsed.add(since: start)
        try verify(output)
      }
      return elapsed
    }
    /// How long one thread takes, in nanoseconds: the mean over two milliseconds, because the time of the run is a mean
    /// too.
    func timeAlone() throws -> Double {
      var runs = 0
      var took: UInt64 = 0
      while took < 2_000_000 {
        let input = prepare()
        let start = Clock.now()
        let output = alone(input)
        took += max(1, Clock.now() - start)
        try verify(output)
        runs += 1
      }
      return Double(took) / Double(runs)
    }
    return Trial(operationsPerRepeat: operations) { repeats in
      // One thread is measured before and after, because the speed of a machine drifts, and the ratio should be of
      // times close to each other.
      let before = try timeAlone()
      // The subject's threads have slept meanwhile. A single repeat takes so long that this does not matter.
      if repeats > 1 { _ = try run(1) }
      let elapsed = try run(repeats)
      let alone = (before + (try timeAlone())) / 2
      let speedup = Reading(.speedup, alone * Double(repeats) / Double(elapsed.wall), count: repeats)
      return Value(elapsed.readings(operations: operations * repeats) + [speedup])
    }
  }
}
