import FoundationEssentials
import Glibc

/// What the gate is put to by its self-test, and what it must answer.
public enum SelfTestCase: String, Codable, CaseIterable, Sendable {
  /// The base against itself.
  case equal
  /// A fifth slower, where operations are added.
  case slower
  /// One more allocation per operation.
  case allocation
  /// Both sides fast or slow by luck, process by process.
  case noise

  public var expected: GateVerdict {
    switch self {
    case .equal: .pass
    case .slower, .allocation: .regression
    case .noise: .inconclusive
    }
  }

  /// How much slower `slower` is: the smallest slowdown that must be caught.
  public static let slowdown = 0.2
  /// What `noise` adds at most, as a multiple of what an operation takes.
  public static let noiseShare = 2.0

  public var words: String {
    switch self {
    case .equal: "base against base"
    case .slower: "adding made 20 % slower"
    case .allocation: "one more allocation"
    case .noise: "noise on both sides"
    }
  }

  public enum Outcome: Sendable {
    case right
    /// The machine let the gate say nothing; nothing wrong was said.
    case undecided
    case wrong
  }

  public func outcome(_ verdict: GateVerdict) -> Outcome {
    if verdict == expected { return .right }
    return verdict == .inconclusive ? .undecided : .wrong
  }
}

/// One run of one case, a line of the log that `--runs` appends to.
public struct SelfTestRun: Codable, Sendable {
  public let test: SelfTestCase
  public let verdict: GateVerdict
  public let seconds: Double
  public let stealShare: Double
  public let provenance: Provenance
  public let headline: String

  public init(_ test: SelfTestCase, _ report: GateReport) {
    self.test = test
    verdict = report.verdict
    seconds = (report.seconds * 10).rounded() / 10
    stealShare = (report.stealShare * 1e4).rounded() / 1e4
    provenance = report.provenance
    headline = report.headline
  }

  public func line() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }

  /// Takes a last line off a log that was cut off when it was written.
  public static func cutBack(_ path: String) throws {
    let bytes = try ResultSet.bytes(path)
    let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    guard whole < bytes.count, truncate(path, whole) != 0 else { return }
    throw Complaint(.inputOutput, "cannot write \(path): \(String(cString: strerror(errno)))")
  }

  /// Reads a log; a last line that was cut off is left out.
  public static func read(_ path: String) throws -> [SelfTestRun] {
    try parse(try ResultSet.bytes(path), path: path)
  }

  package static func parse(_ bytes: some Sequence<UInt8>, path: String) throws -> [SelfTestRun] {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let text = String(decoding: Array(bytes), as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    return try lines.dropLast().enumerated().map { index, line in
      guard let run = try? decoder.decode(SelfTestRun.self, from: Data(line.utf8)) else {
        throw Complaint(.badInput, "\(path): line \(index + 1) is no run of opbench gate --self-test --runs")
      }
      return run
    }
  }
}

/// How often the gate was right, over many runs.
public struct SelfTestRates {
  private let runs: [SelfTestRun]

  public init(_ runs: [SelfTestRun]) { self.runs = runs }

  /// Of some cases the one with the fewest runs, while one has fewer than asked for.
  public func next(of count: Int, among cases: [SelfTestCase] = SelfTestCase.allCases) -> SelfTestCase? {
    let done = cases.map { test in (test, runs.count { $0.test == test }) }
    guard let least = done.min(by: { $0.1 < $1.1 }), least.1 < count else { return nil }
    return least.0
  }

  public var text: String {
    let header = ["case", "runs", "pass", "regression", "inconclusive", "improvement", "as expected", "95 % interval"]
    let rows = SelfTestCase.allCases.map { test -> [String] in
      let verdicts = runs.filter { $0.test == test }.map(\.verdict)
      let right = verdicts.count { $0 == test.expected }
      let bounds = verdicts.isEmpty ? nil : BinomialBounds(hits: right, of: verdicts.count)
      func count(_ verdict: GateVerdict) -> String { "\(verdicts.count { $0 == verdict })" }
      return [
        test.words, "\(verdicts.count)", count(.pass), count(.regression), count(.inconclusive), count(.improvement),
        verdicts.isEmpty ? "-" : "\(GateFinding.percent(Double(right) / Double(verdicts.count))) %",
        bounds.map { "\(GateFinding.percent($0.lower)) to \(GateFinding.percent($0.upper)) %" } ?? "-",
      ]
    }
    return Table.aligned([header] + rows).joined(separator: "\n") + "\n" + falseAlarms
  }

  /// The two rates that a gate is judged by.
  private var falseAlarms: String {
    let equal = runs.filter { $0.test == .equal }
    guard !equal.isEmpty else { return "" }
    let alarms = equal.count { $0.verdict == .regression }
    let bounds = BinomialBounds(hits: alarms, of: equal.count)
    return "false alarms: \(alarms) of \(equal.count), at most \(GateFinding.percent(bounds.upper)) %\n"
  }
}
