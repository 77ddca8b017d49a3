import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring

/// `opbench explain` as a user meets it.
@Suite(.ownThread) struct ExplainCommandTests {
  let folder = TemporaryFolder()
  private static let graph = "graph imbalance=0;pattern=stencil_1d;steps=32;width=16;work_ns=0$"

  @Test func theTimeAddsUpAndEachPartHasItsLine() throws {
    let file = "\(folder.path)/e.csv"
    let outcome = ProcessRunner.run(
      BuiltOpbench.path, ["explain", Self.graph, "--blocks", "6", "--workers", "2", "--output", file], timeout: 300)
    #expect(outcome.ending == .exited(0), "\(outcome)")
    let lines = outcome.lines
    #expect(lines.first?.hasPrefix("dependencies/graph ") == true && lines.contains { $0.contains("burdened span") })
    for part in ["add", "take", "finish", "steal", "wake", "sleep"] {
      #expect(lines.count { $0.hasPrefix("  \(part) ") } == 2, "\(part): \(lines)")
    }
    let rows = try #require(folder.read("e.csv")).split(separator: "\r\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    #expect(rows[0].count == 10 && rows.count == 13 && rows.allSatisfy { $0.count == 10 })
    let shares = rows.filter { $0[4] == "share_of_time" }.compactMap { Double($0[6]) }
    #expect(shares.count == 6 && abs(shares.reduce(0, +) - 1) < 0.05, "\(shares)")
    let worths = rows.filter { $0[4] == "percent_per_100_ns" }
    #expect(
      worths.count == 6 && worths.first { $0[5] == "take" }.map { Double($0[6]) != nil && Double($0[9]) != nil } == true
    )
    expectComplaint(73, ["holds a finished result", "--overwrite"], ["explain", Self.graph, "--output", file])
  }

  @Test func whatCannotBeExplainedIsSaid() {
    expectComplaint(64, ["explain takes one benchmark", "matches"], ["explain", "external-add|local-add"])
    expectComplaint(64, ["no benchmark matches 'nothing'"], ["explain", "nothing"])
    expectComplaint(
      64, ["explain looks into our own backends", "not foundation"], ["explain", Self.graph, "--backend", "foundation"])
    expectComplaint(64, ["has no time of its own to explain"], ["explain", "wake-idle samples=1000$"])
    expectComplaint(64, ["takes a count from 6 to 1000"], ["explain", Self.graph, "--blocks", "5"])
    expectComplaint(66, ["none.json"], ["explain", Self.graph, "--model", "\(folder.path)/none.json"])
  }
}
