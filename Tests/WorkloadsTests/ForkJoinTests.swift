import CWorkloads
import Subjects
import Testing

@testable import HarnessWords
@testable import Workloads

struct ForkJoinTests {
  /// Test vectors of NIST's validation program (SHA1ShortMsg) that are whole words.
  @Test(
    arguments: [
      ([], "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
      ([0x549e_959e], "b78bae6d14338ffccfd5d5b5674a275f6ef9c717"),
      ([0x9a7d_fdf1, 0xecea_d06e, 0xd646_aa55, 0xfe75_7146], "82abff6605dbe1c17def12a394fa22a82b544a35"),
    ] as [([UInt32], String)])
  func sha1(message: [UInt32], expected: String) {
    var digest = [UInt32](repeating: 0, count: 5)
    uts_sha1(message, UInt32(message.count), &digest)
    let hex = digest.map { word in
      let digits = String(word, radix: 16)
      return String(repeating: "0", count: 8 - digits.count) + digits
    }
    #expect(hex.joined() == expected)
  }

  /// Trees counted by a separate program in C; the deepest of them, T1 as published, takes too long here.
  @Test(arguments: 0...6)
  func smallUnbalancedTrees(depth: Int) {
    func tree(cutoff: Int) -> GeometricTree {
      GeometricTree(depth: depth, cutoff: cutoff)
    }
    #expect(tree(cutoff: 0).serial(tree(cutoff: 0).root) == GeometricTree.nodesOfT1[depth])
    #expect(tree(cutoff: 3).serial(tree(cutoff: 3).root) == GeometricTree.nodesOfT1[depth])
    #expect(tree(cutoff: 99).taskCount(tree(cutoff: 99).root) == GeometricTree.nodesOfT1[depth])
    #expect(tree(cutoff: 2).taskCount(tree(cutoff: 2).root) == GeometricTree.nodesOfT1[min(depth, 2)])
  }

  @Test func thePublishedTree() { #expect(GeometricTree.nodesOfT1[10] == 4_130_071) }

  @Test func smallTrees() {
    #expect((0...10).map { FibTree(n: $0).expected } == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55])
    #expect((0...10).allSatisfy { FibTree(n: $0).serial($0) == FibTree(n: $0).expected })
    // 2 fib(n + 1) - 1 calls.
    #expect(FibTree(n: 10).taskCount(10) == 177)
    let skynet = SkynetTree(leaves: 1_000)
    #expect(skynet.serial(skynet.root) == 499_500 && skynet.taskCount(skynet.root) == 1_111)
    for n in 1...8 { #expect(QueensTree(n: n).serial(QueensTree(n: n).root) == QueensTree.solutions[n]) }
  }

  /// Whatever the number of children, their halves reach each of them once.
  @Test func forksGiveThePlainSum() {
    func solved(_ tree: some ForkJoinTree) -> Int { ForkedTree(tree, subject: SerialSubject(workers: 1)).solve() }
    for n in 0...12 { #expect(solved(FibTree(n: n)) == FibTree(n: n).expected) }
    for leaves in [1, 10, 1_000] { #expect(solved(SkynetTree(leaves: leaves)) == leaves * (leaves - 1) / 2) }
    for n in 1...7 { #expect(solved(QueensTree(n: n)) == QueensTree.solutions[n]) }
    #expect(solved(GeometricTree(depth: 5, cutoff: 4)) == 3_987)
  }

  @Test func anotherWayToJoin() {
    for parameters in [["n": "5", "join": "prayer"], ["n": "5"]] as [Parameters] {
      #expect(throws: Complaint.self) { try WorkloadTests.trial(Fib(), parameters, "stealing") }
    }
  }

  @Test func sizesThatMakeNoSense() {
    func prepare(_ workload: some Workload, _ parameters: Parameters) throws {
      _ = try WorkloadTests.trial(workload, parameters, "stealing")
    }
    #expect(throws: Complaint.self) { try prepare(Skynet(), ["leaves": "999"]) }
    #expect(throws: Complaint.self) { try prepare(NQueens(), ["n": "14"]) }
    for (tree, depth) in [("T1", "11"), ("T2", "3")] {
      #expect(throws: Complaint.self) {
        try prepare(UnbalancedTreeSearch(), ["tree": tree, "depth": depth, "cutoff": "1"])
      }
    }
  }
}
