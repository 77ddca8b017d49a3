import Glibc
import LaboratorySupport
import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessWords

/// The gate's committed files, and its logs.
struct GateFilesTests {
  let folder = TemporaryFolder()
  static let provenance = Provenance(
    date: "2026-01-02T03:04:05Z", cpu: "a CPU", cpus: 2, kernel: "6", commit: "abc", command: "opbench gate")

  func entry(_ medians: [Double], _ metric: GatedMetric = GatedMetric(.nsPerOp, .wallClock)) -> GateThresholds.Entry {
    GateThresholds.entry(FakeGate.cell, metric, medians: medians)
  }

  @Test func thresholdsFromMedians() {
    // Three standard deviations of medians around zero, and never less than five per cent.
    #expect(entry(Array(repeating: 0, count: 30)).threshold == 1.05)
    let wide = entry((0..<30).map { $0.isMultiple(of: 2) ? 0.04 : -0.04 })
    #expect(abs(wide.spread - 1.4826 * 0.04) < 1e-4 && abs(wide.threshold - exp(3 * 1.4826 * 0.04)) < 1e-3)
    // One disturbed median does not widen it.
    #expect(entry(Array(repeating: 0.001, count: 29) + [3]).threshold == 1.05)
    #expect(entry(Array(repeating: 0, count: 30), GatedMetric(.cpuNsPerOp, .steady)).threshold == 1.03)
    #expect(entry(Array(repeating: 0, count: 30), GatedMetric(.voluntarySwitchesPerOp, .steady)).threshold == 0.03)
    #expect(
      abs(entry(Array(repeating: 0.1, count: 30), GatedMetric(.voluntarySwitchesPerOp, .steady)).threshold - 0.4448)
        < 1e-3)
  }

  @Test func thresholdsAreReadBackAndReplaced() throws {
    var file = GateThresholds()
    file.add([entry(Array(repeating: 0, count: 30))], from: Self.provenance)
    file.add([entry(Array(repeating: 0.1, count: 30))], from: Self.provenance)
    let path = folder.write(try file.text(), to: "t.json")
    let read = try GateThresholds.read(path)
    #expect(read.calibrations.count == 1, "the newer one takes the place of the older")
    #expect(read.calibrations[0].provenance == Self.provenance)
    #expect(try #require(read.entry(FakeGate.cell, .nsPerOp)).threshold > 1.5)
    #expect(read.entry(FakeGate.cell, .cpuNsPerOp) == nil)
    #expect(read.entry(CellKey(FakeGate.cell.scenario, Arm(subject: "stealing", workers: 2)), .nsPerOp) == nil)
  }

  /// What the base offers and the head does not: a benchmark that is gone, or renamed, or measured in fewer ways.
  @Test func theHeadsSuiteIsHeldAgainstTheBases() {
    func cell(_ name: String, _ metrics: [GatedMetric], workers: Int = 1, subject: String = "s", counts: Bool = true)
      -> GatedCell
    {
      GatedCell(
        CellKey(Scenario(BenchmarkName("a", name), [:]), Arm(subject: subject, workers: workers)), metrics,
        countsAllocations: counts, countsInstructions: counts)
    }
    let (time, cpu) = (GatedMetric(.nsPerOp, .wallClock), GatedMetric(.cpuNsPerOp, .steady))
    let base = [
      cell("kept", [time, cpu]), cell("gone", [time]), cell("gone", [time], workers: 2), cell("less", [time, cpu]),
      cell("narrower", [time]), cell("narrower", [time], workers: 2, counts: false),
    ]
    let head = GateSuite(
      build: "release",
      cells: [
        cell("kept", [time, cpu], subject: "another"), cell("renamed", [time]), cell("less", [time], counts: false),
        cell("narrower", [time]),
      ])
    let lost = head.missing(base, tiers: Set(GatedMetric.Tier.allCases)).map(\.text)
    #expect(
      lost == [
        "a/gone is gone: the base has it, and the head has not",
        "a/less@1 has fewer measures: the base has also cpu_ns_per_op, allocations, instructions",
        "a/narrower@2 has fewer measures: the base has also ns_per_op",
      ], "\(lost)")
    let counts = head.missing(base, tiers: [.deterministic])
    #expect(counts.map(\.text).last == "a/less@1 has fewer measures: the base has also allocations", "\(counts)")
    #expect(counts.allSatisfy { $0.finding.verdict == .regression })
  }

  /// The change that is judged brings its own record.
  @Test func aRecordThatAllowsMoreIsNamed() throws {
    func record(_ allocations: Double, bytes: Double = 32, empty: Bool = false) -> AllocationRecord {
      var record = AllocationRecord()
      record.add(
        empty
          ? []
          : [
            AllocationRecord.Entry(
              FakeGate.cell, [AllocationCounts(allocations: allocations, bytes: bytes, threads: 1)])
          ],
        build: "release", from: Self.provenance)
      return record
    }
    #expect(record(1).raised(since: record(1), build: "release") == [])
    #expect(record(1).raised(since: record(2), build: "release") == [])
    #expect(record(1.05).raised(since: record(1), build: "release") == [], "within what a count may stray")
    let raised = record(2).raised(since: record(1), build: "release")
    #expect(
      raised.count == 1
        && raised.first?.hasSuffix("overhead/external-add ops=10, allocations_per_op: 1.00 -> 2.00") == true,
      "\(raised)")
    #expect(record(2).raised(since: record(1), build: "debug") == [])
    #expect(
      record(1, empty: true).raised(since: record(1), build: "release").first?.contains("removes the record") == true)
    let gate = FakeGate()
    gate.resources.tiers = [.deterministic]
    gate.resources.baseRecord = record(0.5, bytes: 16)
    let notes = try gate.run(hasBase: false).notes
    #expect(notes.count == 2 && notes.allSatisfy { $0.hasPrefix("this change raises its own record") }, "\(notes)")
  }

  func expect(_ code: Complaint.Code, _ words: [String], _ action: () throws -> Void) {
    do {
      try action()
      Issue.record("no complaint with \(words)")
    } catch {
      #expect((error as? Complaint)?.code == code, "\(error)")
      for word in words { #expect("\(error)".contains(word), "\(word) is not in: \(error)") }
    }
  }

  @Test func wrongThresholdsGetOneLine() throws {
    expect(.noInput, ["no.json", "no such file"]) { _ = try GateThresholds.read("\(folder.path)/no.json") }
    let other = folder.write("{}", to: "other.json")
    expect(.badInput, ["other.json", "--calibrate 30"]) { _ = try GateThresholds.read(other) }
    var file = GateThresholds()
    file.add([entry(Array(repeating: 0, count: 30))], from: Self.provenance)
    let text = try file.text()
    func write(_ from: String, _ to: String) -> String {
      let parts = text.split(separator: from, maxSplits: 1, omittingEmptySubsequences: false)
      #expect(parts.count == 2, "\(from) is not in the file")
      return folder.write(parts.joined(separator: to), to: "wrong.json")
    }
    let low = write("\"threshold\" : 1.05", "\"threshold\" : 0.9")
    expect(.badInput, ["0.9", "above 1", "overhead/external-add"]) { _ = try GateThresholds.read(low) }
    let endless = write("\"threshold\" : 1.05", "\"threshold\" : 1e17")
    expect(.badInput, ["below 1000"]) { _ = try GateThresholds.read(endless) }
    // The name of a program's own metric does not say that it is a time.
    var own = GateThresholds()
    let wait = entry(Array(repeating: 0, count: 30), GatedMetric(Metric("wait", unit: "us"), .wallClock))
    own.add([wait], from: Self.provenance)
    let lower = folder.write(
      try own.text().replacing("\"threshold\" : 1.05", with: "\"threshold\" : 0.9"), to: "own.json")
    expect(.badInput, ["wait", "0.9", "above 1"]) { _ = try GateThresholds.read(lower) }
    let newer = write("\"schema\" : 1", "\"schema\" : 2")
    expect(.badInput, ["schema 2"]) { _ = try GateThresholds.read(newer) }
    var few = GateThresholds()
    few.add([entry(Array(repeating: 0, count: 29))], from: Self.provenance)
    let path = folder.write(try few.text(), to: "few.json")
    expect(.badInput, ["29 medians", "30"]) { _ = try GateThresholds.read(path) }
  }

  @Test func recordsOfAllocations() throws {
    func counts(_ allocations: Double, bytes: Double = 64, threads: Double = 1) -> AllocationCounts {
      AllocationCounts(allocations: allocations, bytes: bytes, threads: threads)
    }
    let entry = AllocationRecord.Entry(FakeGate.cell, [counts(2), counts(2.1, bytes: 66, threads: 2)])
    func verdicts(_ now: AllocationCounts) -> [GateVerdict] { entry.judgements(now).map(\.verdict) }
    #expect(verdicts(counts(2.05)) == [.pass, .pass, .pass])
    #expect(verdicts(counts(2.2, bytes: 74, threads: 3)) == [.pass, .pass, .pass])
    #expect(verdicts(counts(3, bytes: 96, threads: 4)) == [.regression, .regression, .regression])
    #expect(verdicts(counts(1, bytes: 32, threads: 0)) == [.improvement, .improvement, .pass])

    let fresh = AllocationRecord.Entry(
      FakeGate.cell,
      [AllocationCounts(allocations: 1, bytes: 32, threads: 1, fresh: .init(allocations: 3, bytes: 96))])
    #expect(fresh.freshAllocationsPerOp == [3, 3] && fresh.freshBytesPerOp == [96, 96])
    let more = AllocationCounts(allocations: 1, bytes: 32, threads: 1, fresh: .init(allocations: 4, bytes: 97))
    #expect(fresh.judgements(more).map(\.verdict) == [.regression, .pass, .pass, .pass, .pass])
    // A record from before these counts says nothing of them.
    #expect(entry.judgements(more).map(\.metric) == [.allocationsPerOp, .bytesPerOp, .threadsCreated])

    var record = AllocationRecord()
    record.add([entry], build: "release", from: Self.provenance)
    record.add([entry], build: "debug", from: Self.provenance)
    let replaced = AllocationRecord.Entry(FakeGate.cell, [counts(5)])
    record.add([replaced], build: "debug", from: Self.provenance)
    let read = try AllocationRecord.read(folder.write(try record.text(), to: "a.json"))
    #expect(read.builds.count == 2)
    #expect(read.entry(FakeGate.cell, build: "release") == entry)
    #expect(read.entry(FakeGate.cell, build: "debug") == replaced)
    expect(.badInput, ["--record"]) { _ = try AllocationRecord.read(folder.write("[]", to: "b.json")) }
    let upside = try record.text().split(separator: "2.1").joined(separator: "1")
    expect(.badInput, ["[lowest, highest]"]) { _ = try AllocationRecord.read(folder.write(upside, to: "c.json")) }
  }

  @Test func provenanceNamesNoFolderOfTheMachine() {
    let here = Provenance.here(commit: nil, command: ["/a/b/opbench", "gate", "--log", "/c/d.jsonl", "--base", "e/f"])
    #expect(here.command == "opbench gate --log d.jsonl --base e/f")
  }

  @Test func callgrindsTotal() {
    #expect(Callgrind.collected(["end", "==12== ", "==12== Collected : 4567", "==12== I   refs: 4,567"]) == 4_567)
    #expect(Callgrind.collected(["Collected : 1", "==12== Events    : Ir"]) == nil)
  }

  @Test func selfTestLogsGoOn() throws {
    let report = GateReport(
      base: "a", head: "b", provenance: Self.provenance, seconds: 1.26, stealShare: 0, findings: [], notes: [])
    let lines = try SelfTestCase.allCases.map { try SelfTestRun($0, report).line() }
    // A run that was killed left half a line.
    let path = folder.write(lines.dropLast().joined() + lines[3].dropLast(9), to: "log.jsonl")
    let runs = try SelfTestRun.read(path)
    #expect(runs.map(\.test) == [.equal, .slower, .allocation])
    // The next line is not glued to it.
    for _ in 1...2 { try SelfTestRun.cutBack(path) }
    #expect(folder.read("log.jsonl") == lines.dropLast().joined())
    #expect(SelfTestRates(runs).next(of: 1) == .noise && SelfTestRates([]).next(of: 1) == .equal)
    #expect(SelfTestRates(runs).next(of: 1, among: [.equal, .slower]) == nil)
    #expect(SelfTestRates(runs).text.contains("false alarms: 0 of 1"))
    expect(.badInput, ["line 1", "--runs"]) { _ = try SelfTestRun.read(folder.write("x\n", to: "bad.jsonl")) }
    #expect(SelfTestCase.equal.outcome(.pass) == .right && SelfTestCase.equal.outcome(.inconclusive) == .undecided)
    #expect(SelfTestCase.equal.outcome(.regression) == .wrong && SelfTestCase.noise.outcome(.pass) == .wrong)
    #expect(SelfTestCase.slower.outcome(.pass) == .wrong && SelfTestCase.noise.outcome(.inconclusive) == .right)
  }
}
