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
    let rows = parseCSV(try #require(folder.read("e.csv")))
    #expect(rows.count == 13 && rows.allSatisfy { $0.count == 12 })
    let shares = rows.filter { $0[0] == "activity" }.compactMap { Double($0[7]) }
    #expect(shares.count == 6 && abs(shares.reduce(0, +) - 1) < 0.05, "\(shares)")
    let worths = rows.filter { $0[0] == "part" }
    #expect(worths.count == 6)
    #expect(worths.first { $0[5] == "take" }?[7...].allSatisfy { Double($0) != nil } == true, "\(worths)")
    // A report reads the file.
    let facts = ProcessRunner.run(BuiltOpbench.path, ["report", file, "--facts", "-"], timeout: 60)
    #expect(facts.ending == .exited(0) && facts.lines.contains { $0.contains("\"simulated_text\"") }, "\(facts)")
    expectComplaint(73, ["holds a finished result", "--overwrite"], ["explain", Self.graph, "--output", file])
  }

  /// Dispatch keeps threads that sleep, more than there are workers.
  @Test func theTimeAddsUpOnDispatch() throws {
    let file = "\(folder.path)/d.csv"
    let outcome = ProcessRunner.run(
      BuiltOpbench.path,
      ["explain", Self.graph, "--backend", "dispatch", "--blocks", "6", "--workers", "2", "--output", file],
      timeout: 300)
    #expect(outcome.ending == .exited(0), "\(outcome)")
    let shares = parseCSV(try #require(folder.read("d.csv"))).filter { $0[0] == "activity" }.compactMap {
      Double($0[7])
    }
    #expect(shares.count == 6 && abs(shares.reduce(0, +) - 1) < 0.05, "\(shares)")
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
