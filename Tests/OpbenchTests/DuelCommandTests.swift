import FoundationEssentials
import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring

/// `opbench duel`, and `opbench gate` for commands, as a user meets them.
@Suite(.ownThread) struct DuelCommandTests {
  let folder = TemporaryFolder()

  private func run(_ arguments: [String]) -> ProcessOutcome {
    ProcessRunner.run(BuiltOpbench.path, arguments, environment: BuiltOpbench.onQuietMachine, timeout: 300)
  }

  private func expectComplaint(_ code: Int32, _ words: [String], _ arguments: String...) {
    // Warnings about the machine and progress stand before the complaint.
    let outcome = run(arguments)
    #expect(outcome.ending == .exited(code), "\(arguments): \(outcome)")
    #expect(outcome.lines.isEmpty, "\(outcome.lines)")
    for word in words { #expect(outcome.lastWords?.contains(word) == true, "\(arguments): \(outcome.lastWords ?? "")") }
  }

  @Test func badInput() throws {
    expectComplaint(64, ["a command is empty"], "duel", "", "true")
    expectComplaint(64, ["'ls \"a'", "does not end"], "duel", "ls \"a", "true")
    expectComplaint(64, ["--read takes", "'tims'", "did you mean times"], "duel", "true", "true", "--read", "tims")
    expectComplaint(64, ["--read-from needs --read"], "duel", "true", "true", "--read-from", "x")
    expectComplaint(64, ["--same-output"], "duel", "true", "true", "--same-output", "--read", "lines")
    expectComplaint(64, ["--warmup", "0 to 1000"], "duel", "true", "true", "--warmup", "-1")
    expectComplaint(64, ["--budget"], "duel", "true", "true", "--budget", "0s")
    expectComplaint(64, ["--goal"], "duel", "true", "true", "--goal", "2")
    expectComplaint(64, ["same file"], "duel", "true", "true", "--csv", "a", "--json", "a")
    expectComplaint(66, ["--input", "none"], "duel", "true", "true", "--input", "\(folder.path)/none")
    expectComplaint(73, ["/no/such/a.csv"], "duel", "true", "true", "--csv", "/no/such/a.csv")
    expectComplaint(69, ["A: there is no program 'no-such-program'"], "duel", "no-such-program", "true")
    expectComplaint(69, ["B: 'false' ended with exit code 1"], "duel", "true", "false")
    expectComplaint(69, ["'sleep 60' did not finish in time"], "duel", "true", "sleep 60", "--timeout", "1s")
    expectComplaint(69, ["'false' ended with exit code 1"], "duel", "true", "true", "--prepare", "false")
    expectComplaint(
      69, ["B: printed '2' where the first run printed '1'"], "duel", "echo 1", "echo 2", "--same-output")
    expectComplaint(69, ["printed no line of a benchmark"], "duel", "echo 1", "echo 1", "--read", "go")
    expectComplaint(69, ["left no file"], "duel", "true", "true", "--read", "go", "--read-from", "\(folder.path)/none")
    expectComplaint(
      65, ["no benchmark in common"], "duel", "echo a 1 ns", "echo b 1 ns", "--read", "lines", "--budget", "1s")
    #expect(folder.contents == [])
  }

  @Test func badInputOfTheGate() throws {
    expectComplaint(64, ["gate needs --head"], "gate", "--base", "true a")
    expectComplaint(64, ["gate needs --base"], "gate", "--head", "true a")
    expectComplaint(
      64, ["--tiers is for programs with a suite"], "gate", "--base", "true a", "--head", "true", "--tiers", "2")
    expectComplaint(64, ["--backend"], "gate", "--base", "true a", "--head", "true", "--backend", "stealing")
    expectComplaint(64, ["--build needs --run"], "gate", "--base", "a", "--head", "b", "--build", "make")
    expectComplaint(64, ["--benchmark needs --read"], "gate", "--base", "true a", "--head", "true", "--benchmark", "x")
    expectComplaint(64, ["--threshold"], "gate", "--base", "true a", "--head", "true", "--threshold", "0%")
    expectComplaint(64, ["same file"], "gate", "--base", "true a", "--head", "true", "--json", "r", "--markdown", "r")
    expectComplaint(64, ["--self-test takes no --budget"], "gate", "--self-test", "--budget", "1s")
    expectComplaint(69, ["the base cannot be measured: base: 'false a'"], "gate", "--base", "false a", "--head", "true")
  }

  /// The sizes of what is printed do not matter, and nothing of a command goes on.
  @Test func commandsThatMisbehave() throws {
    let script = "sleep 300 >/dev/null 2>&1 & echo $! >>\(folder.path)/ids; seq 1000000"
    let outcome = run([
      "duel", "sh -c '\(script)'", "sh -c '\(script)'", "--budget", "2s", "--csv", "\(folder.path)/runs.csv", "--json",
      "\(folder.path)/duel.json", "--markdown", "\(folder.path)/duel.md",
    ])
    #expect(outcome.ending == .exited(0), "\(outcome)")
    #expect(outcome.lines.first == "A: sh -c '\(script)'" && outcome.lines.contains { $0.hasPrefix("wall_ns ") })
    let identifiers = (folder.read("ids") ?? "").split(separator: "\n").compactMap { pid_t($0) }
    #expect(!identifiers.isEmpty)
    for identifier in identifiers {
      for _ in 0..<1_000 where kill(identifier, 0) == 0 { usleep(10_000) }
      #expect(kill(identifier, 0) != 0)
    }
    let rows = parseCSV(folder.read("runs.csv") ?? "")
    #expect(rows.first == ["block", "command", "name", "metric", "value", "unit", "excluded"])
    #expect(Set(rows.dropFirst().map { $0[1] }) == ["A", "B", "A again"])
    let report = try JSONTree(folder.read("duel.json") ?? "")
    #expect(report["schema"].number == 1 && report["a"].text == "sh -c '\(script)'")
    #expect(report["lines"].list.count >= 5 && report["verdict"].text != nil)
    #expect(folder.read("duel.md")?.contains("| wall_ns |") == true)
  }

  @Test func theGateJudgesWhatACommandPrints() throws {
    let arguments = [
      "--read", "lines", "--budget", "30s", "--markdown", "\(folder.path)/r.md", "--json", "\(folder.path)/r.json",
    ]
    let slower = run(["gate", "--base", "echo 'a b' 100 ns", "--head", "echo 'a b' 103 ns"] + arguments)
    #expect(
      slower.ending == .exited(2)
        && slower.lines.last?.hasSuffix("; regression: a b time x1.030 [1.030, 1.030]") == true, "\(slower)")
    #expect(folder.read("r.md")?.contains("`echo 'a b' 103 ns` against `echo 'a b' 100 ns`") == true)
    #expect(try JSONTree(folder.read("r.json") ?? "")["findings"][0]["benchmark"].text == "a b")
    #expect(run(["gate", "--base", "echo a 100 ns", "--head", "echo a 101 ns"] + arguments).ending == .exited(0))
    #expect(run(["gate", "--base", "echo a 100 ns", "--head", "echo a 90 ns"] + arguments).ending == .exited(4))
    let crash = run(["gate", "--base", "echo a 100 ns", "--head", "sh -c 'kill -11 $$'"] + arguments)
    #expect(crash.ending == .exited(2) && crash.lines.last?.contains("was killed by signal 11") == true, "\(crash)")
    let gone = ["gate", "--base", "printf 'a 1 ns\\nb 1 ns\\n'", "--head", "echo a 1 ns"] + arguments
    #expect(run(gone).ending == .exited(0) && run(gone + ["--all-of-base"]).ending == .exited(2))
    #expect(run(gone + ["--all-of-base", "--benchmark", "^a$"]).ending == .exited(0))
  }

  /// Two revisions of a repository, built and run by commands.
  @Test func revisionsAreBuiltBesideTheCheckout() throws {
    let place = folder.path
    func sh(_ script: String) -> ProcessOutcome {
      ProcessRunner.run("sh", ["-c", "cd '\(place)/repository' && \(script)"], timeout: 60)
    }
    _ = ProcessRunner.run("mkdir", ["-p", "\(place)/repository/sub", "\(place)/tmp"], timeout: 60)
    let made = sh(
      """
      git init -q -b main . && git config user.email a@b && git config user.name n && git config commit.gpgsign false
      echo 'echo work 100 ns' >sub/bench && git add . && git commit -qm one && git tag one
      echo 'echo work 110 ns' >sub/bench && git commit -qam two && git tag two
      echo 'exit 1' >sub/bench && touch sub/broken && git add . && git commit -qm three && git tag three
      echo 'echo work 90 ns' >sub/bench
      """)
    #expect(made.ending == .exited(0), "\(made)")
    let build = "[ ! -f broken ] || { echo a.c:1: error: it is broken; exit 7; }; cp bench built"
    func gate(_ base: String, _ head: String, _ build: String = build) -> ProcessOutcome {
      ProcessRunner.run(
        "sh",
        [
          "-c", "cd '\(place)/repository/sub' && exec \"$0\" \"$@\"", BuiltOpbench.path, "gate", "--base", base,
          "--head", head,
          "--build", build, "--run", "sh built", "--read", "lines",
        ], environment: BuiltOpbench.onQuietMachine.merging(["TMPDIR": "\(place)/tmp"]) { $1 }, timeout: 300)
    }
    let slower = gate("one", "two")
    #expect(slower.ending == .exited(2) && slower.lines.first == "gate: two against one", "\(slower)")
    #expect(slower.lines.last?.contains("work time x1.100") == true)
    let broken = gate("three", "two")
    #expect(broken.ending == .exited(65) && broken.lines.isEmpty, "\(broken)")
    #expect(
      broken.lastWords?.hasSuffix(
        "'three' does not build: '\(build)' ended with exit code 7: a.c:1: error: it is broken") == true,
      "\(broken.lastWords ?? "")")
    #expect(gate("one", "three", "cp bench built").lastWords?.contains("error") == false)
    let absent = gate("none", "two")
    #expect(
      absent.ending == .exited(66)
        && absent.lastWords?.hasSuffix("there is no revision 'none' in this repository") == true)
    // The working tree is built where it is.
    #expect(gate("one", ".", "[ -f built ] || cp bench built").ending == .exited(4))
    #expect(
      sh("git worktree list").lines.count == 1
        && sh("git status --porcelain").lines == [" M sub/bench", "?? sub/built"])
    #expect((try? FileManager.default.contentsOfDirectory(atPath: "\(place)/tmp")) == [])
    let outside = ProcessRunner.run(
      "sh",
      ["-c", "cd '\(place)/tmp' && exec \"$0\" gate --base a --head b --run true", BuiltOpbench.path], timeout: 60)
    #expect(outside.ending == .exited(66) && outside.lastWords?.contains("no git repository") == true, "\(outside)")
  }
}
