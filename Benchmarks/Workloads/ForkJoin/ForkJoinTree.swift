import Subjects

/// A problem that is solved by dividing it: a tree whose nodes each contribute to one sum. The sum is known beforehand.
///
/// A node is a task. When tasks would be too small, a node at the cutoff has no children and contributes the sum of its
/// whole subtree, found by plain recursion.
protocol ForkJoinTree: Sendable {
  associatedtype Node: Sendable, BitwiseCopyable

  var root: Node { get }
  /// The sum over all nodes.
  var expected: Int { get }

  func value(of node: Node) -> Int
  /// The number of children; 0 for a leaf.
  func childCount(of node: Node) -> Int
  /// Calls `body` for each of the `count` children; never for a leaf.
  func forEachChild(of node: Node, count: Int, _ body: (Node) -> Void)
  /// The children of an inner node, in a tree whose inner nodes have two each; nil in other trees.
  func twoChildren(of node: Node) -> (Node, Node)?
  /// The sum over a subtree, with a fork for each child but one. The calling thread works for the subject.
  func forkedSum<S: ClosureSubject>(of node: Node, on subject: S.Type) -> Int
}

extension ForkJoinTree {
  func twoChildren(of node: Node) -> (Node, Node)? { nil }
  func forkedSum<S: ClosureSubject>(of node: Node, on subject: S.Type) -> Int { ForkedTree<S, Self>.sum(self, node) }
}

/// A tree whose inner nodes have two children each: nobody needs memory for a list of children. Such a tree has a
/// `forkedSum` of its own, where the type of a node is known. So closures hold nodes, and not the addresses of nodes.
protocol BinaryTree: ForkJoinTree {
  /// Never called for a leaf.
  func children(of node: Node) -> (Node, Node)
}

extension BinaryTree {
  func twoChildren(of node: Node) -> (Node, Node)? { children(of: node) }

  @inline(__always)
  func forEachChild(of node: Node, count: Int, _ body: (Node) -> Void) {
    let (first, second) = children(of: node)
    body(first)
    body(second)
  }
}

extension ForkJoinTree {
  /// Solves the same tree on one thread, by a plain recursive function without tasks.
  func serial(_ node: Node) -> Int {
    var sum = value(of: node)
    let count = childCount(of: node)
    // As in the programs of the peers, no sum is checked: the compiler may add in any order.
    if count > 0, let (first, second) = twoChildren(of: node) { return sum &+ serial(first) &+ serial(second) }
    if count > 0 { forEachChild(of: node, count: count) { sum &+= serial($0) } }
    return sum
  }

  /// The number of tasks: the nodes that are not below the cutoff.
  func taskCount(_ node: Node) -> Int {
    var tasks = 1
    let count = childCount(of: node)
    if count > 0 { forEachChild(of: node, count: count) { tasks += taskCount($0) } }
    return tasks
  }
}
