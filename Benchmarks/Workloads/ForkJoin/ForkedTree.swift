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

  /// The calling thread is outside of the subject.
  func solve() -> Int { solve(tree.root) }

  private func solve(_ node: Tree.Node) -> Int {
    let (subject, tree) = (subject, tree)
    return Self.sum(tree, node) { siblings in
      guard let (first, second) = siblings.halves else { return solve(siblings.nodes[0]) }
      let (left, right) = subject.forkFromOutside({ Self.sum(tree, first) }, { Self.sum(tree, second) })
      return left &+ right
    }
  }

  /// Children side by side.
  ///
  /// Sendable: `sum` of their parent has written the nodes before the first fork, nobody writes the nodes after that, and
  /// the parent's frame stays until all have joined.
  private struct Siblings: @unchecked Sendable {
    let nodes: UnsafeBufferPointer<Tree.Node>

    /// Nil for an only child.
    var halves: (Siblings, Siblings)? {
      let middle = nodes.count / 2
      return middle == 0 ? nil : (part(0..<middle), part(middle..<nodes.count))
    }

    private func part(_ range: Range<Int>) -> Siblings { Siblings(nodes: UnsafeBufferPointer(rebasing: nodes[range])) }
  }

  /// The calling thread works for the subject.
  static func sum(_ tree: Tree, _ node: Tree.Node) -> Int { sum(tree, node) { sum(tree, $0) } }

  private static func sum(_ tree: Tree, _ siblings: Siblings) -> Int {
    guard let (first, second) = siblings.halves else { return sum(tree, siblings.nodes[0]) }
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
      return value &+ ofChildren(Siblings(nodes: UnsafeBufferPointer(room)))
    }
  }
}
