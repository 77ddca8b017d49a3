/// Work that takes a known time and touches no memory: a dependent chain of multiplications, counted in rounds.
///
/// The rate is calibrated once per run and handed to every process, so that all subjects do the same work. A loop that
/// ends by the clock would do less work whenever its thread is preempted.
public struct Spin: Sendable, Codable, Hashable {
  package let roundsPerMicrosecond: Double

  package init(roundsPerMicrosecond: Double) { self.roundsPerMicrosecond = roundsPerMicrosecond }

  package static func calibrated() -> Spin { Spin(roundsPerMicrosecond: roundsPerMicrosecond(run)) }

  /// The rate of the fastest of many short stretches: the rate of this CPU when nothing disturbs the CPU.
  static func roundsPerMicrosecond(_ run: (_ rounds: Int) -> Void) -> Double {
    let rounds = 100_000
    var best = UInt64.max
    for _ in 0..<100 {
      let start = Clock.now()
      run(rounds)
      best = min(best, Clock.now() - start)
    }
    return Double(rounds) * 1_000 / Double(max(best, 1))
  }

  package func rounds(nanoseconds: Double) -> Int { Int((nanoseconds * roundsPerMicrosecond / 1_000).rounded()) }

  public static func run(rounds: Int) {
    var state = opaque(0x9e37_79b9_7f4a_7c15)
    var left = rounds
    // In a debug build an iterator would take longer than the work.
    while left > 0 {
      state = (state ^ (state >> 29)) &* 0xbf58_476d_1ce4_e5b9
      left -= 1
    }
    _ = opaque(state)
  }

  /// The attribute hides from the optimiser what the function returns and whether the result is used. Without the
  /// attribute, the optimiser would compute the loop once or not at all.
  @inline(never)
  @_optimize(none)
  private static func opaque(_ value: UInt64) -> UInt64 { value }
}
