import FoundationEssentials
import HarnessComparing
import HarnessGate
import HarnessMeasuring
import HarnessResults
import HarnessWords
import Workloads

extension Reader {
  /// Every reader of files and of other processes' output.
  public static let all: [Reader] = [
    workflow, records, rows, comparison, simulated, limits, environment, thresholds, allocations, selfTest, resultLine,
    callgrind, request, command, numbers, introduction, manifest,
  ]

  private static let json = [
    "null", "true", "[]", "{}", "\"\"", "-1", "0", "1e308", "1e-320", "9223372036854775808", "\\u0000",
  ]

  /// A workflow in WfFormat, and what a replay takes from it.
  static let workflow = Reader(
    "workflow",
    tokens: json + [
      "\"workflow\":", "\"specification\":", "\"execution\":", "\"tasks\":", "\"id\":", "\"parents\":", "\"children\":",
      "\"runtimeInSeconds\":", "\"name\":",
    ]
  ) { bytes in
    let workflow = try WfFormat.parse(Data(bytes), name: "input", source: "input.json")
    precondition(workflow.widestLevel <= workflow.tasks.count && workflow.depth <= workflow.tasks.count)
    for workers in [1, 64] { _ = try workflow.replayNotes(source: "input.json", workers: workers) }
  }

  private static let separators = [",", "\"", "\"\"", "\r\n", "\n", "\r", "\u{0}", "é"]

  /// Comma-separated values of any kind.
  static let records = Reader("records", tokens: separators) { bytes in
    var reader = CSVReader(bytes, source: "input.csv")
    while let record = try reader.next() { precondition(!record.fields.isEmpty && record.line > 0) }
  }

  private static let columns =
    separators + CSV.header + [
      "1,", "0,", "-1,", "1e308", "1e-320", "nan", "inf", "a=b;c=d", "foundation", "stealing", "ns", "ns_per_op",
    ]

  /// A result.
  static let rows = Reader("rows", tokens: columns) { bytes in
    for row in try CSV.rows(bytes, source: "input.csv") { precondition(!CSV.line(row).isEmpty) }
  }

  /// What `compare` does with a result, in each of its formats.
  static let comparison = Reader("comparison", tokens: columns) { bytes in
    let set = ResultSet(name: "input.csv", rows: try CSV.rows(bytes, source: "input.csv"), record: nil)
    _ = try GoFormat.text([set])
    _ = try GitHubBenchmark.text(set)
    let comparisons = [
      ([set], try Comparison(set, reference: "foundation", metrics: .matching { _ in true }, seed: 1)),
      ([set, set], try Comparison(before: set, after: set, metrics: .primary, seed: 1)),
    ]
    for (sets, comparison) in comparisons {
      let report = ComparisonReport(comparison)
      _ = report.table()
      _ = report.csv()
      _ = try FactsDocument(comparison, of: sets, reference: nil).json()
    }
  }

  /// Simulated rows, and all that a report and a table make of them.
  static let simulated = Reader(
    "simulated",
    tokens: separators + SimulationHeader.columns + [
      "simulated,1,", "pool", "pool(own=lifo)", "1e308", "1e-320", "nan", "inf", "-1", "0", "1e30",
    ]
  ) { bytes in
    let file = try SimulatedFile(Data(bytes), path: "input.csv", record: nil)
    _ = try FactsDocument([], simulated: [file], reference: nil).json()
    _ = try SimulatedText([file]).text(width: 80)
  }

  /// A list of limits, judged by nothing.
  static let limits = Reader(
    "limits",
    tokens: json + [
      "\"label\":", "\"benchmark\":", "\"params\":", "\"metric\":", "\"subject\":", "\"over\":", "\"most\":",
      "\"slope\":", "\"from\":", "\"each\":", "\"is_exact\":", "\"detail\":",
    ]
  ) { bytes in
    let limits = try Limit.read(Data(bytes), path: "input.json")
    _ = Limit.benchmarks(limits)
    _ = try LimitTable(limits, []).text()
  }

  /// The environment beside a result.
  static let environment = Reader(
    "environment",
    tokens: json + [
      "\"schema\":", "\"run_id\":", "\"commit\":", "\"allocator\":", "\"seed\":", "\"effort\":", "\"spin\":",
      "\"rounds_per_microsecond\":", "\"context\":", "\"cells\":", "\"outcome\":", "\"repeats\":", "\"failures\":",
      "\"disturbed_blocks\":", "\"excluded_blocks\":", "\"blocks\":", "\"values\":", "\"host\":", "\"machines\":",
      "\"cell\":", "\"simulation\":", "\"shard\":", "\"number\":", "\"count\":", "\"plan\":", "\"scenarios\":",
      "\"shards\":",
    ]
  ) { bytes in
    let record = try RunRecord.parse(Data(bytes), path: "input.env.json")
    precondition(ResultSet(name: "input.csv", rows: [], record: record).rows.isEmpty)
    // What processes of a resumed run would do, for 1,000 s at most.
    precondition(record.machines.allSatisfy { $0.spin.rounds(nanoseconds: 1e12) >= 0 })
    precondition(record.outcome.repeats.allSatisfy { $0.count > 0 })
    // What is written reads back.
    let written = try RunRecord.parse(Data(try record.json().utf8), path: "written.env.json")
    precondition(written == record)
  }

  static let thresholds = Reader(
    "thresholds",
    tokens: json + [
      "\"schema\":", "\"calibrations\":", "\"provenance\":", "\"entries\":", "\"medians\":", "\"threshold\":",
      "\"metric\":", "\"spread\":",
    ]
  ) { bytes in
    _ = try GateThresholds.parse(Data(bytes), path: "input.json").text()
  }

  static let allocations = Reader(
    "allocations",
    tokens: json + [
      "\"schema\":", "\"builds\":", "\"build\":", "\"provenance\":", "\"entries\":", "\"allocations_per_op\":",
      "\"bytes_per_op\":", "\"threads_created\":",
    ]
  ) { bytes in
    _ = try AllocationRecord.parse(Data(bytes), path: "input.json").text()
  }

  /// The log of the gate's test of itself, and the table made of it.
  static let selfTest = Reader(
    "self-test",
    tokens: json + [
      "\n", "\"test\":", "\"verdict\":", "\"equal\"", "\"slower\"", "\"pass\"", "\"regression\"", "\"seconds\":",
    ]
  ) { bytes in
    let rates = SelfTestRates(try SelfTestRun.parse(bytes, path: "input.jsonl"))
    precondition(!rates.text.isEmpty && rates.next(of: 1_000) != nil)
  }

  /// What measuring processes print, peers among them.
  static let resultLine = Reader(
    "result-line", tokens: ["\t", "reading", "repeats", "traced", "failure", "end", "1", "-1", "nan", "a=b", ";", "="]
  ) { bytes in
    guard let line = ResultLine(String(decoding: bytes, as: UTF8.self)) else { return }
    guard ResultLine(line.text) != nil else { throw Complaint(.software, "\(line.text) does not read back") }
  }

  /// What the program of a peer says of itself.
  static let introduction = Reader(
    "introduction", tokens: ["\t", "\n", "opbench-peer\t1", "version", "only", "benchmark", "end", "a/b", "=", ";"]
  ) { bytes in
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    do {
      let said = try PeerIntroduction(lines: lines)
      precondition(!said.version.isEmpty && !said.benchmarks.isEmpty)
    } catch { throw Complaint(.badInput, "the program \(error)") }
  }

  /// The list of what a published campaign holds.
  static let manifest = Reader(
    "manifest",
    tokens: [
      "\n", "  ", "# ", "# opbench-archive 1\n", "# table ", ": ", "compare", "..", "/",
      String(repeating: "0", count: 64) + "  a",
    ]
  ) { bytes in
    let manifest = try ArchiveManifest(String(decoding: bytes, as: UTF8.self), of: "input")
    _ = try ArchiveManifest(manifest.text, of: "input")
  }

  static let callgrind = Reader("callgrind", tokens: ["==1== ", "Collected", " : ", "1", "\n", "inf"]) { bytes in
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    _ = Callgrind.collected(lines)
  }

  /// The argument of `measure`.
  static let request = Reader(
    "request",
    tokens: json + [
      "\"family\":", "\"benchmark\":", "\"parameters\":", "\"subject\":", "\"workers\":", "\"mode\":", "\"time\":",
      "\"repeats\":", "\"values\":", "\"leadIn\":", "\"spin\":", "\"context\":", "\"allocator\":",
    ]
  ) { bytes in
    _ = try MeasureRequest(encoded: String(decoding: bytes, as: UTF8.self)).encoded()
  }

  /// A command as a user writes it.
  static let command = Reader(
    "command", tokens: [" ", "'", "\"", "\\", "$", "|", "=", "a", "\t", "\n", "\u{0}", "é"]
  ) { bytes in
    let command = try CommandText(String(decoding: bytes, as: UTF8.self))
    for isShell in [false, true] { precondition(!command.arguments(throughShell: isShell)[0].isEmpty) }
  }

  /// What benchmark programs of other laboratories print.
  static let numbers = Reader(
    "numbers",
    tokens: json + [
      "\"benchmarks\":", "\"name\":", "\"run_type\":", "\"iteration\"", "\"aggregate\"", "\"real_time\":",
      "\"time_unit\":", "\"reason\":", "\"benchmark-complete\"", "\"id\":", "\"median\":", "\"estimate\":",
      "\"unit\":", "\"results\":", "\"command\":", "\"mean\":", "BenchmarkA-2 1 ", " ns/op", " allocs/op", "a 1 ms\n",
      " items/s", "nan", "inf", "-1",
    ]
  ) { bytes in
    for reader in NumberReader.allCases {
      guard let numbers = try? reader.numbers(in: bytes) else { continue }
      precondition(!numbers.isEmpty && numbers.values.allSatisfy { $0.isFinite && $0 >= 0 })
    }
  }
}
