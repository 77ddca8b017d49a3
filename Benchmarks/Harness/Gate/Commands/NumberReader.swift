import FoundationEssentials
import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// How the numbers of a command are read: those of its process, or those that a benchmark program prints.
package enum NumberReader: String, CaseIterable, Sendable {
  /// Time, CPU time, memory, switches and instructions of the process.
  case times
  /// Google Benchmark with `--benchmark_format=json`.
  case googleBenchmark = "google-benchmark"
  /// The messages of `cargo criterion --message-format=json`, or the files `estimates.json` of a folder.
  case criterion
  /// The lines of `go test -bench`.
  case go
  /// What `hyperfine --export-json` writes.
  case hyperfine
  /// Lines of `name value unit`.
  case lines

  /// What a program printed that has no number that this reader knows, in words that say what would be right.
  package struct Problem: Error, Hashable, Sendable {
    package let words: String

    package init(words: String) { self.words = words }
  }

  /// The most bytes of output that are read.
  package static let limit = 64 << 20

  /// The numbers in a text, each the median of those with the same name. Throws when there is none.
  package func numbers(in bytes: [UInt8]) throws(Problem) -> [NamedNumber: Double] {
    let all: [(NamedNumber, Double)] =
      switch self {
      case .times: []
      case .googleBenchmark: try googleBenchmark(bytes)
      case .criterion: criterion(bytes)
      case .go: go(Self.lines(bytes))
      case .hyperfine: try hyperfine(bytes)
      case .lines: plain(Self.lines(bytes))
      }
    return try Self.medians(all, else: "printed \(missing)")
  }

  /// The numbers in the files below a folder, as Criterion leaves them: `NAME/new/estimates.json`.
  package func numbers(inFolder folder: String) throws(Problem) -> [NamedNumber: Double] {
    var all: [(NamedNumber, Double)] = []
    let suffix = "/new/estimates.json"
    for file in ((try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []).sorted()
    where file.hasSuffix(suffix) {
      guard let data = FileManager.default.contents(atPath: "\(folder)/\(file)") else { continue }
      guard let estimates = decoded(CriterionEstimates.self, data) else {
        throw Problem(words: "left \(file), which is no file of estimates of Criterion")
      }
      all.append((NamedNumber(String(file.dropLast(suffix.count)), Self.time), estimates.median.pointEstimate))
    }
    return try Self.medians(all, else: "left no */new/estimates.json in \(folder)")
  }

  private static let time = Metric("time", unit: "ns")

  private static func medians(
    _ all: [(NamedNumber, Double)], else words: @autoclosure () -> String
  ) throws(Problem) -> [NamedNumber: Double] {
    let numbers = Dictionary(grouping: all.filter { $0.1.isFinite && $0.1 >= 0 }, by: \.0)
    guard !numbers.isEmpty else { throw Problem(words: words()) }
    return numbers.mapValues { Statistics.median($0.map(\.1)) }
  }

  /// The words for what was not printed.
  private var missing: String {
    switch self {
    case .times: "nothing"
    case .googleBenchmark: "no benchmark in the form of --benchmark_format=json"
    case .criterion: "no message benchmark-complete, as cargo criterion --message-format=json does"
    case .go: "no line of a benchmark, as go test -bench does"
    case .hyperfine: "no result of hyperfine --export-json"
    case .lines: "no line of name, value and unit, such as 'parse 12.5 ms'"
    }
  }

  private static func lines(_ bytes: [UInt8]) -> [Substring] {
    String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
  }

  /// The metric of a unit, and what a number in the unit is multiplied by to be in the metric's. Times are nanoseconds
  /// and sizes are bytes, so that programs may print them in any unit.
  private static func metric(_ unit: String) -> (metric: Metric, factor: Double) {
    let times = ["ns": 1, "us": 1e3, "µs": 1e3, "μs": 1e3, "ms": 1e6, "s": 1e9, "ns/op": 1, "ns/iter": 1]
    let sizes = [
      "B": 1, "bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 1_024, "MiB": 1_048_576, "GiB": 1_073_741_824,
      "B/op": 1,
    ]
    if let factor = times[unit] { return (time, factor) }
    if let factor = sizes[unit] { return (Metric(unit == "B/op" ? "B/op" : "size", unit: "bytes"), factor) }
    if unit.hasSuffix("/s"), let factor = sizes[String(unit.dropLast(2))] {
      return (Metric("throughput", unit: "bytes/s"), factor)
    }
    return (Metric(unit, unit: unit), 1)
  }

  // MARK: - Lines

  private func plain(_ lines: [Substring]) -> [(NamedNumber, Double)] {
    lines.compactMap { line in
      let fields = line.split { $0 == " " || $0 == "\t" }
      guard fields.count >= 3, let value = Double(fields[fields.count - 2]), let unit = fields.last else { return nil }
      let (metric, factor) = Self.metric(String(unit))
      return (NamedNumber(fields.dropLast(2).joined(separator: " "), metric), value * factor)
    }
  }

  /// `BenchmarkName-8   1000   1234 ns/op   56 B/op   2 allocs/op`: a name, a count, and pairs of number and unit.
  private func go(_ lines: [Substring]) -> [(NamedNumber, Double)] {
    lines.flatMap { line -> [(NamedNumber, Double)] in
      let fields = line.split { $0 == " " || $0 == "\t" }
      guard fields.count >= 4, fields[0].hasPrefix("Benchmark"), Int(fields[1]) != nil else { return [] }
      return stride(from: 2, to: fields.count - 1, by: 2).compactMap { place in
        guard let value = Double(fields[place]) else { return nil }
        let (metric, factor) = Self.metric(String(fields[place + 1]))
        return (NamedNumber(String(fields[0]), metric), value * factor)
      }
    }
  }

  // MARK: - JSON

  private func decoded<Form: Decodable>(_ form: Form.Type, _ bytes: some Sequence<UInt8>) -> Form? {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return try? decoder.decode(form, from: Data(bytes))
  }

  private struct GoogleBenchmark: Decodable {
    struct Entry: Decodable {
      let name: String
      let runName: String?
      let runType: String?
      let aggregateName: String?
      let realTime: Double?
      let timeUnit: String?
      let errorOccurred: Bool?
      let errorMessage: String?
    }
    let benchmarks: [Entry]
  }

  /// The times of the runs, or the medians where the program printed aggregates alone.
  private func googleBenchmark(_ bytes: [UInt8]) throws(Problem) -> [(NamedNumber, Double)] {
    // Other text may stand before the document.
    guard let brace = bytes.firstIndex(of: UInt8(ascii: "{")), let file = decoded(GoogleBenchmark.self, bytes[brace...])
    else { return [] }
    if let failed = file.benchmarks.first(where: { $0.errorOccurred == true }) {
      throw Problem(words: "says that \(failed.name) failed: \(failed.errorMessage ?? "without a reason")")
    }
    let runs = file.benchmarks.filter { $0.runType != "aggregate" }
    let kept = runs.isEmpty ? file.benchmarks.filter { $0.aggregateName == "median" } : runs
    return kept.compactMap { entry in
      guard let time = entry.realTime else { return nil }
      let (metric, factor) = Self.metric(entry.timeUnit ?? "ns")
      return (NamedNumber(entry.runName ?? entry.name, metric), time * factor)
    }
  }

  private struct CriterionEstimate: Decodable { let pointEstimate: Double }
  private struct CriterionEstimates: Decodable { let median: CriterionEstimate }

  private struct CriterionMessage: Decodable {
    struct Estimate: Decodable {
      let estimate: Double
      let unit: String
    }
    let reason: String
    let id: String
    let median: Estimate?
    let typical: Estimate?
  }

  private func criterion(_ bytes: [UInt8]) -> [(NamedNumber, Double)] {
    bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
      guard line.first == UInt8(ascii: "{"), let message = decoded(CriterionMessage.self, line),
        message.reason == "benchmark-complete", let estimate = message.median ?? message.typical
      else { return nil }
      let (metric, factor) = Self.metric(estimate.unit)
      return (NamedNumber(message.id, metric), estimate.estimate * factor)
    }
  }

  private struct Hyperfine: Decodable {
    struct Result: Decodable {
      let command: String
      let median: Double?
      let mean: Double
    }
    let results: [Result]
  }

  private func hyperfine(_ bytes: [UInt8]) throws(Problem) -> [(NamedNumber, Double)] {
    (decoded(Hyperfine.self, bytes)?.results ?? []).map { result in
      (NamedNumber(result.command, Self.time), (result.median ?? result.mean) * 1e9)
    }
  }
}
