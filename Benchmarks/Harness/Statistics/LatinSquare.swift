/// A seeded cyclic Latin square. Over any `size` consecutive blocks that begin at a multiple of `size`, each subject
/// has each place once, so that drift and the effect of a neighbour spread evenly over the subjects.
package struct LatinSquare: Sendable {
  private let size: Int
  private let seed: UInt64

  package init(size: Int, seed: UInt64) {
    self.size = size
    self.seed = seed
  }

  /// The order of the subjects, as indices, in a block.
  package func order(block: Int) -> [Int] {
    guard size > 0 else { return [] }
    var generator = SeededGenerator(seed: seed, purpose: "latin-square-\(block / size)")
    let first = Array(0..<size).shuffled(using: &generator)
    let shift = block % size
    return (0..<size).map { first[($0 + shift) % size] }
  }
}
