import Subjects

/// Solves a tree with forks that join. A task runs one half of its children and forks the other half, down to a single
/// child, as rayon's parallel iterators do with a slice. The frames lie on the stack, and a parent waits for its
/// children.
struct ForkedTree<S: ClosureSubject, Tree: ForkJoinTree>: Sendable {
  let subject: S
  let tree: Tree

  init(_ tree: Tree, subject: S) {
    self.tree = tree
    self.subject = subject
  }

  /// The calling thread is outside of the subject. The optimiser does not see which tree it is, as in the plain
  /// recursion: for a subject without threads it would reuse the last result.
  func solve() -> Int { solve(ForkJoinTrial<Tree>.opaque(tree.root)) }

  private func solve(_ node: Tree.Node) -> Int {
    let (subject, tree) = (subject, tree)
    if tree.childCount(of: node) > 0, let (first, second) = tree.twoChildren(of: node) {
      let (left, right) = subject.forkFromOutside(
        { tree.forkedSum(of: first, on: S.self) }, { tree.forkedSum(of: second, on: S.self) })
      return tree.value(of: node) &+ left &+ right
    }
    return Self.sum(tree, node) { siblings in
      guard let (first, second) = siblings.halves else { return solve(siblings.first.pointee) }
      let (left, right) = subject.forkFromOutside({ Self.sum(tree, first) }, { Self.sum(tree, second) })
      return left &+ right
    }
  }

  /// Children side by side.
  ///
  /// Sendable: `sum` of their parent has written the nodes before the first fork, nobody writes the nodes after that,
  /// and the parent's frame stays until all have joined.
  private struct Siblings: @unchecked Sendable {
    let first: UnsafePointer<Tree.Node>
    let count: Int

    /// Nil for an only child.
    @inline(__always)
    var halves: (Siblings, Siblings)? {
      if count == 1 { return nil }
      let middle = count / 2
      return (Siblings(first: first, count: middle), Siblings(first: first + middle, count: count &- middle))
    }
  }

  /// `forkedSum` of trees that have none of their own.
  static func sum(_ tree: Tree, _ node: Tree.Node) -> Int { sum(tree, node) { sum(tree, $0) } }

  private static func sum(_ tree: Tree, _ siblings: Siblings) -> Int {
    guard let (first, second) = siblings.halves else { return sum(tree, siblings.first.pointee) }
    let (left, right) = S.fork({ sum(tree, first) }, { sum(tree, second) })
    return left &+ right
  }

  @inline(__always)
  private static func sum(_ tree: Tree, _ node: Tree.Node, ofChildren: (Siblings) -> Int) -> Int {
    let value = tree.value(of: node)
    let count = tree.childCount(of: node)
    guard count > 0 else { return value }
    return withUnsafeTemporaryAllocation(of: Tree.Node.self, capacity: count) { room in
      var filled = 0
      tree.forEachChild(of: node, count: count) { child in
        room.initializeElement(at: filled, to: child)
        filled += 1
      }
      return value &+ (room.baseAddress.map { ofChildren(Siblings(first: $0, count: count)) } ?? 0)
    }
  }
}
