@testable import OperationCore

extension StateWord {
  /// Every flag that some transition reads or writes.
  static let flags: [UInt64] = [
    enqueued, listed, scheduled, linked, cancelled, started, skipped, finished, tracked, moved, asksReady, heldBack,
    examinePending,
  ]

  /// Every combination of those with 0, 1 or 2 unfinished dependencies: also words that never come up, since the
  /// transitions are defined for all of them.
  static let all: [StateWord] = (0..<UInt64(1) << UInt64(flags.count)).flatMap { choice in
    let chosen = flags.enumerated().reduce(UInt64(0)) { $0 | (choice >> UInt64($1.offset) & 1 == 1 ? $1.element : 0) }
    return (0...2).map { StateWord(bits: chosen | $0 * oneDependency) }
  }

  /// - Parameter count: unfinished dependencies.
  init(_ flags: UInt64..., count: UInt64 = 0) {
    self.init(bits: flags.reduce(0, |) | count * Self.oneDependency)
  }

  func adding(_ flags: UInt64) -> StateWord { StateWord(bits: bits | flags) }
  func removing(_ flags: UInt64) -> StateWord { StateWord(bits: bits & ~flags) }
}
