import FoundationEssentials
import Glibc
import HarnessMeasuring
import LaboratorySupport
import ParserEngine
import TestSupport
import Testing

/// The program itself on changed files: it succeeds, or ends with a code of sysexits.h and one line.
@Suite struct ProgramFuzzTests {
  /// Each starts a process.
  private static let inputs = part(15, of: 40)

  private let folder = FileManager.default.temporaryDirectory.path + "/opbench-fuzz-\(UUID().uuidString)"

  private func write(_ bytes: [UInt8], _ name: String) -> String {
    let file = "\(folder)/\(name)"
    _ = FileManager.default.createFile(atPath: file, contents: Data(bytes))
    return file
  }

  private static func text(_ file: String) -> String {
    String(decoding: FileManager.default.contents(atPath: file) ?? Data(), as: UTF8.self)
  }

  private func corpus(_ name: String) throws -> (reader: Reader, inputs: [[UInt8]]) {
    let reader = try #require(Reader.all.first { $0.name == name })
    return (reader, reader.corpus.map(\.bytes))
  }

  /// What is wrong with how it ended; nil when nothing is.
  private func objection(_ arguments: [String]) -> String? {
    // What it says on standard error alone.
    let outcome = ProcessRunner.run(
      "sh", ["-c", "\"$0\" \"$@\" 2>&1 >/dev/null", BuiltOpbench.path] + arguments, timeout: 60)
    guard case .exited(let code) = outcome.ending else { return "it \(outcome.ending.description)" }
    if code == 0 { return nil }
    guard (64...78).contains(code) else { return "it ended with \(code): \(outcome.lines)" }
    return outcome.lines.count == 1 && outcome.lines[0].hasPrefix("opbench: ") && outcome.lines[0].count > 9
      ? nil : "it said \(outcome.lines)"
  }

  @Test func `comparing changed results`() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (reader, results) = try corpus("comparison")
    let environments = try corpus("environment").inputs
    var mutation = Mutation(tokens: reader.tokens, seed: 1)
    for index in 0..<Self.inputs {
      let result = results[index % results.count]
      let environment = environments[index % environments.count]
      // Some stay as they are, so that the other of the two is read.
      let csv = write(index % 4 == 0 ? result : mutation.mutated(result, with: results[0]), "a.csv")
      let isChanged = index % 3 == 0
      _ = write(isChanged ? mutation.mutated(environment, with: environments[0]) : environment, "a.env.json")
      let format = ["table", "csv", "json", "go", "github-action-benchmark"][index % 5]
      let arguments = ["compare", csv, "--format", format] + (index % 2 == 0 ? [] : ["--metric", ".*"])
      let objection = objection(arguments)
      #expect(objection == nil, "\(format): \(Self.text(csv))")
    }
  }

  @Test func `planning changed workflows`() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (reader, workflows) = try corpus("workflow")
    var mutation = Mutation(tokens: reader.tokens, seed: 1)
    for index in 0..<Self.inputs {
      let workflow = workflows[index % workflows.count]
      let file = write(index < workflows.count ? workflow : mutation.mutated(workflow, with: workflows[0]), "g.json")
      let objection = objection(["run", "--benchmark", "dependencies/replay", "--graph", file, "--dry-run"])
      #expect(objection == nil, "\(Self.text(file))")
    }
  }

  @Test func `listing whatever follows`() {
    #expect(objection(["list"]) == nil)
    var random = RandomArguments(seed: 2)
    for _ in 0..<Self.inputs {
      // What cannot be an argument at all ends at its zero byte.
      let arguments = random.next().filter { !$0.utf8.contains(0) }
      // Help is no list, and nothing must run.
      let isRun = arguments.contains { ["run", "gate", "report", "validate", "measure"].contains($0) }
      if isRun { continue }
      let objection = objection(["list"] + arguments)
      #expect(objection == nil, "\(arguments)")
    }
  }
}
