import HarnessMeasuring
import HarnessWords
import Subjects

/// The skynet benchmark (github.com/atemerev/skynet): a tree in which every inner node has ten children. The leaves
/// give their ordinal numbers, and the inner nodes add them up. The original has a million leaves.
struct Skynet: Workload {
  let name = BenchmarkName("forkjoin", "skynet")
  let summary = "a tree of ten children each that adds up the ordinals of its leaves"
  let metrics = Trial.metricsBesideOneThread
  let headlines = Trial.headlinesBesideOneThread

  func parameterSets() -> [Parameters] {
    [["leaves": "1000", "join": "fork"], ["leaves": "1000", "join": "counter"]]
  }
  func extendedParameterSets() -> [Parameters] {
    [
      ["leaves": "100000", "join": "fork"], ["leaves": "1000000", "join": "fork"],
      ["leaves": "10000", "join": "counter"], ["leaves": "100000", "join": "counter"],
      ["leaves": "1000000", "join": "counter"], ["leaves": "100", "join": "dependency"],
    ]
  }
  /// The tree of a million leaves has 1,000 times as many tasks as the tree of 1,000.
  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    parameters["leaves"] == "1000000" ? .calibrated(seconds: 0.2) : repeats
  }
  func needs(_ parameters: Parameters) -> Abilities { ForkJoinTrial<SkynetTree>.needs(parameters) }

  func peerInput(_ setting: Setting) throws -> PeerInput { .tree(try tree(setting)) }

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    try ForkJoinTrial(try tree(setting)).closures(subject, setting)
  }

  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try ForkJoinTrial(try tree(setting)).operations(subject, setting)
  }

  private func tree(_ setting: Setting) throws -> SkynetTree {
    let leaves = try setting.integer("leaves")
    var power = 1
    while power < leaves { power *= SkynetTree.children }
    guard power == leaves else { throw Complaint(.usage, "leaves is a power of \(SkynetTree.children), not \(leaves)") }
    return SkynetTree(leaves: leaves)
  }
}

struct SkynetTree: ForkJoinTree {
  static let children = 10

  struct Node: Sendable, BitwiseCopyable {
    let first: Int
    let leaves: Int
  }

  let leaves: Int

  var root: Node { Node(first: 0, leaves: leaves) }
  var expected: Int { leaves * (leaves - 1) / 2 }

  func value(of node: Node) -> Int { node.leaves == 1 ? node.first : 0 }
  func childCount(of node: Node) -> Int { node.leaves == 1 ? 0 : Self.children }

  @inline(__always)
  func forEachChild(of node: Node, count: Int, _ body: (Node) -> Void) {
    let share = node.leaves / Self.children
    for index in 0..<count { body(Node(first: node.first + index * share, leaves: share)) }
  }
}
