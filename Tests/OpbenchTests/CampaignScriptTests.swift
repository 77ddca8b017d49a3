import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessResults

/// `scripts/campaign` with files that `merge` refuses, and with a Slurm that fails, hangs or forgets.
/// `scripts/check/slurm` has a real Slurm.
@Suite(.ownThread) struct CampaignScriptTests {
  private let calls = Calls()
  /// A block for each of three shards.
  private static let plan = Array(ShardCommandTests.run.dropLast()) + ["3"]

  /// Calls of the script in a folder of their own, with programs that stand for Slurm's.
  private final class Calls {
    let folder = TemporaryFolder()
    var campaign: String { "\(folder.path)/campaigns/c" }

    init() {
      mkdir("\(folder.path)/bin", 0o755)
      replace("scontrol", "echo 'MaxArraySize            = 1001'")
      replace("sbatch", "echo \"$*\" >>submitted; wc -l <submitted")
      replace("squeue", "exit 0")
    }

    func replace(_ name: String, _ script: String) {
      folder.writeProgram("#!/bin/sh\ncd '\(folder.path)'\n\(script)\n", to: "bin/\(name)")
    }

    var submitted: Int { folder.read("submitted")?.split(separator: "\n").count ?? 0 }

    /// Standard error is among the lines.
    func run(_ options: [String], _ command: [String] = CampaignScriptTests.plan, program: String = BuiltOpbench.path)
      -> ProcessOutcome
    {
      let path = getenv("PATH").map { String(cString: $0) } ?? ""
      return ProcessRunner.run(
        "sh",
        [
          "-c", "cd '\(folder.path)' && exec \"$0\" \"$@\" 2>&1", Checkout.path("scripts/campaign"), "--shards", "3",
          "--name", "c", "--program", program,
        ]
          + options + ["--"] + command,
        environment: ["PATH": "\(folder.path)/bin:\(path)", "ASK_SECONDS": "5"], timeout: 300)
    }

    func sh(_ script: String) -> ProcessOutcome {
      ProcessRunner.run("sh", ["-c", "cd '\(folder.path)' && { \(script)\n} 2>&1"], timeout: 300)
    }
  }

  @Test(arguments: [
    ("/nope", Int32(66), "there is no program /nope"), ("/bin/true", 64, "is no opbench"),
    ("/bin", 66, "no program /bin"),
  ])
  func aProgramThatIsNoneLeavesNothing(program: String, code: Int32, words: String) throws {
    for options in [["--local", "1"], []] {
      let outcome = calls.run(options, program: program)
      #expect(outcome.ending == .exited(code) && outcome.lines.count == 1, "\(outcome)")
      #expect(outcome.lines.first?.contains(words) == true, "\(outcome.lines)")
    }
    // A wrong command of opbench leaves nothing either.
    let wrong = calls.run(["--local", "1"], ["run", "--benchmark", "nothing-of-that-name", "--blocks", "6"])
    #expect(wrong.ending == .exited(64), "\(wrong.lines)")
    #expect(calls.folder.contents == ["bin"] && calls.submitted == 0, "\(calls.folder.contents)")
  }

  /// The order of strategies that was measured stands beside the simulated one, and only where something was measured.
  @Test func theRanksAreComparedAfterTheMerge() throws {
    let command = [
      "run", "--benchmark", "dependencies/graph imbalance=0;pattern=stencil_1d;steps=32;width=16;work_ns=0$",
      "--backend",
      "stealing,stealing(own=lifo)", "--workers", "1", "--blocks", "6",
    ]
    let outcome = calls.run(["--local", "1", "--against-simulation"], command)
    // Whether the two agree is a matter of the machine.
    #expect(outcome.ending == .exited(0) || outcome.ending == .exited(70), "\(outcome.lines)")
    let ranks = try #require(calls.folder.read("campaigns/c/ranks.txt"))
    #expect(ranks.contains("Ranks of ") && ranks.contains("stencil_1d") && ranks.contains("of 1"), "\(ranks)")
    let without = calls.run(["--local", "1"], command)
    #expect(without.ending == .exited(73) && without.lines.last?.contains("--against-simulation") == true)
    // What cannot be compared is told before anything is measured.
    _ = calls.sh("rm -r campaigns")
    for command in [["simulate"], Self.plan] {
      let refused = calls.run(["--local", "1", "--against-simulation"], command)
      #expect(refused.ending == .exited(64) && refused.lines.count == 1, "\(refused.lines)")
      #expect(!calls.folder.contents.contains("campaigns"))
    }
  }

  /// A file that cannot be merged would stop a campaign for ever: its shard counts as missing, and runs again.
  @Test func aBadShardRunsAgain() throws {
    let first = calls.run(["--local", "3"])
    #expect(first.ending == .exited(0), "\(first.lines)")
    let whole = try #require(calls.folder.read("campaigns/c/all.csv"))
    let file = "campaigns/c/shard"
    let spoil = [
      "printf '' >\(file)-2-of-3.csv",
      "head -c 300 \(file)-2-of-3.csv >x && mv x \(file)-2-of-3.csv",
      "printf '{' >\(file)-2-of-3.env.json",
      "rm \(file)-2-of-3.env.json",
      "sed -i 's/\"seed\" : 1/\"seed\" : 2/' \(file)-2-of-3.env.json",
      "sed -i 's/\"commit\" : \"[0-9a-f]*\"/\"commit\" : \"0000\"/' \(file)-[123]-of-3.env.json",
      "for k in csv env.json; do cp \(file)-1-of-3.$k \(file)-2-of-3.$k; done",
      "for k in csv env.json; do rm \(file)-*-of-3.$k; echo junk >\(file)-2-of-3.$k; done",
    ]
    for script in spoil {
      #expect(calls.sh("\(script); rm campaigns/c/all.csv").ending == .exited(0))
      let outcome = calls.run(["--local", "3"])
      #expect(outcome.ending == .exited(0), "\(script): \(outcome.lines)")
      let rows = calls.folder.read("campaigns/c/all.csv")
      #expect(rows.map { parseCSV($0).count } == parseCSV(whole).count, "\(script): \(outcome.lines)")
    }
    // Nothing is thrown away.
    #expect(calls.sh("ls campaigns/c").lines.contains("shard-2-of-3.csv.refused"))
    let again = calls.run(["--local", "3"])
    #expect(
      again.ending == .exited(0) && again.lines.contains { $0.contains("all 3 shards of c are whole") },
      "\(again.lines)")
  }

  /// The first shard fixes the plan, and a machine whose plan is another one is told before it measures.
  @Test(.enabled(if: CPUs.affinity > 1, "one CPU has one plan"))
  func aMachineWithOtherCPUsMeasuresNothing() throws {
    _ = calls.run([])
    #expect(calls.submitted == 2)
    #expect(calls.sh("campaigns/c/shard 1").ending == .exited(0))
    #expect(calls.sh("ls campaigns/c").lines.contains("plan.json"))
    let other = calls.sh("taskset -c \(CPUs.affinity - 1) campaigns/c/shard 2")
    #expect(other.ending == .exited(69), "\(other.lines)")
    #expect(
      other.lines.last?.contains("--workers") == true && other.lines.last?.contains("plan.json") == true,
      "\(other.lines)")
    #expect(!calls.sh("ls campaigns/c").lines.contains { $0.hasPrefix("shard-2-of-3.csv") })
    // The shard that goes on with what it has finds its files as they were.
    #expect(calls.sh("campaigns/c/shard 2 && campaigns/c/shard 3 && campaigns/c/merge").ending == .exited(0))
  }

  @Test func aSimulatedShardOfAnotherPlanRunsAgain() throws {
    let simulate = ["simulate", "--graph", "stencil_1d(width=8;steps=4)", "--workers", "1,4,16", "--repeats", "1"]
    #expect(calls.run(["--local", "1"], simulate).ending == .exited(0))
    let whole = try #require(calls.folder.read("campaigns/c/all.csv"))
    for script in [
      "sed -i 's/\"counts_adding\" : false/\"counts_adding\" : true/' campaigns/c/shard-1-of-3.env.json",
      "echo junk >campaigns/c/shard-3-of-3.csv",
    ] {
      #expect(calls.sh("\(script); rm campaigns/c/all.csv").ending == .exited(0))
      let outcome = calls.run(["--local", "1"], simulate)
      #expect(outcome.ending == .exited(0) && calls.folder.read("campaigns/c/all.csv") == whole, "\(outcome.lines)")
    }
  }

  /// Slurm that does not answer has not said that nothing runs.
  @Test func nothingIsSubmittedTwice() throws {
    #expect(calls.run([]).ending == .exited(0) && calls.submitted == 2)
    for (does, words) in [
      (
        "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1",
        "Unable to contact"
      ),
      ("sleep 60", "had not ended after 5 s"), ("exit 1", "ended with 1 and without a word"),
    ] {
      calls.replace("squeue", does)
      let outcome = calls.run([])
      #expect(outcome.ending == .exited(75) && outcome.lines.count == 1, "\(outcome.lines)")
      #expect(outcome.lines.first?.contains(words) == true, "\(outcome.lines)")
    }
    calls.replace("squeue", "echo '1_[1-3%20]'")
    let active = calls.run([])
    #expect(
      active.ending == .exited(75) && active.lines.first?.contains("still wait or run: 1_[1-3%20]") == true,
      "\(active.lines)")
    #expect(calls.submitted == 2)
    // A job that Slurm has forgotten has ended.
    calls.replace("squeue", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1")
    #expect(calls.run([]).ending == .exited(0) && calls.submitted == 4)
  }

  @Test func aSubmissionWithoutAnAnswerIsLookedFor() throws {
    calls.replace("sbatch", "echo \"$*\" >>submitted; sleep 60")
    let silent = calls.run([])
    #expect(
      silent.ending == .exited(69)
        && silent.lines.last?.contains("it is not known whether the array was submitted") == true, "\(silent.lines)")
    calls.replace("squeue", "case \"$*\" in *--me*--name=c*) echo 7 ;; *) exit 1 ;; esac")
    let found = calls.run([])
    #expect(
      found.ending == .exited(75) && found.lines.last?.contains("may have submitted the jobs 7") == true,
      "\(found.lines)")
    #expect(calls.submitted == 1)
    calls.replace("squeue", "exit 0")
    calls.replace("sbatch", "echo \"$*\" >>submitted; echo 'sbatch: error: too many jobs' >&2; exit 1")
    let refused = calls.run([])
    #expect(
      refused.ending == .exited(69) && refused.lines.last?.contains("sbatch: error: too many jobs") == true,
      "\(refused.lines)")
    calls.replace("sbatch", "echo \"$*\" >>submitted; wc -l <submitted")
    #expect(calls.run([]).ending == .exited(0) && calls.submitted == 4)
    // The user's options do not take the name away by which the jobs are found.
    #expect(calls.run(["--job-name=mine", "--time=2:00"]).ending == .exited(0))
    let line = calls.folder.read("submitted")?.split(separator: "\n").dropLast().last.map(String.init) ?? ""
    #expect(line.contains("--job-name=mine --time=2:00 --job-name=c "), "\(line)")
    calls.replace("scontrol", "echo 'no controller' >&2; exit 1")
    let unknown = calls.run([])
    #expect(unknown.ending == .exited(69) && unknown.lines.last?.contains("no controller") == true, "\(unknown.lines)")
  }

  @Test func twoCallsAtOnceAreOneTooMany() throws {
    #expect(calls.run([]).ending == .exited(0))
    let script = "exec 8>>campaigns/c/lock && flock 8 && PATH=\"$PWD/bin:$PATH\" '\(Checkout.path("scripts/campaign"))'"
    let second = calls.sh(
      "\(script) --shards 3 --name c --program '\(BuiltOpbench.path)' -- \(Self.plan.joined(separator: " "))")
    #expect(second.ending == .exited(75) && second.lines.last?.contains("another call") == true, "\(second.lines)")
    #expect(calls.submitted == 2)
  }

  /// The commit is that of the checkout that the program was built from, whatever repository a hook's variables name.
  @Test func theCommitIsThatOfTheProgram() throws {
    let (calls, other) = (Calls(), try ScriptRepository())
    let script = "GIT_DIR='\(other.path)/.git' PATH=\"$PWD/bin:$PATH\" '\(Checkout.path("scripts/campaign"))'"
    let outcome = calls.sh(
      "\(script) --shards 3 --name c --program '\(BuiltOpbench.path)' -- \(Self.plan.joined(separator: " "))")
    #expect(outcome.ending == .exited(0), "\(outcome.lines)")
    let commit = Revision(of: Checkout.root, countsNewFiles: true)?.commit
    #expect(calls.folder.read("campaigns/c/revision")?.hasPrefix(commit ?? "") == true)
    // A run knows its commit, too.
    let run = calls.sh(
      "GIT_DIR='\(other.path)/.git' '\(BuiltOpbench.path)' \(Self.plan.joined(separator: " ")) --output r.csv")
    #expect(run.ending == .exited(0), "\(run.lines)")
    #expect(try RunRecord.read(path: "\(calls.folder.path)/r.env.json")?.commit == commit)
  }
}
