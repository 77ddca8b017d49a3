import Glibc
import HarnessMeasuring
import HarnessWords
import Subjects

/// The Unbalanced Tree Search benchmark (Olivier et al., LCPC 2006): counts the nodes of a tree. A cryptographic hash
/// defines the shape of the tree, so that the distribution of the work cannot be predicted.
///
/// The tree is T1 of the published samples, cut off at `depth` (T1 itself: 10). A node deeper than `cutoff` belongs to
/// the task of its ancestor at the cutoff.
struct UnbalancedTreeSearch: Workload {
  let name = BenchmarkName("forkjoin", "uts")
  let summary = "Unbalanced Tree Search: the nodes of tree T1, cut off at a depth"
  let metrics = Trial.metricsBesideOneThread
  let headlines = Trial.headlinesBesideOneThread
  let repeats = RepeatPolicy.calibrated(seconds: 0.01)

  func parameterSets() -> [Parameters] {
    [["tree": "T1", "depth": "7", "cutoff": "4", "join": "fork"]]
  }
  func extendedParameterSets() -> [Parameters] {
    [
      ["tree": "T1", "depth": "7", "cutoff": "4", "join": "counter"],
      ["tree": "T1", "depth": "10", "cutoff": "6", "join": "fork"],
      ["tree": "T1", "depth": "10", "cutoff": "6", "join": "counter"],
      ["tree": "T1", "depth": "7", "cutoff": "3", "join": "dependency"],
    ]
  }
  /// The tree of depth 10 has 65 times as many nodes as the tree of depth 7.
  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    parameters["depth"] == "10" ? .calibrated(seconds: 2.5) : repeats
  }
  func needs(_ parameters: Parameters) -> Abilities { ForkJoinTrial<GeometricTree>.needs(parameters) }

  func peerInput(_ setting: Setting) throws -> PeerInput { .tree(try tree(setting)) }

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    try ForkJoinTrial(try tree(setting)).closures(subject, setting)
  }

  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try ForkJoinTrial(try tree(setting)).operations(subject, setting)
  }

  private func tree(_ setting: Setting) throws -> GeometricTree {
    let depth = try setting.integer("depth")
    guard setting.parameters["tree"] == "T1", GeometricTree.nodesOfT1.indices.contains(depth) else {
      throw Complaint(.usage, "the tree is T1 with a depth of at most 10, not as in '\(setting.parameters)'")
    }
    return GeometricTree(
      seed: 19, branching: 4, depth: depth, cutoff: try setting.integer("cutoff"),
      expected: GeometricTree.nodesOfT1[depth])
  }
}

/// A tree of the geometric kind with a fixed branching factor (`-t 1 -a 3`): every node above the last level has a
/// number of children that is geometrically distributed.
struct GeometricTree: ForkJoinTree {
  /// The number of nodes of T1 (`-t 1 -a 3 -d 10 -b 4 -r 19`) at every depth. The last number is the published one. The
  /// numbers before were counted with a separate implementation.
  static let nodesOfT1 = [1, 6, 65, 254, 944, 3_987, 16_000, 63_914, 257_042, 1_031_269, 4_130_071]

  /// A node with a random generator that splits: the state of a child is the hash of its parent's state and the child's
  /// index.
  struct Node: Sendable, BitwiseCopyable {
    let state: SHA1.Digest
    let depth: Int32
  }

  private static let mostChildren = 100

  let root: Node
  let expected: Int
  private let depth: Int
  private let cutoff: Int
  /// The logarithm of the probability that there is one more child.
  private let logarithm: Double

  init(seed: UInt32, branching: Double, depth: Int, cutoff: Int, expected: Int) {
    // The message is 16 bytes of zero and the seed.
    root = Node(state: SHA1.digest(words: 5) { $0[4] = seed }, depth: 0)
    (self.depth, self.cutoff, self.expected) = (depth, cutoff, expected)
    logarithm = log(1 - 1 / (1 + branching))
  }

  func value(of node: Node) -> Int { node.depth < cutoff ? 1 : nodes(node) }
  func childCount(of node: Node) -> Int { node.depth < cutoff ? branches(node) : 0 }

  @inline(__always)
  func forEachChild(of node: Node, count: Int, _ body: (Node) -> Void) {
    for index in 0..<count { body(child(node, UInt32(index))) }
  }

  /// The number of nodes in a subtree.
  private func nodes(_ node: Node) -> Int {
    var sum = 1
    for index in 0..<branches(node) { sum += nodes(child(node, UInt32(index))) }
    return sum
  }

  private func child(_ node: Node, _ index: UInt32) -> Node {
    let parent = node.state
    let state = SHA1.digest(words: 6) { words in
      words[0] = parent.a
      words[1] = parent.b
      words[2] = parent.c
      words[3] = parent.d
      words[4] = parent.e
      words[5] = index
    }
    return Node(state: state, depth: node.depth + 1)
  }

  /// The number of children of a node in the whole tree.
  private func branches(_ node: Node) -> Int {
    guard node.depth < depth else { return 0 }
    let uniform = Double(node.state.e & 0x7fff_ffff) / 0x1p31
    return min(Int((log(1 - uniform) / logarithm).rounded(.down)), Self.mostChildren)
  }
}
