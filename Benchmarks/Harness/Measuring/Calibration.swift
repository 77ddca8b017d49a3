/// Finds how many repeats fill a stretch of timed work: what follows from each attempt. The clock is not part of that.
package struct Calibration: Sendable {
  private let target: UInt64
  private let limit: Int
  /// How many repeats the next attempt has.
  package private(set) var repeats = 1
  private var answers: [Int] = []
  /// How long the last repeat before the first attempt took; the largest number afterwards.
  private var led: UInt64

  /// The answer is the median of this number of attempts, because one attempt may be disturbed.
  private static let attempts = 3

  /// - Parameters:
  ///   - target: the nanoseconds to fill.
  ///   - limit: the answer of a slower subject. A larger one is not needed.
  ///   - led: how long the last repeat before the first attempt took.
  package init(target: UInt64, limit: Int, led: UInt64 = .max) {
    (self.target, self.limit, self.led) = (target, limit, led)
  }

  /// Takes the time of an attempt, and gives the answer when the attempt was the last one. The repeats grow at most
  /// tenfold per attempt.
  package mutating func answer(took: UInt64) -> Int? {
    // A single repeat may end the calibration, so it is the shorter one of two: one may be disturbed.
    let took = min(took, led)
    led = .max
    let perRepeat = Double(max(took, 1)) / Double(repeats)
    // A loop that takes no time at all would need more repeats than there are numbers.
    let needed = Int(min(max(1, (Double(target) / perRepeat).rounded(.up)), 1e15))
    guard took >= target else {
      if repeats >= limit { return limit }
      repeats = min(max(needed, repeats + 1), repeats * 10, limit)
      return nil
    }
    // Nothing is closer to the target than one repeat, and a long repeat is not tried again.
    if repeats == 1, took / 2 >= target { return 1 }
    answers.append(min(needed, limit))
    if answers.count == Self.attempts { return answers.sorted()[Self.attempts / 2] }
    repeats = max(answers.last!, (repeats + 1) / 2)
    return nil
  }
}
