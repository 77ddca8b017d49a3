import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessStatistics
@testable import HarnessWords

/// Of every committed result, the table of the run, `compare` and the page pair the same lines and print the same
/// numbers. README and what stands beside it print those numbers, too.
struct EqualNumbersTests {
  /// The results that were measured, as paths below `results`.
  static let committed = try! FileManager.default.subpathsOfDirectory(atPath: Checkout.path("results")).filter {
    $0.hasSuffix(".csv.gz") && (try? record($0))?.simulation == nil
  }.sorted()

  /// A cell as a reader finds it.
  struct Place: Hashable {
    let line: String
    let arm: String

    init(_ scenario: Scenario, _ metric: String, _ arm: Arm) { (line, self.arm) = ("\(scenario) \(metric)", "\(arm)") }
  }

  /// A ratio as it is printed, and the number of its pairs. `compare` widens intervals, so they are not the same
  /// everywhere.
  struct Said: Equatable {
    let ratio: String
    let blocks: Int

    init(_ ratio: Estimate) { (self.ratio, blocks) = (NumberFormat.ratio(ratio.median, nil), ratio.count) }
  }

  /// A result with the rows of some metrics alone: a test looks at no others, and there are a million.
  static func rows(_ path: String, metrics: Set<String>) throws -> [Row] {
    let pattern = "^schema,|,(\(metrics.sorted().joined(separator: "|"))),"
    let outcome = ProcessRunner.run(
      "sh", ["-c", "gzip -dc \"$0\" | grep -E \"$1\"", Checkout.path("results/\(path)"), pattern], timeout: 120)
    try #require(outcome.ending == .exited(0))
    return try CSV.rows((outcome.lines.joined(separator: "\n") + "\n").utf8, source: path)
  }

  static func record(_ path: String) throws -> RunRecord {
    try #require(try RunRecord.read(path: RunRecord.path(csv: Checkout.path("results/\(path)"))))
  }

  /// What the run's own table says.
  static func table(_ rows: [Row], _ record: RunRecord, _ reference: String, metrics: Set<String>) throws -> [Place:
    Said]
  {
    var arms: [Scenario: [Arm]] = [:]
    for cell in record.cells { arms[cell.scenario, default: []].append(cell.arm) }
    let headlines = Set(rows.map(\.reading.metric)).filter { metrics.contains($0.name) }
    let plan = Plan(
      scenarios: arms.map {
        PlannedScenario(
          scenario: $0, arms: $1, incapable: [], repeats: .calibrated(), headlines: Array(headlines),
          countsAllocations: false, notes: [])
      }, effort: record.effort, seed: record.seed, startup: 0)
    let results = ResultTable(RunResult(try EarlierRun(rows, record, plan, source: "a result")))
    let lines = plan.scenarios.flatMap { TableLine.all(results, $0, reference: reference) }
    return lines.reduce(into: [:]) { said, line in
      for (arm, cell) in line.cells {
        guard let ratio = cell.ratio else { continue }
        said[Place(Scenario(line.scenario.name, line.parameters), line.metric.name, arm)] = Said(ratio)
      }
    }
  }

  static func compare(_ set: ResultSet, _ reference: String, metrics: Set<String>) throws -> [Place: Said] {
    let comparison = try Comparison(set, reference: reference, metrics: .matching { metrics.contains($0) }, seed: 1)
    return comparison.lines.reduce(into: [:]) { said, line in
      said[Place(line.scenario, line.metric.name, line.arm)] = Said(line.ratio)
    }
  }

  static func page(_ results: MeasuredResults, metrics: Set<String>) -> [Place: Said] {
    zip(results.lines, MeasuredFacts.lines(.whole(results))).reduce(into: [:]) { said, line in
      let (own, facts) = line
      guard metrics.contains(own.metric.name) else { return }
      for cell in facts.cells {
        guard let ratio = cell.second.ratio?.second else { continue }
        said[Place(own.scenario, facts.metric, results.arms[cell.first.arm])] = Said(
          Estimate(median: ratio.value, interval: nil, count: ratio.n!))
      }
    }
  }

  static func expectSame(_ some: [Place: Said], _ others: [Place: Said], _ what: String) {
    let places = Set(some.keys).union(others.keys)
    let wrong = places.filter { some[$0] != others[$0] }.sorted { ($0.line, $0.arm) < ($1.line, $1.arm) }
    let words = wrong.prefix(3).map {
      "\($0.line), \($0.arm): \(some[$0].map { "\($0)" } ?? "-"), \(others[$0].map { "\($0)" } ?? "-")"
    }
    #expect(wrong.isEmpty, "\(what), \(wrong.count) of \(places.count): \(words.joined(separator: "; "))")
  }

  /// What is looked at where no benchmark of a result has a time that stands for it.
  private static let standIns = ["slowdown_p50", "sojourn_p99_ns", "sojourn_beside_p99_ns", "capacity_percent"]

  @Test(arguments: committed) func everyPlaceSaysTheSame(path: String) throws {
    let record = try Self.record(path)
    let metrics = Set(record.primaryTimes.isEmpty ? Self.standIns : Array(record.primaryTimes.values))
      .union([Metric.efficiency.name])
    // The table of a run finds out from the delays which blocks were crowded.
    let all = try Self.rows(path, metrics: metrics.union([Metric.runDelayNsPerOp.name]))
    // Of an ablation some changes, since all would take minutes.
    let subjects = Set(all.map(\.cell.arm.subject)).sorted()
    let base = subjects.contains(record.reference!) ? record.reference! : subjects[0]
    let asked = Set(
      subjects.indices.filter { subjects.count < 20 || $0.isMultiple(of: 12) }.map { subjects[$0] } + [base])
    let rows = all.filter { asked.contains($0.cell.arm.subject) }
    let set = ResultSet(name: path, rows: rows, record: record)
    let compared = try Self.compare(set, base, metrics: metrics)
    #expect(!compared.isEmpty)
    Self.expectSame(compared, Self.page(try MeasuredResults([set], reference: base), metrics: metrics), "compare, page")
    Self.expectSame(compared, try Self.table(rows, record, base, metrics: metrics), "compare, the run's table")
    // Of the primary times alone, too: what stands for a benchmark is the same everywhere.
    let primary = try Comparison(set, reference: base, metrics: .primary, seed: 1)
    #expect(
      Set(primary.lines.map { "\($0.scenario.name) \($0.metric.name)" }).isSubset(
        of: record.primaryTimes.map { "\($0.key) \($0.value)" }))
  }

  /// A record may say another time than the names of the metrics would: that of a program with metrics of its own, or
  /// of an earlier version.
  @Test func theRecordSaysWhichTimeStandsForABenchmark() throws {
    let made = ["stealing": 10.0, "foundation": 40].flatMap { name, time in
      [Metric.nsPerOp, .makespan].map {
        FactsTests.Made(
          benchmark: "overhead/add", subject: name, metric: $0, value: $0 == .nsPerOp ? time : time * time)
      }
    }
    let record = FactsTests.record { $0.primaryTimes = ["overhead/add": "makespan_ns"] }
    let set = ResultSet(name: "a.csv", rows: FactsTests.rows(made), record: record)
    let comparison = try Comparison(set, reference: "foundation", metrics: .primary, seed: 1)
    let results = try MeasuredResults([set], reference: nil)
    #expect(results.lines.indices.filter(results.isPrimary).map { results.lines[$0].metric } == [.makespan])
    #expect(comparison.lines.map(\.metric) == [.makespan])
    #expect(comparison.means.map { NumberFormat.ratio($0.mean.ratio, nil) } == ["x0.0625"])
    #expect(try GitHubBenchmark.text(set).contains("makespan_ns"))
    // Who asks for another metric is shown no means of times.
    let other = try Comparison(set, reference: "foundation", metrics: .matching { $0 == "ns_per_op" }, seed: 1)
    #expect(other.lines.count == 1 && other.means.isEmpty && other.common?.together.isEmpty == true)
  }

  /// The cells of a table in Markdown, by line.
  static func cells(_ page: String, from begin: String) throws -> [[String]] {
    let text = try #require(
      FileManager.default.contents(atPath: Checkout.path(page)).map { String(decoding: $0, as: UTF8.self) })
    let lines = text[try #require(text.firstRange(of: begin)).lowerBound...].split(separator: "\n")
    return lines.prefix { $0.hasPrefix("|") }.dropFirst(2).map { line in
      line.dropFirst(2).dropLast(2).split(separator: " | ").map { String($0).replacing("~", with: "") }
    }
  }

  /// The pages beside the reference results print numbers of the document of facts, and of `compare`.
  @Test func thePagesPrintTheSameNumbers() throws {
    let path = "reference.csv.gz"
    let record = try Self.record(path)
    let metrics = Set(record.primaryTimes.values).union(["allocations_per_op", "rank_error_mean"])
    let set = ResultSet(name: path, rows: try Self.rows(path, metrics: metrics), record: record)
    let results = try MeasuredResults([set], reference: nil)
    let facts = MeasuredFacts.lines(.whole(results))
    let printed = Set(
      facts.flatMap { line in
        line.cells.map { cell in
          cell.second.ratio.map { "\($0.second.text) (\(cell.second.number.text))" } ?? cell.second.number.text
        }
      })
    let summary = try Self.cells("results/SUMMARY.md", from: "| benchmark | stealing |")
    #expect(summary.count == 12)
    for row in summary.dropLast(2) {
      for cell in row.dropFirst() where !["-", "failed"].contains(cell) {
        let isPrinted = printed.contains(cell)
        #expect(isPrinted, "\(row[0]): \(cell)")
      }
    }
    // Round words of the very ratios.
    let glance = try #require(GlanceFacts(results))
    let readme = try Self.cells("README.md", from: "| work | compared with | `stealing`")
    #expect(readme.count == glance.rows.count)
    for (row, facts) in zip(readme, glance.rows) {
      #expect(row[2].hasPrefix(facts.words), "\(row)")
    }
    // The article prints what `compare` prints.
    let article = try Self.cells(
      "Sources/Operations/Operations.docc/WhichForWhat.md", from: "| benchmark | what it asks | this queue | task group"
    )
    #expect(article.count >= 10)
    for (column, reference) in [(3, "task-group"), (4, "nio")] {
      let comparison = try Comparison(set, reference: reference, metrics: .primary, seed: 1)
      let said = Set(
        comparison.lines.map { line in
          let other = NumberFormat(line.metric.unit, line.b).text(line.b)
          return "\(other) (\(NumberFormat.ratio(line.ratio.median, line.ratio.interval)))"
        })
      for row in article {
        let isSaid = said.contains(row[column])
        #expect(isSaid, "\(row[0]): \(row[column])")
      }
    }
  }
}
