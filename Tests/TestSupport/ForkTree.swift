import Operations

/// A seeded tree of joins whose result plain recursion knows: values, and errors that some nodes throw and others catch.
public struct ForkTree: Sendable {
  /// What a leaf throws.
  public struct Failure: Error, Equatable, Sendable { public let leaf: UInt64 }

  private let seed: UInt64
  private let depth: Int
  private let mayThrow: Bool

  public init(seed: UInt64, depth: Int, mayThrow: Bool) {
    self.seed = SeededGenerator.mixed(seed)
    self.depth = depth
    self.mayThrow = mayThrow
  }

  private init(below tree: ForkTree, branch: UInt64) {
    seed = SeededGenerator.mixed(tree.seed &+ branch)
    depth = tree.depth - 1
    mayThrow = tree.mayThrow
  }

  // A few bits of the seed for each choice.
  private var isLeaf: Bool { depth == 0 || seed & 0xF == 0 }
  private var throwsHere: Bool { mayThrow && (seed >> 4) & 0x3F == 0 }
  private var catches: Bool { (seed >> 10) & 0x7 == 0 }
  private var backendChoice: Int { Int((seed >> 16) & 0x1F) }

  private func combine(_ left: UInt64, _ right: UInt64) -> UInt64 { (left &* 31 &+ right) ^ seed }

  /// The result of plain recursion.
  public func sequentially() -> Result<UInt64, Failure> {
    if isLeaf { return throwsHere ? .failure(Failure(leaf: seed)) : .success(seed) }
    let result: Result<UInt64, Failure>
    switch ForkTree(below: self, branch: 1).sequentially() {
    case .failure(let failure): result = .failure(failure)
    case .success(let left):
      result = ForkTree(below: self, branch: 2).sequentially().map { combine(left, $0) }
    }
    if catches, case .failure(let failure) = result { return .success(failure.leaf) }
    return result
  }

  /// The result of joins.
  /// - Parameters:
  ///   - backends: some nodes join on these; the others call the free function.
  ///   - atLeaf: runs at each leaf, with a number of the leaf's.
  public func joined(on backends: [any Backend] = [], atLeaf: @Sendable (UInt64) -> Void) throws(Failure) -> UInt64 {
    if isLeaf {
      atLeaf(SeededGenerator.mixed(seed))
      if throwsHere { throw Failure(leaf: seed) }
      return seed
    }
    do throws(Failure) {
      let (left, right) = try joinChildren(on: backends, atLeaf: atLeaf)
      return combine(left, right)
    } catch {
      if catches { return error.leaf }
      throw error
    }
  }

  private func joinChildren(
    on backends: [any Backend], atLeaf: @Sendable (UInt64) -> Void
  ) throws(Failure) -> (UInt64, UInt64) {
    let left = ForkTree(below: self, branch: 1)
    let right = ForkTree(below: self, branch: 2)
    guard backendChoice < backends.count else {
      return try join(
        { () throws(Failure) -> UInt64 in try left.joined(on: backends, atLeaf: atLeaf) },
        { () throws(Failure) -> UInt64 in try right.joined(on: backends, atLeaf: atLeaf) })
    }
    return try backends[backendChoice].join(
      { () throws(Failure) -> UInt64 in try left.joined(on: backends, atLeaf: atLeaf) },
      { () throws(Failure) -> UInt64 in try right.joined(on: backends, atLeaf: atLeaf) })
  }
}

extension SeededGenerator {
  /// The first number of a generator with this seed.
  static func mixed(_ seed: UInt64) -> UInt64 {
    var generator = SeededGenerator(seed: seed)
    return generator.next()
  }
}
