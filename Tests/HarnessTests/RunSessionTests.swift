import Testing

@testable import Harness

/// The session with processes that only exist here.
final class FakeWorld {
  var requests: [MeasureRequest] = []
  var environments: [[String: String]] = []
  var rows: [Row] = []
  var said: [String] = []
  var isInterrupted = false
  var answer: (MeasureRequest) -> ProcessOutcome = { FakeWorld.success($0) }

  static func outcome(_ ending: Ending, _ lines: [ResultLine], lastWords: String? = nil) -> ProcessOutcome {
    ProcessOutcome(ending: ending, lines: lines.map(\.text), lastWords: lastWords, nanoseconds: 1_000_000)
  }

  static func success(_ request: MeasureRequest) -> ProcessOutcome {
    switch request.mode {
    case .calibrate(_, let limit):
      outcome(.exited(0), [.repeats(min(limit, request.subject == "foundation" ? 3 : 40)), .end])
    case .time: outcome(.exited(0), [.reading(valueIndex: 1, Reading(.nsPerOp, 5, count: 1)), .end])
    case .count: outcome(.exited(0), [.reading(valueIndex: 1, Reading(.allocationsPerOp, 2, count: 1)), .end])
    case .trace: outcome(.exited(0), [.traced(operations: 7, notShown: 0), .end])
    }
  }

  var checkpoints: [RunResult] = []

  func run(_ plan: Plan, counting: [String: String]? = nil, earlier: EarlierRun = EarlierRun()) -> RunResult {
    let world = RunWorld(
      launch: { request, environment, _ in
        self.requests.append(request)
        self.environments.append(environment)
        return self.answer(request)
      },
      showProgress: { done, total, _, left in #expect(done < total && left >= 0) },
      say: { self.said.append($0) },
      record: { self.rows += $0 }, checkpoint: { self.checkpoints.append($0) }, isInterrupted: { self.isInterrupted },
      countingEnvironment: counting)
    var session = RunSession(
      plan, runID: "run", spin: Spin(roundsPerMicrosecond: 1), context: "g.json", world: world,
      earlier: earlier)
    return session.run()
  }

  var timed: [MeasureRequest] {
    requests.filter { if case .time = $0.mode { true } else { false } }
  }
}

struct RunSessionTests {
  @Test func theSlowestSubjectCalibratesForAll() {
    let world = FakeWorld()
    let result = world.run(Sample.plan())
    #expect(result.repeats == [Sample.scenario: 3])
    #expect(world.timed.count == 4)
    #expect(world.timed.allSatisfy { $0.mode == .time(repeats: 3, values: 3, leadIn: 0, budget: .max) })
    #expect(world.timed.allSatisfy { $0.context == "g.json" && $0.seed == 1 })
    #expect(result.rows.count == 4 && world.rows == result.rows)
    #expect(Set(result.rows.map(\.process)).count == 4)
    #expect(result.rows.map(\.block).sorted() == [1, 1, 2, 2])
  }

  @Test func fixedRepeatsAreSharedOutAmongTheValues() {
    let world = FakeWorld()
    #expect(world.run(Sample.plan(repeats: .perProcess(10, seconds: 1))).repeats == [Sample.scenario: 4])
    #expect(world.requests.count == 4)
  }

  @Test func thePaceOfAnOpenLoopIsTheSlowestSubjectsForAll() {
    let world = FakeWorld()
    let result = world.run(Sample.plan(repeats: .paced(samples: 10, seconds: 1)))
    // The slowest completes 3 operations in the time of a value.
    #expect(result.repeats == [Sample.scenario: 3])
    let calibrated = world.requests.filter { if case .calibrate = $0.mode { true } else { false } }
    #expect(calibrated.count == 2 && calibrated.allSatisfy { $0.serviceTime == nil })
    let plan = Sample.plan()
    #expect(world.timed.count == 4)
    #expect(
      world.timed.allSatisfy {
        $0.mode == .time(repeats: 4, values: 3, leadIn: 0, budget: .max)
          && $0.serviceTime == Double(plan.effort.target) / 3
      })
  }

  @Test func aBenchmarkMayKnowWhenItHangs() throws {
    let scenario = PlannedScenario(
      scenario: Sample.scenario, arms: [Sample.ours], incapable: [], repeats: .calibrated(), headlines: [],
      countsAllocations: false, notes: [], timeLimit: 7)
    let plan = Plan(scenarios: [scenario], effort: .quick, seed: 1)
    #expect(plan.timeout(.time(CellKey(Sample.scenario, Sample.ours), block: 1)) == 7)
  }

  @Test func countingIsAPassOfItsOwn() {
    let world = FakeWorld()
    let result = world.run(Sample.plan(counts: true), counting: ["LD_PRELOAD": "x"])
    let counted = zip(world.requests, world.environments).filter { if case .count = $0.0.mode { true } else { false } }
    #expect(counted.count == 2 && counted.allSatisfy { $0.1["LD_PRELOAD"] == "x" })
    let others = zip(world.requests, world.environments).filter { if case .count = $0.0.mode { false } else { true } }
    #expect(others.allSatisfy { $0.1["LD_PRELOAD"] == nil })
    #expect(result.rows.filter { $0.reading.metric == .allocationsPerOp }.map(\.block) == [0, 0])
  }

  @Test func withoutAnAllocatorThatCountsThereIsNoSuchPass() {
    let world = FakeWorld()
    _ = world.run(Sample.plan(counts: true))
    #expect(world.requests.allSatisfy { if case .count = $0.mode { false } else { true } })
  }

  @Test(arguments: [
    FakeWorld.outcome(
      .signalled(11), [.reading(valueIndex: 1, Reading(.nsPerOp, 5, count: 1))], lastWords: "Fatal error: x"),
    FakeWorld.outcome(.timedOut, []), FakeWorld.outcome(.exited(1), [.end]), FakeWorld.outcome(.exited(0), []),
    FakeWorld.outcome(.exited(0), [.failure("an operation ran twice")]), FakeWorld.outcome(.notStarted(2), []),
  ])
  func aFailedProcessCostsItsOwnCell(outcome: ProcessOutcome) {
    let world = FakeWorld()
    world.answer = { request in
      if case .time = request.mode, request.subject == "stealing" { return outcome }
      return FakeWorld.success(request)
    }
    let result = world.run(Sample.plan())
    #expect(result.rows.map(\.cell.arm) == [Sample.reference, Sample.reference])
    #expect(Array(result.failures.keys) == [CellKey(Sample.scenario, Sample.ours)])
    #expect(world.said.count == 1 && world.said[0].hasPrefix("no number for overhead/external-add on stealing@2"))
    // It is not tried again.
    #expect(world.timed.filter { $0.subject == "stealing" }.count == 1)
  }

  @Test func anInterruptKeepsWhatWasFinished() {
    let world = FakeWorld()
    world.answer = { request in
      if world.timed.count == 3 {
        world.isInterrupted = true
        return FakeWorld.outcome(.interrupted, [.reading(valueIndex: 1, Reading(.nsPerOp, 5, count: 1))])
      }
      return FakeWorld.success(request)
    }
    let result = world.run(Sample.plan())
    #expect(result.wasInterrupted && result.rows.count == 2 && result.failures.isEmpty)
    #expect(world.timed.count == 3)
  }

  @Test func thePaddingOfTheEnvironmentVaries() {
    let world = FakeWorld()
    _ = world.run(Sample.plan())
    #expect(Set(world.environments.map { $0["OPBENCH_PADDING"]?.count ?? -1 }).count > 2)
  }
}
