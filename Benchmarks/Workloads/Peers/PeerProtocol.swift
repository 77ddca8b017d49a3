import HarnessMeasuring
import HarnessWords
import Subjects

/// What opbench and the program of a peer say to each other. `PeerProtocol.md` of the laboratory's pages has the words.
package enum PeerProtocol {
  package static let name = "opbench-peer"
  /// A program says this number, and opbench talks to no program that says another one.
  package static let version = 1
}

/// What a program answers when it is called with `version`.
package struct PeerIntroduction: Hashable, Sendable {
  /// The compiler and library, for the head of a table.
  package let version: String
  /// The benchmarks that it has, in its own order.
  package let benchmarks: [BenchmarkName]
  /// The parameters of which it knows one value only, such as `join=counter`.
  package let only: Parameters

  /// Asks a program. Throws what is wrong with the answer, in words that go on behind the name of the program.
  package init(of program: String, timeout: Double = 20) throws(CheckFailed) {
    let outcome = ProcessRunner.run(program, ["version"], timeout: timeout)
    guard outcome.ending == .exited(0) else {
      let words = outcome.lastWords.map { ", its last words: \($0)" } ?? ""
      throw CheckFailed("asked for its version, it \(outcome.ending.description)\(words)")
    }
    try self.init(lines: outcome.lines)
  }

  func peer(_ name: String, program: String) -> Peer {
    Peer.guest(
      name, program: program, version: version, benchmarks: Set(benchmarks.map(\.description)), join: only["join"])
  }

  package init(lines: [String]) throws(CheckFailed) {
    let right = [PeerProtocol.name, "\(PeerProtocol.version)"]
    var fields = lines.map { $0.split(separator: "\t", omittingEmptySubsequences: false).map(String.init) }[...]
    guard let first = fields.popFirst(), first == right else {
      let said = lines.first.map { "'\($0.replacing("\t", with: " "))'" } ?? "nothing"
      throw CheckFailed("speaks no \(right.joined(separator: " ")), but said \(said) when asked for its version")
    }
    guard fields.popLast() == ["end"] else { throw CheckFailed("does not end the answer to version with 'end'") }
    guard let version = fields.popFirst(), version.count == 2, version[0] == "version", !version[1].isEmpty else {
      throw CheckFailed("says no version, such as 'version', a tab and 'go1.27'")
    }
    var only: Parameters = [:]
    var benchmarks: [BenchmarkName] = []
    for line in fields {
      let words = line.count == 2 ? line[1] : ""
      let parts = words.split(separator: "/").map(String.init)
      if line[0] == "only", let parameters = Parameters(words), !parameters.isEmpty {
        only = only.merging(parameters)
      } else if line[0] == "benchmark", parts.count == 2, !benchmarks.contains(BenchmarkName(parts[0], parts[1])) {
        benchmarks.append(BenchmarkName(parts[0], parts[1]))
      } else {
        throw CheckFailed("says '\(line.joined(separator: " "))', which is neither a benchmark nor 'only key=value'")
      }
    }
    guard !benchmarks.isEmpty else { throw CheckFailed("names no benchmark") }
    (self.version, self.benchmarks, self.only) = (version[1], benchmarks, only)
  }
}
