/// What the gate is put to by its self-test, and what it must answer.
package enum SelfTestCase: String, Codable, CaseIterable, Sendable {
  /// The base against itself.
  case equal
  /// A fifth slower, where operations are added.
  case slower
  /// One more allocation per operation.
  case allocation
  /// Both sides fast or slow by luck, process by process.
  case noise

  package var expected: GateVerdict {
    switch self {
    case .equal: .pass
    case .slower, .allocation: .regression
    case .noise: .inconclusive
    }
  }

  /// How much slower `slower` is: the smallest slowdown that must be caught.
  package static let slowdown = 0.2
  /// What `noise` adds at most, as a multiple of what an operation takes.
  package static let noiseShare = 2.0

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
    /// The machine let the gate say nothing; nothing wrong was said.
    case undecided
    case wrong
  }

  package func outcome(_ verdict: GateVerdict) -> Outcome {
    if verdict == expected { return .right }
    return verdict == .inconclusive ? .undecided : .wrong
  }
}
