import TestSupport
import Testing

@testable import HarnessGate
@testable import opbench

/// The suite that the gate's programs print.
@Suite(.ownThread) struct GatedBenchmarksTests {
  @Test func suitesAreReadAsTheyAreWritten() throws {
    let suite = GateSuite(build: "release", cells: GatedBenchmarks.cells(subject: "stealing", workers: 2))
    #expect(GateSuite(suite.lines) == suite)
    let walls = suite.cells.filter { $0.metrics.contains { $0.tier == .wallClock } }
    #expect(6...10 ~= walls.count && walls.allSatisfy { $0.cell.arm.workers == 2 })
    // On one CPU wide and narrow cells are the same.
    let narrow = GatedBenchmarks.cells(subject: "stealing", workers: 1)
    let timed = Set(walls.map(\.cell.scenario))
    let onlyCounted = suite.cells.filter { $0.countsAllocations && !timed.contains($0.cell.scenario) }
    #expect(onlyCounted.count == 11 && onlyCounted.allSatisfy { $0.metrics.isEmpty })
    #expect(narrow.count == walls.count + onlyCounted.count + 1 && Set(narrow.map(\.cell)).count == narrow.count)
    // A count of two threads depends on which of them is ahead.
    #expect(suite.cells.filter(\.countsInstructions).map { "\($0.cell.scenario.name)" } == ["overhead/local-add"])
    for lines in [
      [], ["end"], ["suite\t4\trelease"], ["suite\t2\trelease", "end"], ["suite\t5\trelease", "end"],
      ["suite\t4\trelease", "nonsense", "end"],
      ["suite\t4\trelease", "gated\ta\tb\t\ts\t0\tns_per_op ns 2\t", "end"],
      ["suite\t4\trelease", "gated\ta\tb\t\ts\t1\tns_per_op ns 7\t", "end"],
    ] { #expect(GateSuite(lines) == nil, "\(lines)") }
  }
}
