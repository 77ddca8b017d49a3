import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessWords

/// `ablate` as a user meets it.
@Suite(.ownThread) struct AblateCommandTests {
  /// Few changes on one benchmark, some seconds each.
  private static let short = ["ablate", "stealing", "--decision", "steal,lost", "--benchmark", "external-add"]

  private func run(_ arguments: [String]) -> ProcessOutcome {
    ProcessRunner.run(BuiltOpbench.path, arguments, environment: BuiltOpbench.onQuietMachine, timeout: 300)
  }

  /// All rows, also of blocks that other guests have disturbed.
  private func rows(_ folder: TemporaryFolder) throws -> [Row] {
    try CSV.rows(Array(try #require(folder.read("a.csv")).utf8), source: "a.csv")
  }

  @Test func theChangesOfADecisionStandBesideTheDefault() throws {
    let folder = TemporaryFolder()
    let file = "\(folder.path)/a.csv"
    let outcome = run(Self.short + ["--blocks", "6", "--values", "1", "--workers", "2", "--output", file])
    #expect(outcome.ending == .exited(0), "\(outcome)")
    // Nothing is surely better with six blocks of everything, so there are no pairs.
    #expect(folder.contents == ["a.csv", "a.env.json"])
    let text = outcome.lines.joined(separator: "\n")
    for change in ["steal=half", "steal=upto:8", "lost=next"] { #expect(text.contains("\n\(change) "), "\(text)") }
    #expect(text.contains(" intervals together\nhold") || text.contains(" intervals together hold"), "\(text)")
    let rows = try rows(folder)
    let names = Set(rows.map(\.cell.arm.description))
    #expect(
      names == ["stealing@2", "stealing(steal=half)@2", "stealing(steal=upto:8)@2", "stealing(lost=next)@2"])
    // All changes fit into one turn beside the default.
    for name in names {
      let own = rows.filter { $0.cell.arm.description == name && $0.reading.metric == .nsPerOp }
      #expect(Set(own.map(\.block)) == Set(1...6), "\(name)")
    }
    #expect(rows.contains { $0.reading.metric == .stealsPerOp } && !rows.contains { $0.block == 0 })
    let record = try #require(folder.read("a.env.json"))
    #expect(record.contains("\"strategies\"") && record.contains("half of what the other one has"))
    #expect(record.contains("\"reference\" : \"stealing\""))
    // Given again, the command goes on, and has nothing left to do.
    let again = run(
      Self.short + ["--blocks", "6", "--values", "1", "--workers", "2", "--output", file, "--resume"])
    #expect(again.ending == .exited(0), "\(again)")
    #expect(try self.rows(folder).count == rows.count)
  }

  @Test func whatWouldRunIsSaid() throws {
    let dry = run(["ablate", "threadpool", "--dry-run", "--budget", "10m"]).lines.joined(separator: "\n")
    #expect(dry.hasPrefix("the default, threadpool@"))
    for change in ["order=fifo", "locks=perlevel", "waiting=helps", "search=yield:5"] {
      #expect(dry.contains("\n  threadpool(\(change))\n"), "\(change)")
    }
    #expect(dry.contains("then the time goes where the verdict is open, until 3 % or 10m 0s"))
    let short = run(["ablate", "--dry-run", "--budget", "5s"]).lines.joined(separator: "\n")
    #expect(short.contains("6 blocks of every change take about ") && short.contains(", longer than 5s; "))
  }

  @Test func mistakesAreOneLine() throws {
    let folder = TemporaryFolder()
    func complains(_ code: Int32, _ words: [String], _ arguments: [String]) {
      expectComplaint(code, words, ["ablate"] + arguments)
    }
    complains(64, ["'foundation' has no strategy to choose: stealing, threadpool have"], ["foundation"])
    complains(64, ["there is no decision 'ends' of stealing: there are own, "], ["--decision", "ends"])
    complains(64, ["--decision takes names of decisions with commas: own, "], ["--decision", ","])
    complains(64, ["'rank-error' matches no benchmark that has a time"], ["--benchmark", "rank-error"])
    complains(64, ["ablate has no --quick: --budget 2m takes less time"], ["--quick"])
    complains(64, ["it takes a count from 1 to 1024"], ["--workers", "0"])
    complains(64, ["no benchmark matches 'zzz'"], ["--benchmark", "zzz"])
    // A file of pairs that could not be replaced is found before anything is measured.
    _ = folder.write("old", to: "a.pairs.csv")
    complains(
      73, ["a.pairs.csv holds a finished result: --overwrite replaces it"], ["--output", "\(folder.path)/a.csv"])
    #expect(folder.contents == ["a.pairs.csv"])
  }
}
