import FoundationEssentials
import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessWords

/// What the gate prints and writes.
struct GateReportTests {
  static let finding: GateFinding = {
    var finding = GateFinding(tier: .wallClock, FakeGate.cell, .nsPerOp, .regression)
    finding.base = 512
    finding.head = 620
    finding.scale = .ratio
    finding.effect = 1.21
    finding.lower = 1.17
    finding.upper = 1.26
    finding.confidence = 0.9785
    finding.null = 1.001
    finding.threshold = 1.07
    finding.blocks = 18
    finding.excluded = 1
    return finding
  }()

  func report(_ findings: [GateFinding], notes: [String] = []) -> GateReport {
    GateReport(
      base: "main (abc)", head: "pull|request", provenance: GateFilesTests.provenance, seconds: 75, stealShare: 0.0123,
      findings: findings, notes: notes)
  }

  @Test func theTerminal() {
    let text = GateText(report([Self.finding], notes: ["something"])).text
    for part in [
      "gate: pull|request against main (abc)", "tier 2, wall clock", "overhead/external-add ops=10@1",
      "512 -> 620 ns", "x1.210 [1.170, 1.260]", "x1.070", "REGRESSION",
      "±3.7 %, 18 blocks, 1 left out", "note: something",
      "1m 15s; regression: overhead/external-add ops=10 ns_per_op x1.210 [1.170, 1.260]",
    ] { #expect(text.contains(part), "\(part) is not in \(text)") }
    #expect(text.split(separator: "\n").allSatisfy { $0.last != " " })
  }

  @Test func countsThatAreAsRecordedAreOneLine() {
    let still = GateFinding.count(
      FakeGate.cell, AllocationRecord.Entry.Judgement(metric: .allocationsPerOp, now: 1, then: 1, slack: 0.03))
    let moved = GateFinding.count(
      FakeGate.cell, AllocationRecord.Entry.Judgement(metric: .allocationsPerOp, now: 2.5, then: 1, slack: 0.03))
    var agreed = moved
    agreed.processes = 6
    let text = GateText(report([still, still, moved])).text
    #expect(text.contains("2 of 3 checks and counts as recorded") && text.contains("against the record"))
    #expect(text.contains("+1.500"))
    #expect(text.contains("counted once"))
    #expect(GateText(report([agreed])).text.contains("in each of 6 processes"))
  }

  /// A program without a record is not told that its counts are as recorded.
  @Test func countsWithoutARecordSaySo() {
    let check = GateFinding(tier: .deterministic, FakeGate.cell, GateFinding.selfCheck, .pass)
    let kept = GateFinding.limited(FakeGate.cell, .retainedBytesPerOp, now: 0, most: 16, .pass)
    let text = GateText(report([check, kept])).text
    #expect(text.contains("tier 0, deterministic, without a record"), "\(text)")
    #expect(text.contains("2 of 2 checks passed; counts have no record to compare with"))
    #expect(!text.contains("as recorded"))
  }

  /// What is in use after operations has two bounds. The deciding bound stands beside the number.
  @Test(arguments: [(37.3, 1_000, false), (37.3, 36_000, true), (70, 1_000, true), (15, 1_000_000, false)])
  func theBoundThatDecidesIsShown(bytes: Double, operations: Int, isLeak: Bool) throws {
    let retained = AllocationCounts.Retained(bytesPerOp: bytes, operations: operations)
    #expect(retained.isLeak == isLeak && retained.isLeak == (bytes > retained.bound))
    let finding = GateFinding.limited(
      FakeGate.cell, .retainedBytesPerOp, now: bytes, most: retained.bound, isLeak ? .regression : .pass,
      reason: retained.basis)
    let isTotal = operations == 1_000
    #expect(finding.thresholdText == (isTotal ? "at most 65.5 B" : "at most 16.0 B"))
    #expect(finding.numbers == "\(NumberFormat("bytes", bytes).text(bytes))" && finding.change == "-")
    let row = try #require(
      GateMarkdown(report([finding])).text.split(separator: "\n").first {
        $0.hasPrefix("| ") && $0.contains("retained")
      })
    #expect(row.contains("65.5 kB in all, of 1000 operations") == isTotal, "\(row)")
    #expect(row.contains("within its bounds") != isLeak && !row.contains("->"))
    if isLeak { #expect(report([finding]).headline.contains("retained_bytes_per_op \(finding.numbers)")) }
  }

  @Test func headlines() {
    func headline(_ verdicts: [GateVerdict]) -> String {
      report(
        verdicts.map {
          var finding = Self.finding
          finding.verdict = $0
          return finding
        }
      ).headline
    }
    #expect(headline([.pass]) == "pass: nothing moved beyond its threshold")
    #expect(headline([]) == "inconclusive: nothing was measured")
    #expect(headline([.pass, .inconclusive]).hasPrefix("inconclusive: 1 of 2 measures"))
    #expect(headline([.pass, .inconclusive]).contains("unsteady: overhead/external-add"))
    var failed = Self.finding
    (failed.verdict, failed.metric) = (.inconclusive, GateFinding.selfCheck.name)
    let words = report([failed]).headline
    #expect(words.contains("the base does not pass its own checks") && !words.contains("unsteady"), "\(words)")
    #expect(headline([.improvement]).hasPrefix("improvement: overhead/external-add"))
    #expect(headline(Array(repeating: .regression, count: 5)).hasSuffix("; and 2 more"))
  }

  /// What passes and is surely worse stands in the last line and in the open part of a comment.
  @Test func whatIsSurelyWorseIsSeen() {
    var finding = Self.finding
    (finding.verdict, finding.effect, finding.lower, finding.upper) = (.pass, 1.079, 1.067, 1.091)
    finding.moved = .worse
    #expect(finding.movement == "surely slower by 7 to 9 %, within the threshold")
    finding.reason = finding.movement
    let line = report([finding]).headline
    #expect(
      line.hasPrefix(
        "pass: nothing moved beyond its threshold, but within it surely for the worse: overhead/external-add"))
    #expect(line.contains("x1.079 [1.067, 1.091]"))
    let text = GateMarkdown(report([finding])).text
    #expect(!text.contains("<details>") && text.contains("surely slower by 7 to 9 %"), "\(text)")
    (finding.lower, finding.upper, finding.moved) = (1.011, 1.024, .worse)
    #expect(finding.movement == "surely slower by 1.1 to 2.4 %, within the threshold")
    (finding.lower, finding.upper, finding.moved) = (0.91, 0.95, .better)
    #expect(finding.movement == "surely faster by 5 to 9 %, within the threshold")
    (finding.lower, finding.upper, finding.tier) = (0.95, 0.952, 1)
    #expect(finding.movement == "surely less by 4.8 to 5.0 %, within the threshold")
    (finding.lower, finding.upper, finding.moved, finding.scale) = (0.01, 0.02, .worse, .difference)
    #expect(finding.movement == "surely more by 0.010 to 0.020, within the threshold")
  }

  /// A benchmark that went has no number; the last line then says why it fails.
  @Test func aFindingWithoutANumberHasItsReasonInTheHeadline() {
    let missing = GateSuite(build: "release", cells: []).missing([FakeGate.gated], tiers: [.wallClock])
    #expect(
      report(missing.map(\.finding)).headline
        == "regression: overhead/external-add ops=10 is gone: the base has it, and the head has not")
    let crashed = GateFinding(
      tier: .deterministic, FakeGate.cell, GateFinding.selfCheck, .regression, reason: "head: it crashed")
    #expect(report([crashed]).headline == "regression: overhead/external-add ops=10 self_check: head: it crashed")
  }

  @Test func markdown() {
    var still = Self.finding
    still.verdict = .pass
    still.effect = 0.99
    still.reason = "a | b <script>"
    let text = GateMarkdown(report([Self.finding, still], notes: ["<b>"])).text
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.first == GateMarkdown.marker && lines[1].hasPrefix("### ❌ Gate: regression: "))
    let rows = lines.filter { $0.hasPrefix("| ") && !$0.hasPrefix("| |") }
    #expect(rows.count == 2)
    // Every row has as many cells as the header: a bar inside one is escaped.
    for row in rows { #expect(row.replacing("\\|", with: "").count { $0 == "|" } == 8, "\(row)") }
    #expect(text.contains("a \\| b &lt;script>") && text.contains("* &lt;b>") && !text.contains("<script>"))
    #expect(text.contains("<details><summary>1 measure did not move</summary>"))
    #expect(text.contains("1.2 % of CPU time went to other guests"))
  }

  @Test func jsonHoldsEverything() throws {
    let text = try report([Self.finding], notes: ["n"]).json()
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let read = try decoder.decode(GateReport.self, from: Data(text.utf8))
    #expect(read.verdict == .regression && read.findings == [Self.finding] && read.notes == ["n"])
    #expect(read.provenance == GateFilesTests.provenance && read.schema == 2)
    for key in ["steal_share", "\"verdict\" : \"regression\"", "\"lower\" : 1.17"] { #expect(text.contains(key)) }
  }

  @Test func howSure() {
    var finding = Self.finding
    finding.excluded = 0
    finding.blocks = 1
    #expect(finding.certainty == "±3.7 %, 1 block")
    finding.lower = nil
    #expect(finding.certainty == "1 block")
    finding.scale = .difference
    (finding.lower, finding.upper) = (-0.25, 0.05)
    #expect(finding.certainty == "±0.150, 1 block")
    finding.blocks = nil
    #expect(finding.certainty == "-")
  }

  @Test func differencesShowTheirSign() {
    var finding = Self.finding
    finding.scale = .difference
    finding.effect = -0.25
    finding.lower = -0.5
    finding.upper = 0
    #expect(finding.change == "-0.250 [-0.500, +0.000]")
    // What a program says of itself may be anything.
    finding.effect = .infinity
    finding.lower = -1e300
    #expect(finding.change == "+inf [-1e+300, +0.000]")
  }
}
