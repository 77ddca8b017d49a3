import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessWords

struct PlanRunnerTests {
  let effects = FakeEffects()

  @Test func eachSubjectFillsTheTimeOfAValue() {
    let result = effects.run(Sample.plan())
    #expect(
      result.repeats == [CellKey(Sample.scenario, Sample.ours): 10, CellKey(Sample.scenario, Sample.reference): 3])
    #expect(effects.timed.count == 4)
    for request in effects.timed {
      let repeats = request.subject == "foundation" ? 3 : 10
      #expect(
        request.mode
          == .time(
            repeats: repeats, values: 3, leadIn: 2_000, budget: 3_000, countsEvents: true, takesTurns: true))
    }
    #expect(effects.timed.allSatisfy { $0.context == "g.json" && $0.seed == 1 })
    #expect(result.rows.count == 4 && effects.rows == result.rows)
    #expect(Set(result.rows.map(\.process)).count == 4)
    #expect(result.rows.map(\.block).sorted() == [1, 1, 2, 2])
  }

  @Test func samplesAreSharedOutAmongTheValues() {
    #expect(effects.run(Sample.plan(repeats: .samples(10, seconds: 1))).repeats.isEmpty)
    #expect(effects.requests.count == 4)
    // However long they take.
    #expect(
      effects.timed.allSatisfy {
        $0.mode == .time(repeats: 4, values: 3, leadIn: 2_000, budget: .max, countsEvents: true)
      })
  }

  @Test func fewSamplesAreFewValues() {
    _ = effects.run(Sample.plan(repeats: .samples(2, seconds: 1)))
    #expect(
      effects.timed.allSatisfy {
        $0.mode == .time(repeats: 1, values: 2, leadIn: 2_000, budget: .max, countsEvents: true)
      })
  }

  @Test func whatTakesSecondsRunsOnceInAProcess() {
    _ = effects.run(Sample.plan(repeats: .once(seconds: 1)))
    #expect(effects.requests.count == 4 && effects.timed.allSatisfy { $0.mode == .time(repeats: 1, values: 1) })
  }

  @Test func thePaceOfAnOpenLoopIsTheSlowestSubjectsForAll() {
    let result = effects.run(Sample.plan(repeats: .paced(samples: 10, seconds: 1)))
    // The slowest completes 3 operations while it is calibrated.
    #expect(Array(result.repeats.values) == [3, 3])
    let calibrated = effects.requests.filter { if case .calibrate = $0.mode { true } else { false } }
    #expect(calibrated.count == 2 && calibrated.allSatisfy { $0.serviceTime == nil })
    // For long enough to be sharp, whatever a value takes.
    #expect(
      calibrated.allSatisfy {
        $0.mode == .calibrate(target: 50_000_000, limit: $0.subject == "foundation" ? 40 : .max, leadIn: 2_000)
      })
    #expect(effects.timed.count == 4)
    #expect(
      effects.timed.allSatisfy {
        $0.mode == .time(repeats: 4, values: 3, leadIn: 2_000, countsEvents: true) && $0.serviceTime == 50_000_000.0 / 3
      })
  }

  @Test func aBenchmarkMayKnowWhenItHangs() throws {
    let scenario = PlannedScenario(
      scenario: Sample.scenario, arms: [Sample.ours], incapable: [], repeats: .calibrated(), headlines: [],
      countsAllocations: false, notes: [], timeLimit: 7)
    let plan = Plan(scenarios: [scenario], effort: .quick, seed: 1)
    #expect(plan.timeout(.time(CellKey(Sample.scenario, Sample.ours), block: 1)) == 7)
  }

  /// Of 10 ns with a speed-up of 0.4 a task takes 6 ns beyond the serial program. With two workers that says nothing.
  @Test func whatATaskTakesBeyondTheSerialProgramIsForOneWorker() throws {
    effects.answer = { request in
      guard case .time = request.mode else { return FakeEffects.success(request) }
      let readings = [Reading(.nsPerOp, 10, count: 5), Reading(.speedup, 0.4, count: 1)]
      return FakeEffects.outcome(.exited(0), readings.map { .reading(valueIndex: 1, $0) } + [.end])
    }
    let arms = [1, 2].map { Arm(subject: "stealing", workers: $0) }
    let scenario = PlannedScenario(
      scenario: Sample.scenario, arms: arms, incapable: [], repeats: .calibrated(), headlines: [],
      countsAllocations: false, notes: [])
    let over = effects.run(Plan(scenarios: [scenario], effort: .quick, seed: 1)).rows.filter {
      $0.reading.metric == .forkOverhead
    }
    #expect(!over.isEmpty && over.allSatisfy { $0.cell.arm == arms[0] && $0.reading.count == 5 && $0.valueIndex == 1 })
    #expect(over.allSatisfy { abs($0.reading.value - 6) < 1e-9 })
  }

  @Test func countingIsAPassOfItsOwn() {
    let result = effects.run(Sample.plan(counts: true), counting: ["LD_PRELOAD": "x"])
    let counted = zip(effects.requests, effects.environments).filter {
      if case .count = $0.0.mode { true } else { false }
    }
    #expect(counted.count == 2 && counted.allSatisfy { $0.1["LD_PRELOAD"] == "x" })
    let others = zip(effects.requests, effects.environments).filter {
      if case .count = $0.0.mode { false } else { true }
    }
    #expect(others.allSatisfy { $0.1["LD_PRELOAD"] == nil })
    #expect(result.rows.filter { $0.reading.metric == .allocationsPerOp }.map(\.block) == [0, 0])
  }

  @Test func withoutAnAllocatorThatCountsThereIsNoSuchPass() {
    _ = effects.run(Sample.plan(counts: true))
    #expect(effects.requests.allSatisfy { if case .count = $0.mode { false } else { true } })
  }

  @Test(arguments: [
    FakeEffects.outcome(
      .signalled(11), [.reading(valueIndex: 1, Reading(.nsPerOp, 5, count: 1))], lastWords: "Fatal error: x"),
    FakeEffects.outcome(.timedOut, []), FakeEffects.outcome(.exited(1), [.end]), FakeEffects.outcome(.exited(0), []),
    FakeEffects.outcome(.exited(0), [.failure("an operation ran twice")]), FakeEffects.outcome(.notStarted(2), []),
  ])
  func aFailedProcessCostsItsOwnCell(outcome: ProcessOutcome) {
    effects.answer = { request in
      if case .time = request.mode, request.subject == "stealing" { return outcome }
      return FakeEffects.success(request)
    }
    let result = effects.run(Sample.plan())
    #expect(result.rows.map(\.cell.arm) == [Sample.reference, Sample.reference])
    #expect(Array(result.failures.keys) == [CellKey(Sample.scenario, Sample.ours)])
    #expect(effects.said.count == 1 && effects.said[0].hasPrefix("no number for overhead/external-add on stealing@2"))
    // It is not tried again.
    #expect(effects.timed.filter { $0.subject == "stealing" }.count == 1)
  }

  /// The text of another writer tears lines apart and hides answers: a calibration that is lost would be one repeat.
  @Test(arguments: ["hello\n", "hello", "reading\t1\t"])
  func aLineThatIsNoResultFailsTheCell(text: String) {
    for wantsCalibration in [true, false] {
      let effects = FakeEffects()
      effects.answer = { request in
        let answer = FakeEffects.success(request)
        let isCalibration = if case .calibrate = request.mode { true } else { false }
        guard request.subject == "stealing", isCalibration == wantsCalibration else { return answer }
        return answer.with(
          lines: (text + answer.lines.joined(separator: "\n")).split(separator: "\n").map(String.init))
      }
      let result = effects.run(Sample.plan())
      #expect(result.rows.map(\.cell.arm) == [Sample.reference, Sample.reference])
      #expect(effects.said.count == 1 && effects.said[0].hasPrefix("no number for overhead/external-add on stealing@2"))
      #expect(effects.said.first?.contains("among its results") == true, "\(effects.said)")
    }
  }

  /// The runner with real processes in place of measuring ones.
  @Test(arguments: [
    ("kill -SEGV $$", "was killed by signal 11"), ("echo broken pipe dream >&2; exit 3", "broken pipe dream"),
    ("sleep 1000 & sleep 1000", "did not finish in time"), ("echo end; exit 1", "exit code 1"), (":", "exit code 0"),
  ])
  func aSubjectThatCrashesOrHangsCostsItsCell(script: String, words: String) {
    effects.answer = { request in
      guard request.subject == "stealing" else { return FakeEffects.success(request) }
      return ProcessRunner.run("sh", ["-c", script], timeout: 0.3)
    }
    let result = effects.run(Sample.plan())
    #expect(result.rows.map(\.cell.arm) == [Sample.reference, Sample.reference])
    #expect(
      effects.said.count == 1 && effects.said[0].contains(words) && !effects.said[0].contains("\n"), "\(effects.said)")
    #expect(!result.wasInterrupted && result.failures.count == 1)
  }

  @Test func anInterruptKeepsWhatWasFinished() {
    effects.answer = { request in
      if effects.timed.count == 3 {
        effects.isInterrupted = true
        return FakeEffects.outcome(.interrupted, [.reading(valueIndex: 1, Reading(.nsPerOp, 5, count: 1))])
      }
      return FakeEffects.success(request)
    }
    let result = effects.run(Sample.plan())
    #expect(result.wasInterrupted && result.rows.count == 2 && result.failures.isEmpty)
    #expect(effects.timed.count == 3)
  }

  @Test func thePaddingOfTheEnvironmentVaries() {
    _ = effects.run(Sample.plan())
    #expect(Set(effects.environments.map { $0["OPBENCH_PADDING"]?.count ?? -1 }).count > 2)
  }
}
