import FoundationEssentials
import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring

/// `scripts/gate` in a small repository, with a compiler that copies a program instead of building one.
@Suite(.ownThread) struct GateScriptTests {
  /// `scripts/gate`, with the user's change in the working tree.
  private final class Repository {
    let small: ScriptRepository
    var folder: TemporaryFolder { small.folder }
    var path: String { small.path }
    var own: [String: String] { small.own }
    var builds: Int { small.builds }

    init() throws {
      small = try ScriptRepository()
      small.sh("echo mine >>version")
    }

    func run(_ program: String, _ arguments: [String], _ environment: [String: String] = [:]) -> ProcessOutcome {
      small.run(program, arguments, environment)
    }

    func gate(_ arguments: String..., environment: [String: String] = [:]) -> ProcessOutcome {
      run("scripts/gate", arguments, environment)
    }
  }

  @Test func bothRevisionsAreBuiltOnceAndTheCheckoutIsLeftAlone() throws {
    let repository = try Repository()
    let before = repository.run("git", ["status", "--porcelain"]).lines
    let first = repository.gate("one", "two", "--tiers", "2")
    #expect(first.ending == .exited(0), "\(first.lastWords ?? "")")
    // The program of the checkout, as it lies there, is started with those of the two commits.
    let line = try #require(first.lines.last)
    #expect(line.hasPrefix("mine: gate --base ") && first.lines.dropLast().last == "version two")
    #expect(line.contains("--base-name one (") && line.contains("--head-name two (") && line.hasSuffix("--tiers 2"))
    #expect(repository.builds == 3)
    // Nothing is left but the programs and the logs.
    #expect(repository.run("git", ["worktree", "list"]).lines.count == 1)
    #expect(repository.run("git", ["status", "--porcelain"]).lines == before)
    let left = repository.run("sh", ["-c", "ls .build/gate/*"]).lines.filter { !$0.isEmpty && !$0.hasPrefix(".build") }
    #expect(Set(left) == ["build.log", "opbench"], "\(left)")

    let second = repository.gate("one", "two")
    #expect(second.ending == .exited(0) && repository.builds == 4, "only the gate's own program is built again")
    let third = repository.gate("one", "two", environment: ["COMPILER": "2"])
    #expect(third.ending == .exited(0) && repository.builds == 7, "another compiler makes other programs")
  }

  @Test func aProgramThatCannotBeKeptIsNotTakenForOne() throws {
    let repository = try Repository()
    let silent = repository.gate("one", "two", environment: ["SHOW_CODE": "1"])
    #expect(silent.ending == .exited(70), "\(silent.lines)")
    #expect(silent.lastWords?.contains("'one' does not say where its program is") == true)
    // A copy that fails half way, as on a full disk.
    let folder = "\(repository.path)/tools"
    let copy = """
      #!/bin/sh
      for last; do :; done
      case $last in *opbench.new) echo half >"$last"; chmod +x "$last"; exit 1 ;; esac
      exec /bin/cp "$@"
      """
    repository.folder.writeProgram(copy, to: "tools/cp")
    for _ in 1...2 {
      let half = repository.gate("one", "two")
      #expect(half.ending == .exited(73), "\(half.lines)")
      #expect(half.lastWords?.contains("cannot keep the program of 'one'") == true)
    }
    unlink("\(folder)/cp")
    #expect(repository.gate("one", "two").ending == .exited(0))
  }

  @Test(arguments: ["2", "3", "4"])
  func theVerdictIsTheExitCode(code: String) throws {
    let repository = try Repository()
    #expect(repository.gate("one", ".", environment: ["GATE_CODE": code]).ending == .exited(Int32(code)!))
  }

  @Test func whatCannotBeBuiltCostsALine() throws {
    let repository = try Repository()
    for (arguments, code, words) in [
      (["nowhere", "two"], Int32(66), "no revision 'nowhere'"), (["one", "nowhere"], 66, "no revision 'nowhere'"),
      (["one"], 64, "usage"), ([], 64, "usage"), (["--tiers", "0"], 64, "usage"),
    ] {
      let outcome = repository.run(
        "sh", ["-c", "scripts/gate \"$@\" 2>&1", "sh"] + arguments, repository.own)
      #expect(outcome.ending == .exited(code) && outcome.lines.count == 1, "\(outcome.lines)")
      #expect(outcome.lines.first?.contains(words) == true, "\(outcome.lines)")
    }
    #expect(repository.builds == 0)

    let broken = repository.gate("one", "broken")
    #expect(broken.ending == .exited(65))
    #expect(broken.lastWords?.contains("'broken' does not build: a.swift:1:1: error: it is broken") == true)
    #expect(repository.run("git", ["worktree", "list"]).lines.count == 1)
  }
}
