import Operations

/// A seeded tree of joins whose result plain recursion knows: values, and errors that some nodes throw and others
/// catch. Some nodes bind a task-local name, around their joins or inside of a body.
public struct ForkTree: Sendable {
  /// What a leaf throws.
  public struct Failure: Error, Equatable, Sendable { public let leaf: UInt64 }

  /// The name that was bound last around the present body; 0 for none.
  @TaskLocal public static var name: UInt64 = 0

  /// The name that a body of a node saw.
  public struct Sight: Hashable, Sendable {
    public let node: UInt64
    public let name: UInt64
    public init(node: UInt64, name: UInt64) { (self.node, self.name) = (node, name) }
  }

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
  private var bindsAround: Bool { (seed >> 21) & 0x3 == 0 }
  private var bindsInside: Bool { (seed >> 23) & 0x7 == 0 }

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

  /// The name that the body of each node must see, by node.
  /// - Parameter name: what is bound around the tree.
  public func names(around name: UInt64) -> [UInt64: UInt64] {
    var names: [UInt64: UInt64] = [:]
    collectNames(name, &names)
    return names
  }

  private func collectNames(_ outer: UInt64, _ names: inout [UInt64: UInt64]) {
    names[seed] = outer
    if isLeaf { return }
    let name = bindsInside || bindsAround ? seed : outer
    for branch in [1, 2] as [UInt64] { ForkTree(below: self, branch: branch).collectNames(name, &names) }
  }

  /// The result of joins.
  /// - Parameters:
  ///   - backends: some nodes join on these; the others call the free function.
  ///   - seesName: runs at each node, before and behind its join; nil: no node binds a name.
  ///   - atLeaf: runs at each leaf, with a number of the leaf's.
  public func joined(
    on backends: [any Backend] = [], seesName: (@Sendable (Sight) -> Void)? = nil, atLeaf: @Sendable (UInt64) -> Void
  ) throws(Failure) -> UInt64 {
    seesName?(Sight(node: seed, name: Self.name))
    defer { seesName?(Sight(node: seed, name: Self.name)) }
    if isLeaf {
      atLeaf(SeededGenerator.mixed(seed))
      if throwsHere { throw Failure(leaf: seed) }
      return seed
    }
    do throws(Failure) {
      let (left, right) = try namedChildren(on: backends, seesName, atLeaf)
      return combine(left, right)
    } catch {
      if catches { return error.leaf }
      throw error
    }
  }

  private func namedChildren(
    on backends: [any Backend], _ seesName: (@Sendable (Sight) -> Void)?, _ atLeaf: @Sendable (UInt64) -> Void
  ) throws(Failure) -> (UInt64, UInt64) {
    guard seesName != nil, bindsAround else { return try joinChildren(on: backends, seesName, atLeaf) }
    return try Self.$name.withValue(seed) {
      Result { () throws(Failure) in try joinChildren(on: backends, seesName, atLeaf) }
    }.get()
  }

  private func joinChildren(
    on backends: [any Backend], _ seesName: (@Sendable (Sight) -> Void)?, _ atLeaf: @Sendable (UInt64) -> Void
  ) throws(Failure) -> (UInt64, UInt64) {
    let left = ForkTree(below: self, branch: 1)
    let right = ForkTree(below: self, branch: 2)
    // A name that the body of a fork binds itself: whoever runs the body must not keep the name.
    let inside = seesName != nil && bindsInside ? seed : nil
    @Sendable func grow(_ tree: ForkTree) throws(Failure) -> UInt64 {
      guard let inside else { return try tree.joined(on: backends, seesName: seesName, atLeaf: atLeaf) }
      return try Self.$name.withValue(inside) {
        Result { () throws(Failure) in try tree.joined(on: backends, seesName: seesName, atLeaf: atLeaf) }
      }.get()
    }
    guard backendChoice < backends.count else {
      return try join(
        { () throws(Failure) -> UInt64 in try grow(left) }, { () throws(Failure) -> UInt64 in try grow(right) })
    }
    return try backends[backendChoice].run { () throws(Failure) in
      try join(
        { () throws(Failure) -> UInt64 in try grow(left) }, { () throws(Failure) -> UInt64 in try grow(right) })
    }
  }
}

extension SeededGenerator {
  /// The first number of a generator with this seed.
  static func mixed(_ seed: UInt64) -> UInt64 {
    var generator = SeededGenerator(seed: seed)
    return generator.next()
  }
}
