import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords

/// Where the rows and the table of a run go: to a program, to a file, to the reader of a log, to a terminal.
@Suite(.ownThread) struct DestinationTests {
  let folder = TemporaryFolder()
  static let run = [
    "run", "--quick", "--blocks", "1", "--values", "1", "--backend", "raw-dispatch", "--benchmark",
    "overhead/local-add",
  ]
  static let notice = "no rows, since a log takes the output: --output FILE.csv keeps the rows, --output - prints them"

  /// What the run prints where `redirection` sends it. CI is empty unless the test says otherwise.
  private func outcome(_ redirection: String, _ more: [String] = [], ci: String = "") -> ProcessOutcome {
    ProcessRunner.run(
      "sh", ["-c", "\"$0\" \"$@\" \(redirection)", BuiltOpbench.path] + Self.run + more, environment: ["CI": ci],
      timeout: 300)
  }

  /// Which of the two is faster in one short block is not this suite's question.
  private func isTable(_ text: String) -> Bool {
    text.contains("overhead/local-add  ops=10000\n") && text.contains("\noverhead: ")
  }

  private func isCSV(_ lines: [String]) -> Bool {
    lines.first == CSV.header.joined(separator: ",") + "\r" && lines.allSatisfy { $0.split(separator: ",").count >= 13 }
  }

  /// `opbench | program` and `opbench > x.csv`.
  @Test func aProgramAndAFileGetTheRows() throws {
    let piped = outcome("2> \(folder.path)/table")
    #expect(piped.ending == .exited(0) && isCSV(piped.lines), "\(piped)")
    #expect(isTable(try #require(folder.read("table"))))
    #expect(folder.read("table")?.contains("no rows") == false)
    for ci in ["", "true"] {
      let filed = outcome("2>&1 > \(folder.path)/x.csv", ci: ci)
      #expect(filed.ending == .exited(0) && isTable(filed.lines.joined(separator: "\n")), "\(filed)")
      #expect(isCSV(try #require(folder.read("x.csv")).split(separator: "\r\n").map { $0 + "\r" }))
    }
  }

  /// `opbench 2>&1 | tee log`, and `opbench > log 2>&1`.
  @Test func theReaderOfALogGetsTheTableAlone() throws {
    let piped = outcome("2>&1")
    let filed = outcome("> \(folder.path)/log 2>&1")
    for (outcome, text) in [(piped, piped.lines.joined(separator: "\n")), (filed, folder.read("log") ?? "")] {
      #expect(outcome.ending == .exited(0) && isTable(text), "\(text)")
      #expect(!text.contains("schema,run_id") && !text.contains("raw-dispatch,2,ns_per_op"), "\(text)")
      #expect(text.split(separator: "\n").count { $0.hasSuffix(Self.notice) } == 1, "\(text)")
    }
    #expect(folder.contents == ["log"])
  }

  @Test func continuousIntegrationLogsItsPipes() throws {
    let logged = outcome("2> \(folder.path)/errors", ci: "true")
    #expect(logged.ending == .exited(0) && isTable(logged.lines.joined(separator: "\n")), "\(logged)")
    #expect(folder.read("errors")?.contains(Self.notice) == true)
    // A dash asks for the rows all the same, wherever they go.
    let asked = outcome("2> \(folder.path)/table", ["--output", "-"], ci: "true")
    #expect(asked.ending == .exited(0) && isCSV(asked.lines), "\(asked)")
    #expect(isTable(try #require(folder.read("table"))))
    let both = outcome("2>&1", ["--output", "-"])
    let text = both.lines.joined(separator: "\n")
    #expect(isTable(text) && text.contains(CSV.header.joined(separator: ",")) && !text.contains("no rows"), "\(text)")
  }

  /// Before anything is measured. Afterwards the rows would be lost.
  @Test(arguments: [[String](), ["--output", "-"]])
  func aClosedStandardOutputIsRefused(more: [String]) {
    let closed = outcome(">&-", more)
    #expect(closed.ending == .exited(73) && closed.lines.isEmpty, "\(closed)")
    #expect(
      closed.lastWords == "opbench: standard output is closed, and the rows would be lost: --output FILE.csv takes them"
    )
    let all = outcome(">&- 2>&- <&-", more)
    #expect(all.ending == .exited(73), "\(all)")
  }

  @Test func aTerminalGetsTheTableAndAFileTheRows() async throws {
    var master: Int32 = 0
    var terminal: Int32 = 0
    var size = winsize(ws_row: 24, ws_col: 99, ws_xpixel: 0, ws_ypixel: 0)
    try #require(openpty(&master, &terminal, nil, nil, &size) == 0)
    let name = try #require(ttyname(terminal).map { String(cString: $0) })
    let shown = folder.write("", to: "shown")
    // Somebody must read the terminal while the run writes to it.
    let reader = master
    async let reading: Void = {
      let copy = open(shown, O_WRONLY)
      defer { close(copy) }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      while true {
        let count = read(reader, &bytes, bytes.count)
        guard count > 0 else { return }
        _ = write(copy, bytes, count)
      }
    }()
    let path = folder.path
    let there = ProcessRunner.run(
      "sh", ["-c", "cd \(path) && \"$0\" \"$@\" > \(name) 2> errors", BuiltOpbench.path] + Self.run,
      environment: ["CI": "true"], timeout: 300)
    close(terminal)
    await reading
    close(master)
    #expect(there.ending == .exited(0), "\(there)")
    let text = try #require(folder.read("shown")).replacing("\r\n", with: "\n")
    #expect(isTable(text) && !text.contains("schema,run_id"), "\(text)")
    let file = try #require(folder.contents.contains("local-results") ? folder.read("errors") : nil)
    #expect(file.contains("wrote local-results/") && !file.contains("no rows"), "\(file)")
  }
}
