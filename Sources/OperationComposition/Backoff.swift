/// How long to wait before each further attempt.
///
/// ```swift
/// import OperationComposition
///
/// var backoff = Backoff.exponential(factor: 2, initial: .milliseconds(100)).maximum(.seconds(5))
/// print(backoff.nextDuration(), backoff.nextDuration())  // 0.1 seconds 0.2 seconds
/// ```
public protocol BackoffStrategy: Sendable {
  /// The wait before the next attempt. 0 or more.
  mutating func nextDuration() -> Duration
}

/// The usual backoff strategies, in the words of the retry that is proposed for
/// [swift-async-algorithms](https://github.com/apple/swift-async-algorithms/pull/364). O(1) each.
public enum Backoff {
  /// Waits for `duration` each time. Traps when `duration` is negative.
  public static func constant(_ duration: Duration) -> some BackoffStrategy {
    linear(increment: .zero, initial: duration)
  }

  /// Each wait is `increment` longer than the last. Traps when a duration is negative.
  public static func linear(increment: Duration, initial: Duration) -> some BackoffStrategy {
    check(increment, "increment")
    check(initial, "initial")
    let increment = min(increment, .century)
    return Growing(next: initial) { $0 + increment }
  }

  /// Each wait is `factor` times the last. Traps when the factor is below 1, or the duration is negative.
  public static func exponential(factor: Int, initial: Duration) -> some BackoffStrategy {
    check(initial, "initial")
    require(factor >= 1, "the factor of an exponential backoff is 1 or more, not \(factor)")
    return Growing(next: initial) { $0.upToACentury(times: factor) }
  }

  /// Each wait is drawn between `base` and `factor` times the last. Traps when the factor is below 1, or the duration
  /// is negative.
  public static func decorrelatedJitter<Generator: RandomNumberGenerator & Sendable>(
    factor: Int, base: Duration, using generator: Generator = SystemRandomNumberGenerator()
  ) -> some BackoffStrategy {
    check(base, "base")
    require(factor >= 1, "the factor of a decorrelated jitter is 1 or more, not \(factor)")
    let base = min(base, .century)
    return Decorrelated(factor: factor, base: base, last: base, generator: generator)
  }

  fileprivate static func check(_ duration: Duration, _ name: String) {
    require(duration >= .zero, "\(name) of a backoff is 0 or more, not \(duration)")
  }
}

extension BackoffStrategy {
  /// No wait is longer than `duration`.
  public func maximum(_ duration: Duration) -> some BackoffStrategy {
    Backoff.check(duration, "maximum")
    return Mapped(strategy: self) { min($0, duration) }
  }

  /// No wait is shorter than `duration`.
  public func minimum(_ duration: Duration) -> some BackoffStrategy {
    Backoff.check(duration, "minimum")
    return Mapped(strategy: self) { max($0, duration) }
  }

  /// Each wait is drawn between 0 and what it would have been.
  /// - Parameter generator: for example a `SeededGenerator`, so that a test sees the same waits each time.
  public func fullJitter<Generator: RandomNumberGenerator & Sendable>(
    using generator: Generator = SystemRandomNumberGenerator()
  ) -> some BackoffStrategy {
    Drawn(strategy: self, generator: generator) { .zero...$0 }
  }

  /// Each wait is drawn between one half of what it would have been and the whole.
  public func equalJitter<Generator: RandomNumberGenerator & Sendable>(
    using generator: Generator = SystemRandomNumberGenerator()
  ) -> some BackoffStrategy {
    Drawn(strategy: self, generator: generator) { $0 / 2...$0 }
  }
}

/// A generator of random numbers that gives the same numbers for the same seed: SplitMix64 (Steele, Lea and Flood,
/// 2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// A generator whose numbers follow from the seed.
  public init(seed: UInt64) { state = seed }

  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}

private struct Growing: BackoffStrategy {
  var next: Duration
  let step: @Sendable (Duration) -> Duration

  init(next: Duration, step: @escaping @Sendable (Duration) -> Duration) {
    (self.next, self.step) = (min(next, .century), step)
  }

  mutating func nextDuration() -> Duration {
    defer { next = min(step(next), .century) }
    return next
  }
}

private struct Mapped<Strategy: BackoffStrategy>: BackoffStrategy {
  var strategy: Strategy
  let map: @Sendable (Duration) -> Duration

  mutating func nextDuration() -> Duration { map(strategy.nextDuration()) }
}

private struct Drawn<Strategy: BackoffStrategy, Generator: RandomNumberGenerator & Sendable>: BackoffStrategy {
  var strategy: Strategy
  var generator: Generator
  let range: @Sendable (Duration) -> ClosedRange<Duration>

  mutating func nextDuration() -> Duration { .random(in: range(strategy.nextDuration()), using: &generator) }
}

private struct Decorrelated<Generator: RandomNumberGenerator & Sendable>: BackoffStrategy {
  let factor: Int
  let base: Duration
  var last: Duration
  var generator: Generator

  mutating func nextDuration() -> Duration {
    last = .random(in: base...max(base, last.upToACentury(times: factor)), using: &generator)
    return last
  }
}

extension Duration {
  /// No wait is longer: clocks count nanoseconds in 64 bits, and those of a few centuries overflow.
  static var century: Duration { .seconds(100 * 365 * 86_400) }

  /// - Parameter factor: 1 or more.
  fileprivate func upToACentury(times factor: Int) -> Duration {
    let (product, overflows) = attoseconds.multipliedReportingOverflow(by: Int128(factor))
    return overflows ? .century : min(Duration(attoseconds: product), .century)
  }

  fileprivate static func random(in range: ClosedRange<Duration>, using generator: inout some RandomNumberGenerator)
    -> Duration
  {
    .init(
      attoseconds: Int128.random(
        in: range.lowerBound.attoseconds...range.upperBound.attoseconds, using: &generator))
  }
}
