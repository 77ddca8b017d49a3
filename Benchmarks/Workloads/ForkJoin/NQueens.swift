import HarnessMeasuring
import HarnessWords
import Subjects

/// All ways to place n queens on a board of n * n so that no queen attacks another. Every placement is a task: a tree
/// of uneven branches, many of which end early.
struct NQueens: Workload {
  let name = BenchmarkName("forkjoin", "nqueens")
  let summary = "the solutions of the n queens problem, every placement a task"
  let metrics = Trial.metricsBesideOneThread
  let headlines = Trial.headlinesBesideOneThread

  func parameterSets() -> [Parameters] { [["n": "8", "join": "fork"]] }
  func extendedParameterSets() -> [Parameters] {
    [
      ["n": "8", "join": "counter"], ["n": "10", "join": "fork"], ["n": "10", "join": "counter"],
      ["n": "6", "join": "dependency"],
    ]
  }
  func needs(_ parameters: Parameters) -> Abilities { ForkJoinTrial<QueensTree>.needs(parameters) }

  func peerInput(_ setting: Setting) throws -> PeerInput { .tree(try tree(setting)) }

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    try ForkJoinTrial(try tree(setting)).closures(subject, setting)
  }

  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try ForkJoinTrial(try tree(setting)).operations(subject, setting)
  }

  private func tree(_ setting: Setting) throws -> QueensTree {
    let n = try setting.integer("n")
    guard QueensTree.solutions.indices.contains(n) else {
      throw Complaint(.usage, "n is at most \(QueensTree.solutions.count - 1) queens, not \(n)")
    }
    return QueensTree(n: n)
  }
}

struct QueensTree: ForkJoinTree {
  /// The number of solutions from n = 0: sequence A000170 of the OEIS.
  static let solutions = [1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2_680, 14_200, 73_712]

  /// A placement, with the squares of the next row that a queen attacks: down its column and along both diagonals.
  struct Node: Sendable, BitwiseCopyable {
    let row: UInt32
    let columns: UInt32
    let left: UInt32
    let right: UInt32
  }

  let n: Int

  var root: Node { Node(row: 0, columns: 0, left: 0, right: 0) }
  var expected: Int { Self.solutions[n] }

  func value(of node: Node) -> Int { node.row == n ? 1 : 0 }
  func childCount(of node: Node) -> Int { node.row == n ? 0 : free(node).nonzeroBitCount }

  @inline(__always)
  func forEachChild(of node: Node, count: Int, _ body: (Node) -> Void) {
    var free = free(node)
    while free != 0 {
      let square = free & (~free &+ 1)
      free ^= square
      body(
        Node(
          row: node.row + 1, columns: node.columns | square, left: (node.left | square) << 1,
          right: (node.right | square) >> 1))
    }
  }

  private func free(_ node: Node) -> UInt32 { ~(node.columns | node.left | node.right) & (1 << UInt32(n) - 1) }
}
