import Glibc
import LaboratorySupport
import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessWords

/// Whatever a child does, its parent gets an outcome, keeps little of the output, and does not wait for what the child
/// leaves behind.
@Suite struct MisbehavingChildTests {
  let folder = TemporaryFolder()

  /// Runs a script, with the kernel telling its end or by looking.
  private func shell(_ script: String, timeout: Double = 60, watched: Bool) -> ProcessOutcome {
    ProcessRunner.capture("sh", ["-c", script], timeout: timeout, watched: watched).outcome
  }

  /// Whether a process still runs. A dead process that nobody has collected does not.
  private func runs(_ process: pid_t) -> Bool {
    guard let status = SystemFile.read("/proc/\(process)/stat"), let name = status.lastIndex(of: ")") else {
      return false
    }
    return !status[name...].hasPrefix(") Z")
  }

  /// A script that starts a process with `start`, and ends when that process runs. The process has written its number.
  private func leaving(_ folder: TemporaryFolder, start: String) -> String {
    let file = "\(folder.path)/pid"
    return "\(start) sh -c 'echo $$ > \(file); exec sleep 1000' & until [ -s \(file) ]; do sleep 0.01; done; echo said"
  }

  private func left(_ folder: TemporaryFolder) throws -> pid_t {
    try #require(folder.read("pid").flatMap { pid_t($0.dropLast()) })
  }

  @Test(arguments: [true, false])
  func printsForEver(watched: Bool) {
    let outcome = shell("echo first; exec yes", watched: watched)
    #expect(outcome.ending == .printedTooMuch(ProcessRunner.outputLimit) && outcome.lines.isEmpty)
    #expect(outcome.failure(.count(values: 1)) == "the process printed more than 16 MiB and was killed")
  }

  @Test func asMuchAsIsAllowed() {
    let all = ProcessRunner.capture("head", ["-c", "100000", "/dev/zero"], timeout: 60, limit: 100_000)
    #expect(all.outcome.ending == .exited(0) && all.output.count == 100_000)
    let more = ProcessRunner.capture("head", ["-c", "100001", "/dev/zero"], timeout: 60, limit: 100_000)
    #expect(more.outcome.ending == .printedTooMuch(100_000) && more.output.isEmpty)
  }

  @Test func printsAVeryLongLine() {
    let outcome = shell("head -c 1000000 /dev/zero | tr '\\0' x; echo; echo end", watched: true)
    #expect(outcome.ending == .exited(0) && outcome.lines.map(\.utf8.count) == [1_000_000, 3])
    let cut = String(repeating: "x", count: 500) + "…"
    #expect(outcome.failure(.count(values: 1)) == "the process wrote '\(cut)' among its results")
    let failed = outcome.with(lines: ["failure\t\(outcome.lines[0])"])
    #expect(failed.failure(.count(values: 1)) == cut)
  }

  /// A line that is no result fails the process, and so does an answer without what was asked for.
  @Test(arguments: [
    (["repeats\t7", "end"], nil), (["hello", "repeats\t7", "end"], "the process wrote 'hello' among its results"),
    (["hellorepeats\t7", "end"], "the process wrote 'hellorepeats 7' among its results"),
    (["end"], "the process ended without a number of repeats"),
    (["reading\t1\tns_per_op\tns\t5.0\t1\t", "end"], "the process ended without a number of repeats"),
    (["repeats\t7"], "the process ended with exit code 0"),
  ])
  func answersACalibration(lines: [String], failure: String?) {
    let outcome = ProcessOutcome(ending: .exited(0), lines: lines, lastWords: nil, nanoseconds: 1)
    #expect(outcome.failure(.calibrate(target: 1, limit: 1)) == failure)
  }

  @Test(arguments: [true, false])
  func floodsStandardError(watched: Bool) {
    let much = shell("head -c 50000000 /dev/zero | tr '\\0' e >&2; echo >&2; echo last >&2", watched: watched)
    #expect(much.ending == .exited(0) && much.lastWords == "last")
    let endless = shell("exec yes >&2", timeout: 0.5, watched: watched)
    #expect(endless.ending == .timedOut && endless.lastWords == "y")
    let long = shell("head -c 1000000 /dev/zero | tr '\\0' e >&2", watched: watched)
    #expect(long.lastWords == String(repeating: "e", count: 500) + "…")
  }

  /// The daemon goes on, and so does the parent.
  @Test(arguments: [true, false])
  func aDaemonKeepsThePipe(watched: Bool) throws {
    let outcome = shell(leaving(folder, start: "setsid"), watched: watched)
    let daemon = try left(folder)
    #expect(outcome.ending == .exited(0) && outcome.lines == ["said"] && outcome.isOutputHeld)
    #expect(runs(daemon))
    kill(daemon, SIGKILL)
  }

  /// What is still in the child's group ends with the child.
  @Test func aChildOfTheChildKeepsThePipe() throws {
    let outcome = shell(leaving(folder, start: ""), watched: true)
    #expect(outcome.ending == .exited(0) && outcome.lines == ["said"] && outcome.isOutputHeld)
    let other = try left(folder)
    while runs(other) { usleep(1_000) }
  }

  /// The daemon prints for ever, and is read for a short time only.
  @Test func aDaemonThatFloods() throws {
    let script = leaving(folder, start: "setsid").replacing("exec sleep 1000", with: "exec yes")
    let outcome = shell(script, watched: true)
    let daemon = try left(folder)
    #expect(outcome.isOutputHeld)
    kill(daemon, SIGKILL)
  }

  @Test(arguments: [true, false])
  func closesItsOutputsAndGoesOn(watched: Bool) {
    let ends = shell("echo said; exec >&- 2>&-; sleep 0.3; exit 3", watched: watched)
    #expect(ends.ending == .exited(3) && ends.lines == ["said"] && !ends.isOutputHeld)
    #expect(shell("exec >&- 2>&-; sleep 1000", timeout: 0.5, watched: watched).ending == .timedOut)
  }

  @Test(arguments: [true, false])
  func endsInEveryWay(watched: Bool) {
    #expect(shell("trap '' TERM; while :; do sleep 1000; done", timeout: 0.5, watched: watched).ending == .timedOut)
    #expect(shell("kill -TERM $$", watched: watched).ending == .signalled(SIGTERM))
    let nothing = shell("exit 0", watched: watched)
    #expect(nothing.ending == .exited(0) && nothing.lines.isEmpty && nothing.lastWords == nil && !nothing.isOutputHeld)
    let half = shell("printf 'reading\\t1\\tns_per_op\\tns\\t1'", watched: watched)
    #expect(half.lines == ["reading\t1\tns_per_op\tns\t1"])
    #expect(half.failure(.count(values: 1)) == "the process wrote 'reading 1 ns_per_op ns 1' among its results")
  }

  @Test func cannotBeExecuted() throws {
    let file = folder.write("\u{7F}text", to: "text")
    #expect(ProcessRunner.run(file, [], timeout: 5).ending == .notStarted(EACCES))
    chmod(file, 0o755)
    #expect(ProcessRunner.run(file, [], timeout: 5).ending == .notStarted(ENOEXEC))
  }

  /// What a child leaves behind is said once for each cell, and costs no number.
  @Test func theSessionSaysWhatIsLeft() {
    let effects = FakeEffects()
    effects.answer = { request in
      let outcome = FakeEffects.success(request)
      guard request.subject == "stealing" else { return outcome }
      return ProcessOutcome(
        ending: outcome.ending, lines: outcome.lines, lastWords: nil, nanoseconds: 1_000_000, isOutputHeld: true)
    }
    let result = effects.run(Sample.plan())
    #expect(result.failures.isEmpty && result.rows.count == 4)
    #expect(effects.said.count { $0.contains("stealing@2") && $0.contains("went on") } == 1)
    #expect(effects.said.allSatisfy { !$0.contains("foundation@2") })
  }
}

/// What this process times while it stands still is nobody's.
struct StandStillTests {
  let effects = FakeEffects()

  @Test func aLateLookIsAGap() {
    var watch = StandStill(since: 1_000_000_000)
    #expect(watch.look(1_100_000_000) == 0 && watch.look(1_400_000_000) == 0 && watch.nanoseconds == 0)
    #expect(watch.look(1_700_000_001) == 300_000_001)
    // A clock that goes back shows no gap.
    #expect(watch.look(1_000_000_000) == 0 && watch.look(13_000_000_000) == 12_000_000_000)
    #expect(watch.nanoseconds == 12_300_000_001)
  }

  @Test func whatIsStoppedStandsStillHoweverOftenSomebodyLooks() {
    var watch = StandStill(since: 0)
    #expect(watch.look(100, isStopped: true) == 100 && watch.look(150) == 0 && watch.nanoseconds == 100)
  }

  /// The clock goes on by 12 s while the process runs. Its limit is 10 s.
  @Test func aProcessHasItsWholeTimeThoughThisOneStoodStill() {
    var looks = 0
    let (outcome, _) = ProcessRunner.capture(
      "sh", ["-c", "sleep 0.3; echo done"], timeout: 10,
      now: {
        looks += 1
        return Clock.now() + (looks > 4 ? 12_000_000_000 : 0)
      })
    #expect(outcome.ending == .exited(0) && outcome.lines == ["done"])
    #expect(outcome.stoodStill >= 12_000_000_000 && outcome.nanoseconds < 10_000_000_000)
  }

  /// A real stop, of the process that is waited for.
  @Test func aProcessThatWasStoppedIsNoticed() {
    let outcome = ProcessRunner.run(
      "sh", ["-c", "(sleep 0.5; kill -CONT $$) & kill -STOP $$; wait; echo done"], timeout: 60)
    #expect(outcome.ending == .exited(0) && outcome.lines == ["done"] && outcome.stoodStill > 0)
    let usual = ProcessRunner.run("sh", ["-c", "echo done"], timeout: 60)
    #expect(usual.lines == ["done"])
  }

  /// Who is stopped for ever has the limit of any other.
  @Test func aProcessThatStaysStoppedHasItsLimit() {
    let outcome = ProcessRunner.run("sh", ["-c", "kill -STOP $$"], timeout: 0.5)
    #expect(outcome.ending == .timedOut && outcome.stoodStill > 0)
  }

  private static func still(_ request: MeasureRequest) -> ProcessOutcome {
    ProcessOutcome(
      ending: .exited(0),
      lines: [ResultLine.reading(valueIndex: 1, Reading(.nsPerOp, 3e9, count: 1)), .end].map(\.text), lastWords: nil,
      nanoseconds: 1_000_000, stoodStill: 3_000_000_000)
  }

  @Test func theBlockIsMadeAgain() {
    // The second process of the first block stands still.
    effects.answer = { effects.timed.count == 2 ? Self.still($0) : FakeEffects.success($0) }
    let result = effects.run(Sample.plan())
    #expect(effects.timed.count == 6 && result.failures.isEmpty)
    #expect(result.rows.count == 4 && result.rows.allSatisfy { $0.reading.value == 5 } && effects.rows == result.rows)
    #expect(result.rows.map(\.block).sorted() == [1, 1, 2, 2] && Set(result.rows.map(\.process)).count == 4)
    #expect(effects.said.count == 1 && effects.said[0].contains("stood still"), "\(effects.said)")
  }

  /// A failure while the run stands still says nothing of the cell.
  @Test(arguments: [FakeEffects.outcome(.timedOut, []), FakeEffects.outcome(.exited(0), [.failure("late")])])
  func aFailureMeanwhileIsNone(outcome: ProcessOutcome) {
    effects.answer = { request in
      guard effects.timed.count == 2 else { return FakeEffects.success(request) }
      return ProcessOutcome(
        ending: outcome.ending, lines: outcome.lines, lastWords: nil, nanoseconds: 1, stoodStill: 12_000_000_000)
    }
    let result = effects.run(Sample.plan())
    #expect(result.failures.isEmpty && result.rows.count == 4)
  }

  @Test func aRunThatStandsStillAllTheTimeEnds() {
    effects.answer = { request in
      if case .time = request.mode { Self.still(request) } else { FakeEffects.success(request) }
    }
    let result = effects.run(Sample.plan())
    #expect(result.rows.isEmpty && result.failures.isEmpty && effects.timed.count == 6)
  }

  @Test func aCalibrationIsMadeAgain() {
    effects.answer = { request in
      guard effects.requests.count == 1 else { return FakeEffects.success(request) }
      return ProcessOutcome(
        ending: .exited(0), lines: [ResultLine.repeats(1), .end].map(\.text), lastWords: nil, nanoseconds: 1,
        stoodStill: 12_000_000_000)
    }
    #expect(effects.run(Sample.plan()).repeats[CellKey(Sample.scenario, Sample.ours)] == 10)
  }

  /// The gate's second block of three processes, behind the calibration and the first block.
  @Test func aBlockOfTheGateIsMadeAgain() {
    let gate = FakeGate()
    gate.stoodStill = { $0 == 5 ? 12_000_000_000 : 0 }
    gate.time = { _, ran in ran == 5 ? 12e9 : 100 }
    gate.failure = { _, _ in gate.launched.count == 5 ? FakeEffects.outcome(.timedOut, []) : nil }
    var runner = gate.runner()
    let found = runner.blocks(of: [FakeGate.gated], usual: 3) { $1.count < 3 }
    let triples = try? found[FakeGate.cell]?.get()
    #expect(triples?.count == 3 && triples?.allSatisfy { !$0.isExcluded && $0.head[.nsPerOp] == 100 } == true)
    #expect(gate.said.count == 1 && gate.said[0].contains("stood still"), "\(gate.said)")
  }

  /// The time of a run with a goal is that in which it ran.
  @Test func theGoalDoesNotPayForIt() {
    var stood = false
    effects.answer = { request in
      guard case .time = request.mode else { return FakeEffects.success(request) }
      if stood {
        // Noise, so that the intervals stay wide.
        let time = 5 + Double(effects.timed.count * 7 % 13)
        return FakeEffects.outcome(.exited(0), [.reading(valueIndex: 1, Reading(.nsPerOp, time, count: 1)), .end])
      }
      stood = true
      effects.nanoseconds += 3_600_000_000_000
      return ProcessOutcome(
        ending: .exited(0), lines: [], lastWords: nil, nanoseconds: 1, stoodStill: 3_600_000_000_000)
    }
    let effort = Effort(blocks: 6, values: 3, leadIn: 2_000, target: 1_000, budget: 3_000)
      .with(goal: Goal(halfWidth: 0.05, seconds: 0.2))
    let result = effects.run(Sample.plan(effort: effort))
    #expect(result.blocksRun.count > 6, "\(result.blocksRun.count)")
  }
}
