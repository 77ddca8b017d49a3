import CWorkloads
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
    return GeometricTree(depth: depth, cutoff: try setting.integer("cutoff"))
  }
}

/// T1 of the published samples (`-t 1 -a 3`): every node above the last level has a number of children that is
/// geometrically distributed. The nodes are in C, and are the same machine code in all languages: see CWorkloads.
struct GeometricTree: ForkJoinTree {
  /// The number of nodes of T1 (`-t 1 -a 3 -d 10 -b 4 -r 19`) at every depth. The last number is the published one. The
  /// numbers before were counted with a separate implementation.
  static let nodesOfT1 = [1, 6, 65, 254, 944, 3_987, 16_000, 63_914, 257_042, 1_031_269, 4_130_071]

  struct Node: Sendable, BitwiseCopyable { let inC: uts_node }

  let root = Node(inC: uts_root(19))
  let depth: UInt32
  let cutoff: UInt32
  let expected: Int

  init(depth: Int, cutoff: Int) {
    (self.depth, self.cutoff, expected) = (UInt32(depth), UInt32(cutoff), Self.nodesOfT1[depth])
  }

  func value(of node: Node) -> Int { node.inC.depth < cutoff ? 1 : Int(uts_nodes(node.inC, depth)) }
  func childCount(of node: Node) -> Int { node.inC.depth < cutoff ? Int(uts_children(node.inC, depth)) : 0 }

  @inline(__always)
  func forEachChild(of node: Node, count: Int, _ body: (Node) -> Void) {
    for index in 0..<count { body(Node(inC: uts_child(node.inC, UInt32(index)))) }
  }
}
