import HarnessStatistics

/// One of the parts that a plan is cut into, so that each part can run on a machine of its own.
///
/// The cut follows from the seed alone. Two machines that know the plan know every shard of it.
package struct Shard: Hashable, Sendable, Codable, CustomStringConvertible {
  /// From one.
  package let number: Int
  /// How many shards the plan is cut into.
  package let count: Int

  /// The most shards of a plan. Clusters allow fewer elements of an array.
  package static let most = 100_000

  /// Nil when the number is out of range.
  package init?(number: Int, of count: Int) {
    guard 1...Self.most ~= count, 1...count ~= number else { return nil }
    self.number = number
    self.count = count
  }

  /// Reads a text such as `3/20`.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, let number = Int(parts[0]), let count = Int(parts[1]) else { return nil }
    self.init(number: number, of: count)
  }

  /// Whether the numbers are those of a shard, when they were read from a file.
  package var isPossible: Bool { Shard(number: number, of: count) != nil }

  package var description: String { "\(number)/\(count)" }

  /// The other shards of the same cut, and this one.
  package var all: [Shard] { (1...count).map { Shard(number: $0, of: count)! } }

  /// Which of a number of things this shard has: their indices from zero, in ascending order. Every thing is in one
  /// shard, and the sizes of two shards differ by one at most. The things are shuffled first, so that no shard has all
  /// things that stand at even places. Takes time in proportion to the number of things.
  /// - Parameter purpose: what the things are. Things of another purpose are shuffled otherwise.
  package func share(of things: Int, seed: UInt64, purpose: String) -> [Int] {
    var random = SeededGenerator(seed: seed, purpose: "shards-\(purpose)")
    let order = (0..<things).shuffled(using: &random)
    return order[(number - 1) * things / count..<number * things / count].sorted()
  }
}
