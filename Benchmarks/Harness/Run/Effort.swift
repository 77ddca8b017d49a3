/// How much is measured: the same for every cell.
package struct Effort: Hashable, Sendable, Codable, CustomStringConvertible {
  package var blocks: Int
  package var values: Int
  package var warmups: Int
  /// What a value takes on the slowest subject, in nanoseconds.
  package var target: UInt64

  package init(blocks: Int, values: Int, warmups: Int, target: UInt64) {
    self.blocks = blocks
    self.values = values
    self.warmups = warmups
    self.target = target
  }

  /// How often allocations are counted: they hardly vary.
  package var countedValues: Int { max(1, values / 2) }

  package var description: String {
    "\(blocks) blocks of \(warmups) + \(values) values of \(target / 1_000_000) ms"
  }

  /// What a default run may take, in seconds, by the estimate: for one backend beside the two references, and for
  /// more in proportion. The promises are ten minutes and two; the rest is for machines slower than usual.
  package static let fullBudget = 380.0
  package static let quickBudget = 110.0

  /// Ten blocks are the least on which to decide anything.
  package static let full = Effort(blocks: 10, values: 5, warmups: 2, target: 50_000_000)
  /// A look at everything, without intervals: they need six blocks.
  package static let quick = Effort(blocks: 2, values: 2, warmups: 1, target: 20_000_000)
}
