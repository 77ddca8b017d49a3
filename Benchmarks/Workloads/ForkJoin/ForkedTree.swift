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
  func solve() -> Int {
    let (tree, root) = (tree, tree.root)
    return subject.enter { Self.sum(tree, root) }
  }

  /// Children side by side.
  ///
  /// Sendable: `sum` of their parent has written the nodes before the first fork, nobody writes the nodes after that, and
  /// the parent's frame stays until all have joined.
  private struct Siblings: @unchecked Sendable {
    let nodes: UnsafeBufferPointer<Tree.Node>

    func part(_ range: Range<Int>) -> Siblings { Siblings(nodes: UnsafeBufferPointer(rebasing: nodes[range])) }
  }

  /// The calling thread works for the subject.
  static func sum(_ tree: Tree, _ node: Tree.Node) -> Int {
    let value = tree.value(of: node)
    let count = tree.childCount(of: node)
    guard count > 0 else { return value }
    return withUnsafeTemporaryAllocation(of: Tree.Node.self, capacity: count) { room in
      var filled = 0
      tree.forEachChild(of: node, count: count) { child in
        room.initializeElement(at: filled, to: child)
        filled += 1
      }
      return value &+ sum(tree, Siblings(nodes: UnsafeBufferPointer(room)))
    }
  }

  private static func sum(_ tree: Tree, _ siblings: Siblings) -> Int {
    let count = siblings.nodes.count
    guard count > 1 else { return sum(tree, siblings.nodes[0]) }
    let (first, second) = (siblings.part(0..<count / 2), siblings.part(count / 2..<count))
    let (left, right) = S.fork({ sum(tree, first) }, { sum(tree, second) })
    return left &+ right
  }
}
