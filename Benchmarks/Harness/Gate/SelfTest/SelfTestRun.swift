import FoundationEssentials
import Glibc
import HarnessResults
import HarnessWords

/// One run of one case: a line of the log to which `--runs` appends.
package struct SelfTestRun: Codable, Sendable {
  package let test: SelfTestCase
  package let verdict: GateVerdict
  package let seconds: Double
  package let stealShare: Double
  package let provenance: Provenance
  package let headline: String

  package init(_ test: SelfTestCase, _ report: GateReport) {
    self.test = test
    verdict = report.verdict
    seconds = (report.seconds * 10).rounded() / 10
    stealShare = (report.stealShare * 1e4).rounded() / 1e4
    provenance = report.provenance
    headline = report.headline
  }

  package func line() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }

  /// Removes the last line of a log when the line was cut off while it was written.
  package static func cutBack(_ path: String) throws {
    let bytes = try ResultSet.bytes(path)
    let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    guard whole < bytes.count, truncate(path, whole) != 0 else { return }
    throw Complaint(.inputOutput, "cannot write \(path): \(String(cString: strerror(errno)))")
  }

  /// Reads a log. A last line that was cut off is left out.
  package static func read(_ path: String) throws -> [SelfTestRun] {
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
