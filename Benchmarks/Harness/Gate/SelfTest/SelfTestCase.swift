/// A case of the gate's self-test, and the answer that the gate must give.
package enum SelfTestCase: String, Codable, CaseIterable, Sendable {
  /// The base against itself.
  case equal
  /// The head is a fifth slower in adding operations.
  case slower
  /// The head makes one more allocation per operation.
  case allocation
  /// Both sides are fast or slow by chance, process by process.
  case noise

  package var expected: GateVerdict {
    switch self {
    case .equal: .pass
    case .slower, .allocation: .regression
    case .noise: .inconclusive
    }
  }

  /// The slowdown of the case `slower`: the smallest slowdown that must be caught.
  package static let slowdown = 0.2
  /// The most time that `noise` adds, as a multiple of the time of an operation. With the most blocks an interval would
  /// still be wider than the threshold.
  package static let noiseShare = 4.0

  package var words: String {
    switch self {
    case .equal: "base against base"
    case .slower: "adding made 20 % slower"
    case .allocation: "one more allocation"
    case .noise: "noise on both sides"
    }
  }

  package enum Outcome: Sendable {
    case right
    /// The machine let the gate decide nothing, and the gate said nothing wrong.
    case undecided
    case wrong
  }

  package func outcome(_ verdict: GateVerdict) -> Outcome {
    if verdict == expected { return .right }
    return verdict == .inconclusive ? .undecided : .wrong
  }
}
