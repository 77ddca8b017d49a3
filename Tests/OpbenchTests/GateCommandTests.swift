import FoundationEssentials
import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessWords

/// `opbench gate` as a user meets it.
@Suite(.ownThread) struct GateCommandTests {
  let folder = TemporaryFolder()
  static let program = BuiltOpbench.path

  func expectComplaint(
    _ code: Int32, _ words: [String], _ arguments: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) {
    LaboratorySupport.expectComplaint(code, words, ["gate"] + arguments, sourceLocation: sourceLocation)
  }

  @Test func everyOptionRefusesWhatMakesNoSense() throws {
    let own = Self.program
    expectComplaint(64, ["--base"])
    expectComplaint(64, ["--tiers", "'3'"], "--tiers", "3", "--base", own)
    expectComplaint(64, ["--tiers", "0, 1 and 2"], "--tiers", "", "--base", own)
    expectComplaint(64, ["'['", "regular expression"], "--base", own, "--benchmark", "[")
    expectComplaint(64, ["'nothing'", "the families overhead, dependencies"], "--base", own, "--benchmark", "nothing")
    // As in run, an expression may name parameters; without one that fits, what there is is named.
    expectComplaint(64, ["'chain length=7'"], "--base", own, "--benchmark", "chain length=7")
    expectComplaint(64, ["--all-of-base", "--base"], "--tiers", "0", "--all-of-base")
    expectComplaint(64, ["'fast'", "stealing"], "--base", own, "--backend", "fast")
    expectComplaint(64, ["30 to 1000", "5"], "--calibrate", "5", "--output", "\(folder.path)/t.json")
    expectComplaint(64, ["--output"], "--calibrate", "30")
    expectComplaint(64, ["--calibrate"], "--base", own, "--output", "\(folder.path)/t.json")
    expectComplaint(64, ["--base"], "--calibrate", "30", "--output", "\(folder.path)/t.json", "--base", own)
    expectComplaint(64, ["--markdown"], "--record", "\(folder.path)/a.json", "--markdown", "\(folder.path)/m.md")
    expectComplaint(
      64, ["leave one out"], "--record", "\(folder.path)/a.json", "--calibrate", "30", "--output",
      "\(folder.path)/t.json")
    expectComplaint(64, ["--tiers"], "--record", "\(folder.path)/a.json", "--tiers", "0")
    expectComplaint(64, ["--thresholds"], "--calibrate", "30", "--output", "\(folder.path)/t.json", "--thresholds", "x")
    expectComplaint(
      64, ["same file"], "--base", own, "--json", "\(folder.path)/r", "--markdown", "\(folder.path)/r")
    expectComplaint(64, ["--self-test", "--tiers"], "--self-test", "--tiers", "0")
    expectComplaint(64, ["--self-test", "--thresholds"], "--self-test", "--thresholds", "x")
    expectComplaint(64, ["--seed"], "--base", own, "--seed", "x")
    for option in [["--whole"], ["--runs", "3"], ["--log", "l"], ["--minutes", "1"]] {
      LaboratorySupport.expectComplaint(64, [option[0], "--self-test"], ["gate", "--base", own] + option)
    }
    expectComplaint(64, ["--self-test"], "--self-test", "--base", own)
    expectComplaint(64, ["--self-test"], "--self-test", "--json", "\(folder.path)/j.json")
    expectComplaint(64, ["--runs", "1 to"], "--self-test", "--runs", "0", "--log", "\(folder.path)/l")
    expectComplaint(64, ["--log"], "--self-test", "--runs", "1")
    expectComplaint(64, ["--minutes"], "--self-test", "--runs", "1", "--log", "\(folder.path)/l", "--minutes", "0")
    expectComplaint(64, ["--runs"], "--self-test", "--minutes", "1")
    expectComplaint(73, ["/no/such/folder/l"], "--self-test", "--runs", "1", "--log", "/no/such/folder/l")
    #expect(folder.contents == [])
  }

  @Test func filesThatAreMissingOrWrong() throws {
    let wrong = folder.write("{}", to: "wrong.json")
    let arguments = ["--base", Self.program]
    for option in ["--thresholds", "--allocations", "--base-allocations"] {
      LaboratorySupport.expectComplaint(
        66, ["no.json", "no such file"], ["gate", option, "\(folder.path)/no.json", "--tiers", "0"])
      LaboratorySupport.expectComplaint(65, ["wrong.json"], ["gate", option, wrong] + arguments)
    }
    expectComplaint(65, ["wrong.json"], "--calibrate", "30", "--output", wrong)
    expectComplaint(65, ["wrong.json"], "--record", wrong)
    // The report has no place to go: said before anything is measured.
    expectComplaint(73, ["/no/such/r.json"], "--tiers", "0", "--json", "/no/such/r.json")
    expectComplaint(73, ["is a folder"], "--tiers", "0", "--json", folder.path)
    expectComplaint(73, ["/no/such/r.md"], "--tiers", "0", "--markdown", "/no/such/r.md")
    expectComplaint(73, ["/no/such/t.json"], "--calibrate", "30", "--output", "/no/such/t.json")
    expectComplaint(73, ["/no/such/a.json"], "--record", "/no/such/a.json")
    #expect(folder.read("wrong.json") == "{}" && folder.contents == ["wrong.json"])
  }

  func script(_ text: String, in folder: TemporaryFolder) -> String {
    let path = folder.write("#!/bin/sh\n" + text + "\n", to: "program")
    chmod(path, 0o755)
    return path
  }

  /// A benchmark that the change removes is named, or fails the gate.
  @Test func aBenchmarkThatOnlyTheBaseHasIsNamed() throws {
    let base = script(
      """
      [ "$2" = suite ] || exec \(Self.program) "$@"
      \(Self.program) measure suite | sed '/^end$/d'
      printf 'gated\\toverhead\\tlocal-add-old\\tops=7\\tstealing\\t1\\tns_per_op ns 2\\tallocations\\nend\\n'
      """, in: folder)
    let words = "overhead/local-add-old ops=7 is gone: the base has it, and the head has not"
    let arguments = ["gate", "--tiers", "0", "--base", base, "--benchmark", "local-add"]
    let named = ProcessRunner.run(Self.program, arguments, timeout: 120)
    #expect(named.ending == .exited(0) && named.lines.contains("note: \(words)"), "\(named)")
    let failed = ProcessRunner.run(Self.program, arguments + ["--all-of-base"], timeout: 120)
    #expect(failed.ending == .exited(2), "\(failed)")
    #expect(failed.lines.contains { $0.contains("REGRESSION") && $0.contains(words) }, "\(failed.lines)")
    #expect(failed.lines.last?.hasSuffix("; regression: \(words)") == true, "\(failed.lines)")
    // Another choice of benchmarks does not miss it.
    let other = ["gate", "--tiers", "0", "--base", base, "--benchmark", "fan-out", "--all-of-base"]
    #expect(ProcessRunner.run(Self.program, other, timeout: 120).ending == .exited(0))
  }

  @Test func programsThatAreNone() throws {
    expectComplaint(66, ["--base", "no program"], "--base", "\(folder.path)/none")
    expectComplaint(66, ["--head", "no program"], "--head", "\(folder.path)/none", "--tiers", "0")
    expectComplaint(66, ["cannot be executed"], "--base", folder.write("text", to: "text"))
    expectComplaint(66, ["cannot be executed"], "--base", folder.path)
    expectComplaint(65, ["neither opbench nor", "exit code 0"], "--base", script("echo hello", in: folder))
    // Programs that speak another protocol of measuring processes.
    for (answer, words) in [
      (#"printf 'suite\t1\trelease\nend\n'"#, ["protocol 1", "older", "build it"]),
      (#"printf 'suite\t9\trelease\nend\n'"#, ["protocol 9", "newer"]),
      ("echo measure takes the request that run writes >&2; exit 64", ["protocol 0", "older"]),
    ] { expectComplaint(65, words, "--base", script(answer, in: folder)) }
    expectComplaint(
      65, ["exit code 3", "its last words: broken"], "--base", script("echo broken >&2; exit 3", in: folder))
    expectComplaint(65, ["killed by signal 11"], "--base", script("kill -SEGV $$", in: folder))
    expectComplaint(65, ["did not finish in time"], "--base", script("sleep 100", in: folder))
  }

  /// It says what it offers as the real one does, and fails when it is to measure.
  @Test func aBaseThatBreaksLaterCostsALine() throws {
    for (failure, words) in [
      ("exit 9", "exit code 9"), ("kill -KILL $$", "signal 9"),
      ("echo nonsense", "the process wrote 'nonsense' among its results"),
    ] {
      let broken = script("[ \"$2\" != suite ] || exec \(Self.program) measure suite\n\(failure)", in: folder)
      let outcome = ProcessRunner.run(
        Self.program, ["gate", "--base", broken, "--tiers", "2", "--benchmark", "local-add"], timeout: 120)
      #expect(outcome.ending == .exited(69))
      #expect(outcome.lastWords?.contains("the base cannot be measured") == true, "\(outcome.lastWords ?? "")")
      #expect(outcome.lastWords?.contains(words) == true, "\(outcome.lastWords ?? "")")
    }
  }

  @Test func aDebugBuildIsNotComparedWithAReleaseBuild() throws {
    let other = GateSuite.ownBuild == "debug" ? "release" : "debug"
    let suite = GateSuite(build: other, cells: []).lines.joined(separator: "\\n")
    expectComplaint(65, ["debug build", "release build"], "--base", script("printf '\(suite)\\n'", in: folder))
  }

  /// The whole way from a record to a verdict and its files, on what does not depend on the machine's mood.
  @Test(.enabled(if: Jemalloc.library() != nil))
  func tierZero() throws {
    let record = "\(folder.path)/allocations.json"
    // A benchmark of few operations: sixty processes are run.
    let select = ["--benchmark", "dependencies/tree"]
    let made = ProcessRunner.run(Self.program, ["gate", "--record", record] + select, timeout: 300)
    #expect(made.ending == .exited(0), "\(made.lastWords ?? "")")

    let gate = [
      "gate", "--tiers", "0", "--allocations", record, "--json", "\(folder.path)/r.json", "--markdown",
      "\(folder.path)/r.md",
    ]
    let same = ProcessRunner.run(Self.program, gate + select, timeout: 300)
    #expect(same.ending == .exited(0), "\(same.lines)")
    #expect(folder.contents == ["allocations.json", "r.json", "r.md"])
    #expect(folder.read("r.md")?.contains("Gate: pass") == true)

    // The record of a program that allocated less.
    let text = try #require(folder.read("allocations.json"))
    let fewer = try #require(try? Regex("\"allocations_per_op\" : \\[[^\\]]*\\]"))
    _ = folder.write(text.replacing(fewer, with: "\"allocations_per_op\" : [0, 0.5]"), to: "allocations.json")
    let more = ProcessRunner.run(Self.program, gate + select, timeout: 300)
    #expect(more.ending == .exited(2), "\(more.lines)")
    #expect(
      more.lines.last?.contains("regression: ") == true && more.lines.last?.contains("allocations_per_op") == true)
    #expect(folder.read("r.json")?.contains("\"verdict\" : \"regression\"") == true)
  }

  @Test func theControlAllocatesOnDemand() throws {
    guard let library = Jemalloc.library() else { return }
    func allocations(_ environment: [String: String]) throws -> Double {
      let cell = CellKey(
        Scenario(BenchmarkName("overhead", "local-add"), ["ops": "10000"]), Arm(subject: "control", workers: 1))
      let request = MeasureRequest(
        cell: cell, mode: .count(values: 1), seed: 1, spin: Spin(roundsPerMicrosecond: 1))
      let outcome = ProcessRunner.run(
        Self.program, ["measure", try request.encoded()],
        environment: Jemalloc.environment(library: library).merging(environment) { $1 }, timeout: 60)
      return try #require(GateRunner.medians(outcome.lines.compactMap(ResultLine.init))[.allocationsPerOp])
    }
    let more = try allocations(["OPBENCH_CONTROL_ALLOCATIONS": "2"]) - allocations([:])
    #expect(abs(more - 2) < 0.2, "\(more)")
  }
}
