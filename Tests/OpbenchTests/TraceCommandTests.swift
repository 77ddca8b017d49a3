import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring

/// `--trace` as a user meets it.
@Suite(.ownThread) struct TraceCommandTests {
  /// The program itself: two backends of ours and a reference, in one file.
  @Test func theProgram() throws {
    let folder = TemporaryFolder()
    let path = "\(folder.path)/t.json"
    let run = ProcessRunner.run(
      BuiltOpbench.path,
      [
        "--backend", "stealing,threadpool", "--benchmark", "dependencies/diamond", "--blocks", "1", "--values", "1",
        "--workers", "2", "--output", "\(folder.path)/t.csv", "--trace", path,
      ], timeout: 300)
    #expect(run.ending == .exited(0), "\(run)")
    #expect(folder.contents == ["t.csv", "t.env.json", "t.json"])
    let trace = CheckedTrace(try #require(folder.read("t.json")))
    #expect(trace.problems.isEmpty, "\(trace.problems.prefix(3))")
    let names = trace.processNames.values.sorted()
    #expect(
      names.allSatisfy { $0.hasPrefix("dependencies/diamond ") } && names.contains { $0.hasSuffix(" stealing@2") }
        && names.contains { $0.hasSuffix(" threadpool@2") } && !names.contains { $0.contains("foundation") }, "\(names)"
    )
    #expect(trace.slices.contains { $0.category == "operation" } && !trace.arrows.isEmpty)
    for arrow in trace.arrows { #expect(trace.slices[arrow.from].process == trace.slices[arrow.to].process) }
  }

  @Test func theCommandLine() throws {
    let folder = TemporaryFolder()
    let csv = "\(folder.path)/t.csv"
    let run = ["--benchmark", "dependencies/diamond", "--output", csv]
    expectComplaint(
      73, ["/no/such/folder/t.json"], run + ["--trace", "/no/such/folder/t.json"])
    expectComplaint(64, ["--trace", ".json", "'t.txt'"], run + ["--trace", "t.txt"])
    expectComplaint(
      64, ["--trace", "stealing, threadpool, dispatch"],
      run + ["--backend", "foundation", "--trace", "\(folder.path)/t.json"])
    #expect(folder.contents.isEmpty)
    let dry = ProcessRunner.run(
      BuiltOpbench.path,
      ["--benchmark", "dependencies/diamond", "--dry-run", "--trace", "\(folder.path)/t.json"], timeout: 60)
    #expect(dry.lines.contains { $0.contains(" trace)") }, "\(dry.lines)")
    #expect(folder.contents.isEmpty)
    let traced = ProcessRunner.run(
      "sh", ["-c", "OPERATIONS_TRACE=\(folder.path)/x.json \"$0\" \"$@\" 2>&1", BuiltOpbench.path] + run,
      timeout: 60)
    #expect(traced.ending == .exited(64) && traced.lines.count == 1, "\(traced.lines)")
  }
}
