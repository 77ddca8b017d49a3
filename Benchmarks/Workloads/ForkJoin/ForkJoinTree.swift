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
}

extension ForkJoinTree {
  /// Solves the same tree on one thread, by a plain recursive function without tasks.
  func serial(_ node: Node) -> Int {
    var sum = value(of: node)
    let count = childCount(of: node)
    if count > 0 { forEachChild(of: node, count: count) { sum += serial($0) } }
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
