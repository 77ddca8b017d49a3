import Glibc
import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessRunning
@testable import HarnessWords

struct ProcessRunnerTests {
  func shell(_ script: String, environment: [String: String] = [:], timeout: Double = 60) -> ProcessOutcome {
    ProcessRunner.run("sh", ["-c", script], environment: environment, timeout: timeout)
  }

  @Test func linesEnvironmentAndLastWords() {
    let outcome = shell(
      "echo one; echo \"$OPBENCH_TEST\"; echo first >&2; echo last >&2", environment: ["OPBENCH_TEST": "two words"])
    #expect(outcome.ending == .exited(0))
    #expect(outcome.lines == ["one", "two words"])
    #expect(outcome.lastWords == "last")
  }

  @Test func exitCodesAndSignals() {
    #expect(shell("exit 7").ending == .exited(7))
    #expect(shell("kill -SEGV $$").ending == .signalled(SIGSEGV))
  }

  @Test func aHungProcessIsKilledWithItsChildren() {
    let outcome = shell("echo before; sleep 1000 & wait", timeout: 0.5)
    #expect(outcome.ending == .timedOut)
    #expect(outcome.lines == ["before"])
  }

  @Test func muchOutputDoesNotBlock() {
    let outcome = shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; echo 0123456789 >&2; i=$((i+1)); done")
    #expect(outcome.ending == .exited(0) && outcome.lines.count == 20_000)
  }

  @Test func whatDoesNotExistIsNotStarted() {
    #expect(ProcessRunner.run("/no/such/program", [], timeout: 5).ending == .notStarted(ENOENT))
  }
}

extension ResultFiles {
  /// The files of a run that has begun.
  static func begun(csv: String, mayReplace: Bool = false) throws -> ResultFiles {
    let files = try ResultFiles(csv: csv, mayReplace: mayReplace)
    try files.begin(environment: "{}")
    return files
  }
}

struct ResultFilesTests {
  let folder = TemporaryFolder()

  @Test func nothingIsInPlaceBeforeItIsComplete() throws {
    _ = folder.write("earlier", to: "a.csv")
    let files = try ResultFiles.begun(csv: "\(folder.path)/a.csv", mayReplace: true)
    try files.append("row\r\n")
    #expect(folder.read("a.csv") == "earlier")
    try files.publish(environment: "{}")
    #expect(folder.contents == ["a.csv", "a.env.json"])
    #expect(folder.read("a.csv") == CSV.line(CSV.header) + "row\r\n")
    #expect(folder.read("a.env.json") == "{}")
  }

  @Test func discardingLeavesEarlierResults() throws {
    _ = folder.write("earlier", to: "a.csv")
    for isBegun in [false, true] {
      let files = try ResultFiles(csv: "\(folder.path)/a.csv", mayReplace: true)
      if isBegun { try files.begin(environment: "{}") }
      files.discard()
      #expect(folder.contents == ["a.csv"] && folder.read("a.csv") == "earlier")
    }
  }

  @Test func rowsAreAddedOneGroupBehindTheOther() throws {
    let files = try ResultFiles(csv: "\(folder.path)/a.csv")
    try files.begin(environment: "{}", keeping: CSV.line(Sample.result[0]))
    for text in [CSV.line(Sample.result[1]), "", Sample.result[2...].map(CSV.line).joined()] { try files.append(text) }
    #expect(folder.read("a.csv.partial") == Sample.csv)
  }

  /// Opening the files changes nothing yet: a run that is killed before it begins has lost nothing.
  @Test func whatWasLeftStaysUntilTheRunBegins() throws {
    _ = folder.write("left", to: "a.csv.partial")
    let files = try ResultFiles(csv: "\(folder.path)/a.csv")
    #expect(folder.contents == ["a.csv.partial"] && folder.read("a.csv.partial") == "left")
    try files.begin(environment: "{}", keeping: Sample.result.map(CSV.line).joined())
    #expect(folder.contents == ["a.csv.partial", "a.env.json.partial"])
    #expect(folder.read("a.csv.partial") == Sample.csv)
  }

  @Test func aFinishedResultIsReplacedOnlyWhenAsked() throws {
    let path = folder.write("earlier", to: "a.csv")
    #expect {
      try ResultFiles(csv: path, advice: "--again does")
    } throws: { $0 as? Complaint == Complaint(.cannotCreate, "\(path) holds a finished result: --again does") }
    #expect(folder.contents == ["a.csv"] && folder.read("a.csv") == "earlier")
    // What a run that was killed has left is no finished result, and stays when the new run does not begin.
    _ = folder.write("killed", to: "a.csv.partial")
    #expect(throws: Complaint.self) { try ResultFiles(csv: path) }
    #expect(folder.contents == ["a.csv", "a.csv.partial"] && folder.read("a.csv.partial") == "killed")
    try ResultFiles.begun(csv: path, mayReplace: true).publish(environment: "{}")
    #expect(folder.contents == ["a.csv", "a.env.json"] && folder.read("a.csv") == CSV.line(CSV.header))
  }

  @Test func oneAtATime() throws {
    let path = "\(folder.path)/a.csv"
    let isRefused: (any Error) -> Bool = {
      ($0 as? Complaint)?.code == .cannotCreate && "\($0)".contains("another run is writing \(folder.path)/")
    }
    let first = try ResultFiles.begun(csv: path)
    try first.append("row\r\n")
    #expect { try ResultFiles(csv: path, mayReplace: true) } throws: { isRefused($0) }
    #expect(symlink("a.csv", "\(folder.path)/b.csv") == 0)
    #expect { try ResultFiles(csv: "\(folder.path)/b.csv", mayReplace: true) } throws: { isRefused($0) }
    try first.publish(environment: "{}")
    #expect(folder.read("a.csv") == CSV.line(CSV.header) + "row\r\n")
    // Whoever has finished, given up or died holds nothing.
    try ResultFiles(csv: path, mayReplace: true).discard()
    do { _ = try ResultFiles(csv: path, mayReplace: true) }
    try ResultFiles(csv: path, mayReplace: true).discard()
    #expect(folder.contents == ["a.csv", "a.env.json", "b.csv"])
    let trace = try TraceOutput("\(folder.path)/t.json")
    #expect { try TraceOutput("\(folder.path)/t.json") } throws: { isRefused($0) }
    try trace.publish([:])
    #expect(folder.read("t.json")?.contains("traceEvents") == true)
    try TraceOutput("\(folder.path)/t.json").discard()
  }

  @Test func placesThatCannotBeWritten() {
    #expect { try ResultFiles(csv: "/no/such/folder/a.csv") } throws: { ($0 as? Complaint)?.code == .cannotCreate }
    #expect { try ResultFiles(csv: "a.txt") } throws: { ($0 as? Complaint)?.code == .usage }
    #expect(throws: Complaint.self) { try DescriptorOutput.write("x", to: -1, name: "nowhere") }
  }
}
