import Glibc
import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessWords

/// Processes of a block that live at the same time, of which one goes on.
struct ProcessTurnsTests {
  private let folder = TemporaryFolder()

  /// A measuring process that is a shell script.
  private func process(
    _ script: String, timeout: Double = 60, now: @escaping () -> UInt64 = Clock.now
  ) throws -> Launched {
    let program = folder.write("#!/bin/sh\n\(script)\n", to: "program-\(UInt64.random(in: 0...(.max)))")
    #expect(chmod(program, 0o755) == 0)
    let request = MeasureRequest(
      cell: CellKey(Sample.scenario, Sample.ours), mode: .time(repeats: 1, values: 1), seed: 1,
      spin: Spin(roundsPerMicrosecond: 1))
    return ProcessRunner.launch(request, program: program, environment: [:], timeout: timeout, now: now)
  }

  private static let stop = "echo turn; kill -STOP $$"

  @Test func aProcessStandsStillBetweenItsTurns() throws {
    let file = "\(folder.path)/log"
    // However busy the machine is, this clock sees no gap, unless a process is found stopped in its turn.
    var time: UInt64 = 0
    func now() -> UInt64 {
      time += 1_000
      return time
    }
    func noting(_ name: String) throws -> Launched {
      try process(
        "for turn in 1 2 3; do echo \(name)$turn >> \(file); \(Self.stop); done; echo \(name)4 >> \(file)", now: now)
    }
    let both = [try noting("a"), try noting("b")]
    #expect(folder.read("log") == nil, "nothing is started before its first turn")
    for _ in 1...3 { for process in both { #expect(process.goOn() == nil) } }
    let outcomes = both.map { $0.goOn() }
    #expect(outcomes.allSatisfy { $0?.ending == .exited(0) && $0?.lines == ["turn", "turn", "turn"] })
    #expect(folder.read("log") == "a1\nb1\na2\nb2\na3\nb3\na4\nb4\n")
    // Waiting for a turn is no standing still.
    #expect(outcomes.allSatisfy { $0?.stoodStill == 0 })
  }

  /// What a process has started waits with it, and goes on with it.
  @Test func theGroupTakesTheTurn() throws {
    let outcome = try process("sleep 0.1 & echo turn; kill -STOP 0; wait; echo end").toEnd()
    #expect(outcome.ending == .exited(0) && outcome.lines == ["turn", "end"])
  }

  @Test func oneProcessAloneHasAllTurns() throws {
    let outcome = try process("\(Self.stop); \(Self.stop); echo end").toEnd()
    #expect(outcome.ending == .exited(0) && outcome.lines == ["turn", "turn", "end"])
  }

  /// The clock of the limit is that of the turns.
  @Test func waitingIsNotTheProcessesTime() throws {
    let waiting = try process("\(Self.stop); sleep 0.2; echo end", timeout: 1.5)
    #expect(waiting.goOn() == nil)
    usleep(1_700_000)
    let outcome = try #require(waiting.goOn())
    #expect(outcome.ending == .exited(0) && outcome.lines.last == "end")
    #expect(outcome.nanoseconds >= 200_000_000 && outcome.nanoseconds < 1_500_000_000)
  }

  @Test func aTurnWithoutEndIsKilled() throws {
    let endless = try process("\(Self.stop); sleep 1000", timeout: 0.5)
    #expect(endless.goOn() == nil)
    #expect(endless.goOn()?.ending == .timedOut)
  }

  @Test func aProcessMayEndInTheMiddle() throws {
    let crashing = try process("\(Self.stop); kill -SEGV $$")
    #expect(crashing.goOn() == nil)
    #expect(crashing.goOn()?.ending == .signalled(SIGSEGV))
    // It has said that it stops, and was killed before.
    let dead = try process("echo turn; kill -KILL $$").toEnd()
    #expect(dead.ending == .signalled(SIGKILL) && dead.lines == ["turn"])
  }

  @Test func whoSaysTurnAndGoesOnIsKilled() throws {
    let outcome = try process("echo turn; sleep 1000").toEnd()
    #expect(outcome.ending == .wentOn)
    #expect(outcome.failure(.time(repeats: 1, values: 1)) == "the process said 'turn', did not stop, and was killed")
  }

  @Test func aStopThatNobodyAnnouncedIsNobodysTime() throws {
    let stopped = try process("(sleep 0.3; kill -CONT $$) & kill -STOP $$; wait; echo end").toEnd()
    #expect(stopped.ending == .exited(0) && stopped.stoodStill > 0)
  }

  @Test func whoCannotBeStartedSaysSo() {
    let request = MeasureRequest(
      cell: CellKey(Sample.scenario, Sample.ours), mode: .time(repeats: 1, values: 1), seed: 1,
      spin: Spin(roundsPerMicrosecond: 1))
    let none = ProcessRunner.launch(request, program: "\(folder.path)/none", environment: [:], timeout: 1).toEnd()
    #expect(none.ending == .notStarted(ENOENT))
  }

  // MARK: - The runner

  private let effects = FakeEffects()

  private static func isTimed(_ request: MeasureRequest) -> Bool {
    if case .time = request.mode { true } else { false }
  }

  /// The processes that went on in the first block, whose two processes are the third and the fourth of the run.
  private func firstBlock() -> [Int] { effects.wentOn.filter { 2...3 ~= $0 } }

  @Test func theProcessesOfABlockTakeTurns() {
    effects.turns = { Self.isTimed($0) ? 3 : 1 }
    let result = effects.run(Sample.plan())
    #expect(effects.wentOn == [0, 1] + [2, 3, 2, 3, 2, 3] + [4, 5, 4, 5, 4, 5])
    #expect(result.rows.count == 4 && Set(result.rows.map(\.process)).count == 4)
  }

  @Test func whoHasFewerTurnsEndsEarlier() {
    effects.turns = { !Self.isTimed($0) ? 1 : $0.subject == "foundation" ? 2 : 4 }
    #expect(effects.run(Sample.plan()).rows.count == 4)
    #expect(firstBlock().count == 6 && Set(firstBlock().suffix(2)).count == 1)
  }

  @Test func aProcessThatFailsInItsTurnCostsItsOwnCell() {
    effects.turns = { Self.isTimed($0) ? 3 : 1 }
    effects.answer = { request in
      guard Self.isTimed(request), request.subject == "foundation" else { return FakeEffects.success(request) }
      return FakeEffects.outcome(.signalled(SIGSEGV), [.turn])
    }
    let result = effects.run(Sample.plan())
    #expect(result.failures.keys.map(\.arm.subject) == ["foundation"] && result.rows.count == 2)
  }

  /// No process is left standing: what has been started goes on to its end.
  @Test func aBlockThatIsLostEndsItsProcesses() {
    effects.turns = { Self.isTimed($0) ? 3 : 1 }
    var isFirst = true
    effects.answer = { request in
      defer { if Self.isTimed(request) { isFirst = false } }
      guard Self.isTimed(request), isFirst else { return FakeEffects.success(request) }
      return ProcessOutcome(
        ending: .exited(0), lines: FakeEffects.success(request).lines, lastWords: nil, nanoseconds: 1,
        stoodStill: 3_000_000_000)
    }
    let result = effects.run(Sample.plan())
    #expect(firstBlock().count == 6)
    #expect(result.rows.count == 4 && effects.timed.count == 6 && effects.said.count == 1)
  }

  @Test func anInterruptEndsTheProcessesOfItsBlock() {
    effects.turns = { request in
      if Self.isTimed(request), self.effects.timed.count == 2 { self.effects.isInterrupted = true }
      return Self.isTimed(request) ? 3 : 1
    }
    effects.answer = { Self.isTimed($0) ? FakeEffects.outcome(.interrupted, [.turn]) : FakeEffects.success($0) }
    #expect(effects.run(Sample.plan()).rows.isEmpty)
    #expect(firstBlock().count == 6 && effects.timed.count == 2)
  }

  /// Samples, long repeats and a quick look have no turns: their processes run one after another.
  @Test func onlyShortValuesAreTurns() {
    let plan = Sample.plan()
    #expect(plan.takesTurns(plan.scenarios[0]))
    let samples = Sample.plan(repeats: .samples(10, seconds: 1))
    #expect(!samples.takesTurns(samples.scenarios[0]))
    let long = Sample.plan(repeats: .calibrated(seconds: 3))
    #expect(!long.takesTurns(long.scenarios[0]))
    let quick = Sample.plan(effort: .quick)
    #expect(!quick.takesTurns(quick.scenarios[0]))
  }
}
