/// How many repeats fill the time of a value: the decision after each attempt. The clock is not part of the decision.
package enum Calibration {
  package enum Step: Hashable, Sendable {
    case enough(Int)
    case tryAgain(Int)
  }

  /// The repeats grow at most tenfold per attempt, because the first attempts are cold. The growth stops at `limit`,
  /// the answer of a slower subject.
  package static func step(repeats: Int, took: UInt64, target: UInt64, limit: Int) -> Step {
    let perRepeat = Double(max(took, 1)) / Double(repeats)
    // A loop that takes no time at all would need more repeats than there are numbers.
    let needed = Int(min(max(1, (Double(target) / perRepeat).rounded(.up)), 1e15))
    if took >= target { return .enough(min(needed, limit)) }
    if repeats >= limit { return .enough(limit) }
    return .tryAgain(min(max(needed, repeats + 1), repeats * 10, limit))
  }
}
