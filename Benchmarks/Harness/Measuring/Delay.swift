import CMeasure

/// A short time that is spent in full: no other work of the CPU overlaps with it. So an operation with a delay in front
/// takes longer by the delay, also where the delay is some nanoseconds. (`Spin` is for work that a CPU may reorder.)
public enum Delay {
  /// Counts down: a round takes about one cycle. No round is a delay too: the two fences alone.
  public static func run(rounds: Int) { opbench_delay(rounds) }

  /// The number of rounds in a microsecond.
  package static func roundsPerMicrosecond() -> Double { Spin.roundsPerMicrosecond { run(rounds: $0) } }
}
