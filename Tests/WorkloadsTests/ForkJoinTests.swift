import Subjects
import Testing

@testable import HarnessWords
@testable import Workloads

struct ForkJoinTests {
  /// Test vectors of FIPS 180 and RFC 3174.
  @Test func sha1() {
    func hex(_ text: String) -> String {
      let digest = SHA1.digest(Array(text.utf8))
      return [digest.a, digest.b, digest.c, digest.d, digest.e].map { word in
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
      }.joined()
    }
    #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
    #expect(hex(String(repeating: "a", count: 1_000)) == "291e9a6c66994949b57ba5e650361e98fc36b1ba")
  }

  @Test func sha1OfOneBlock() {
    let short = SHA1.digest(words: 6) { words in for index in 0..<6 { words[index] = UInt32(index) * 0x0102_0304 } }
    let bytes = (0..<6).flatMap { index in
      let word = UInt32(index) * 0x0102_0304
      return (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) }
    }
    #expect(short == SHA1.digest(bytes))
  }

  /// Trees counted by a separate program in C; the deepest of them, T1 as published, takes too long here.
  @Test(arguments: 0...6)
  func smallUnbalancedTrees(depth: Int) {
    func tree(cutoff: Int) -> GeometricTree {
      GeometricTree(seed: 19, branching: 4, depth: depth, cutoff: cutoff, expected: GeometricTree.nodesOfT1[depth])
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
    let tree = GeometricTree(seed: 19, branching: 4, depth: 5, cutoff: 4, expected: 3_987)
    #expect(solved(tree) == 3_987)
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
