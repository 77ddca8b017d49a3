import Subjects
import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessWords
@testable import Workloads

struct PlanTests {
  func selection(
    _ names: [String] = ["stealing"], benchmark: String? = nil, workers: [Int]? = [2], effort: Effort = .full,
    variants: Bool = false
  ) -> Selection {
    var selection = Selection(names: names, benchmark: benchmark, workers: workers, effort: effort, seed: 1)
    selection.variants = variants
    return selection
  }

  func plan(_ selection: Selection) throws -> Plan { try selection.plan(Catalogue(graphs: [], seed: 1)) }

  @Test func theReferencesStandBeside() throws {
    let names = try selection(["threadpool"]).subjects().map(\.name)
    #expect(names == ["threadpool", "foundation", "raw-dispatch"])
    #expect(try selection(["foundation"]).subjects().map(\.name) == ["foundation", "raw-dispatch"])
    #expect(
      try selection(["dispatch, stealing", "stealing"]).subjects().map(\.name).prefix(2) == ["dispatch", "stealing"])
    #expect(try selection(["all"]).subjects() == SubjectRegistry.all)
  }

  @Test func everyDemandedBenchmarkIsThere() throws {
    let names = Set(try plan(selection()).scenarios.map { "\($0.scenario.name)" })
    #expect(
      names.isSuperset(of: [
        "overhead/external-add", "overhead/local-add", "dependencies/chain", "dependencies/fan-in",
        "dependencies/graph",
        "dependencies/replay", "priority/rank-error", "priority/wait-by-level", "cancellation/observe-running",
        "cancellation/cancel-all-pending", "cancellation/late-starts",
      ]))
    let patterns = try plan(selection(benchmark: "graph$", variants: true)).scenarios.compactMap {
      $0.scenario.parameters["pattern"]
    }
    #expect(Set(patterns) == Set(GraphPattern.allCases.map(\.rawValue)))
  }

  @Test func parametersCanBeChosenToo() throws {
    let scenarios = try plan(selection(benchmark: "metg .*imbalance=0;.*pattern=stencil_1d;")).scenarios.map(\.scenario)
    #expect(scenarios.map { $0.parameters["pattern"] } == ["stencil_1d"])
    let byName = try plan(selection(benchmark: "dependencies/metg", variants: true)).scenarios
    // One pattern runs in a graph that is kept, too.
    #expect(byName.count == 2 * GraphPattern.allCases.count + 1)
    let imbalanced = try plan(selection(benchmark: "metg .*imbalance=1", variants: true)).scenarios
    #expect(imbalanced.count == GraphPattern.allCases.count)
    let several = try plan(selection(benchmark: "width=1000|external-add$")).scenarios.map(\.scenario)
    #expect(several.contains { $0.name.benchmark == "external-add" })
    #expect(several.contains { $0.name.benchmark == "fan-in" && $0.parameters["width"] == "1000" })
    #expect(!several.contains { $0.parameters["width"].map { $0 != "1000" } ?? false })
  }

  @Test func variantsRunOnRequestAlone() throws {
    let narrow = try plan(selection(benchmark: "dependencies/fan-out|external-batch"))
    #expect(narrow.scenarios.count == 2)
    let leftOut = try #require(narrow.leftOut)
    #expect(Set(leftOut.scenarios.map(\.name.benchmark)) == ["fan-out", "external-batch"])
    let wide = try plan(selection(benchmark: "dependencies/fan-out|external-batch", variants: true))
    #expect(Set(wide.scenarios.map(\.scenario)) == Set(narrow.scenarios.map(\.scenario) + leftOut.scenarios))
    #expect(wide.leftOut == nil && wide.estimatedSeconds == leftOut.seconds)
    #expect(
      leftOut.text == "4 variants left out (overhead/external-batch 3, dependencies/fan-out 1); --variants runs them "
        + "too, about \(Progress.duration(wide.estimatedSeconds)) in all")
    // Everything, without and with them.
    let catalogue = try Catalogue(graphs: [], seed: 1).workloads
    let all = try plan(selection(variants: true))
    let sets = catalogue.flatMap { $0.parameterSets() + $0.extendedParameterSets() }
    #expect(all.scenarios.count == sets.count)
    #expect(try #require(plan(selection()).leftOut).text.contains("(overhead "))
  }

  /// The benchmarks of strategies have no place in a run of everything, and need no flag when they are asked for.
  @Test func whatIsNoPartOfADefaultRunRunsWhenItIsNamed() throws {
    let usual = try plan(selection())
    #expect(!usual.scenarios.contains { $0.scenario.name.family == "strategy" })
    #expect(try #require(usual.leftOut).scenarios.contains { $0.name == Burst().name })
    let named = try plan(selection(benchmark: "strategy/burst|dependencies/fan-out"))
    #expect(named.scenarios.map(\.scenario.name.benchmark) == ["fan-out", "burst", "burst"])
    // Of the other benchmark the variants are still left out.
    #expect(try #require(named.leftOut).scenarios.map(\.name.benchmark) == ["fan-out"])
    let burst = try plan(selection(benchmark: "burst .*state=idle"))
    #expect(burst.scenarios.map { $0.scenario.parameters["state"] } == ["idle"] && burst.leftOut == nil)
    let all = try plan(selection(benchmark: "strategy/", variants: true))
    #expect(all.scenarios.map(\.scenario) == (try plan(selection(benchmark: "strategy/"))).scenarios.map(\.scenario))
    #expect(Set(all.scenarios.map(\.scenario.name)).count == 7)
    // A subject without operations is told what it cannot run, as with any other benchmark.
    let urgent = selection(["stealing", "nio"], benchmark: "strategy/urgent")
    let reasons = try urgent.leftOut(Catalogue(graphs: [], seed: 1))
    #expect(reasons.first?.hasPrefix("nio, raw-dispatch cannot run strategy/urgent: it has no ") == true)
  }

  @Test func whoNamesOnlyVariantsIsToldSo() {
    #expect { try plan(selection(benchmark: "fan-out width=1000")) } throws: {
      "\($0)".contains("--variants") && "\($0)".contains("dependencies/fan-out")
    }
  }

  @Test func scenariosAreUnique() throws {
    let scenarios = try plan(selection(["all"])).scenarios.map(\.scenario)
    #expect(Set(scenarios).count == scenarios.count)
  }

  @Test func aSubjectWithoutTheCapabilityHasNoArm() throws {
    let plan = try plan(selection(benchmark: "priority/rank-error"))
    #expect(plan.scenarios[0].arms.map(\.subject) == ["stealing", "foundation"])
    #expect(plan.scenarios[0].incapable.map(\.subject) == ["raw-dispatch"])
  }

  @Test func onlyAdjustableSubjectsHaveSeveralWorkerCounts() throws {
    let plan = try plan(selection(benchmark: "external-add", workers: [1, 4]))
    #expect(
      plan.arms.map(\.description) == [
        "stealing@1", "stealing@4", "foundation@\(CPUs.available)", "raw-dispatch@\(CPUs.available)",
      ])
  }

  @Test func badChoicesAreUsageErrors() {
    for bad in [
      selection(["fast"]), selection([""]), selection(benchmark: "no-such"), selection(benchmark: "("),
    ] {
      #expect { try plan(bad) } throws: { ($0 as? Complaint)?.code == .usage }
    }
  }

  @Test func everyCellOnceInEachBlock() throws {
    let plan = try plan(selection(["all"]))
    let cells = Set(plan.scenarios.flatMap(\.cells))
    let long = Set(plan.scenarios.filter { plan.blocks($0) < plan.effort.blocks }.flatMap(\.cells))
    #expect(!long.isEmpty && long.count < cells.count / 2)
    for block in 1...4 {
      let steps = plan.timedSteps(block: block).map(\.cell)
      #expect(Set(steps).count == steps.count && Set(steps).isSuperset(of: cells.subtracting(long)))
    }
    #expect(Set((1...plan.effort.blocks).flatMap { plan.timedSteps(block: $0).map(\.cell) }) == cells)
    #expect(plan.timedSteps(block: 1) == plan.timedSteps(block: 1))
    #expect(plan.timedSteps(block: 1).map(\.cell) != plan.timedSteps(block: 2).map(\.cell))
  }

  @Test func countsAndEstimates() throws {
    let plan = try plan(selection(benchmark: "external-add", effort: Self.long(blocks: 4)))
    #expect(plan.calibrations.count == 3)
    #expect(plan.countings.count == 3)
    #expect(plan.steps.count == 3 + 4 * 3 + 3)
    // Calibrating by the longest value, timing, and counting twice three repeats after one.
    let start = Plan.usualStartup
    // Such long values are not led in.
    let expected = 3 * (start + 3.5 * 0.4) + 12 * (start + 5 * 0.1) + 3 * (2 * start + 7 * 0.025)
    #expect(abs(plan.estimatedSeconds - expected) < 1e-9)
    #expect(abs(plan.estimatedSeconds - plan.steps.reduce(0) { $0 + plan.estimate($1) }) < 1e-9)
  }

  @Test func aRepeatLongerThanTheTargetCounts() throws {
    let effort = Effort(blocks: 1, values: 8, leadIn: 1_000_000, target: 1_000_000, budget: 8_000_000)
    let plan = try plan(selection(benchmark: "replay", effort: effort))
    // A replay takes 0.1 s at least: long enough to lead itself in, and for one value.
    let start = Plan.usualStartup
    let expected = 3 * (start + 0.25) + 3 * (start + 0.1) + 3 * (2 * start + 7 * 0.1)
    #expect(abs(plan.estimatedSeconds - expected) < 1e-9)
  }

  @Test func theDefaultRunsAreShort() throws {
    for (effort, seconds) in [(Effort.full, Effort.fullBudget), (.quick, Effort.quickBudget)] {
      let goal = Goal(halfWidth: Goal.usualHalfWidth, seconds: seconds)
      let plan = try plan(selection(effort: effort.with(goal: goal)))
      // Six blocks of everything leave time for what needs more.
      #expect(plan.plannedSeconds <= seconds * 0.8 && plan.effort.blocks == Effort.fewestBlocks, "\(plan.effort)")
      #expect(plan.estimatedSeconds == seconds && plan.effort.values == effort.values)
      // More subjects have more time, unless the user gave it.
      var more = selection(["all"], effort: effort.with(goal: goal))
      let scaled = try #require(try self.plan(more).effort.goal)
      #expect(abs(scaled.seconds - seconds * Double(SubjectRegistry.all.count) / 3) < 1e-6)
      more.isTimeGiven = true
      #expect(try self.plan(more).effort.goal == goal)
    }
  }

  @Test func fewerValuesWhereTimeIsShort() throws {
    let goal = Goal(halfWidth: 0.05, seconds: 1)
    let least = try plan(selection(effort: Effort.full.with(goal: goal)))
    #expect(least.effort.values == 3 && least.effort.blocks == Effort.fewestBlocks)
    #expect(least.scenarios.count == (try plan(selection())).scenarios.count)
    let fixed = try plan(selection())
    #expect(fixed.fitted.effort == fixed.effort)
  }

  @Test func samplesAreSpreadOverTheBlocks() throws {
    func samples(blocks: Int) throws -> Int {
      let plan = try plan(selection(benchmark: "wake-idle", effort: Effort.full.with(blocks: blocks)))
      return plan.samples(1_000, plan.scenarios[0])
    }
    #expect(try samples(blocks: 1) == 1_000 && samples(blocks: 10) == 1_000)
    #expect(try samples(blocks: 20) == 500 && samples(blocks: 30) == 334)
    // All of a whole run are its steps, one by one.
    let whole = try plan(selection())
    #expect(abs(whole.estimatedSeconds - whole.steps.reduce(0) { $0 + whole.estimate($1) }) < 1e-6)
    let few = try plan(selection(benchmark: "wake-idle", effort: Effort.full.with(blocks: 10))).estimatedSeconds
    let many = try plan(selection(benchmark: "wake-idle", effort: Effort.full.with(blocks: 40))).estimatedSeconds
    // Four times the processes, each of which starts and leads in; the samples take what they took.
    #expect(many < 2.5 * few)
  }

  @Test func longProcessesRunInFewerBlocks() throws {
    let plan = try plan(selection(benchmark: "metg|fan-in", effort: Effort.full.with(blocks: 20)))
    let counts = plan.scenarios.map { planned in
      (1...20).compactMap { plan.turn(planned, block: $0) }
    }
    // Their turns count up, and are spread over the run.
    #expect(Set(counts) == [Array(1...20), Array(1...8)])
    let long = try #require(plan.scenarios.first { $0.scenario.name.benchmark == "metg" })
    #expect((1...20).filter { plan.turn(long, block: $0) != nil } == [3, 5, 8, 10, 13, 15, 18, 20])
    #expect(plan.samples(5, long) == 5)
    let blocks = plan.steps.compactMap { step -> Int? in
      if case .time(let cell, let block) = step, cell.scenario == long.scenario { block } else { nil }
    }
    #expect(blocks.count == 8 * long.arms.count)
    // All arms of a block begin on the same CPU, the next block on the next; events are counted in as many blocks as
    // do.
    func turn(_ planned: PlannedScenario, _ block: Int) -> Turn? {
      plan.turns(block: block).first { $0.planned.scenario == planned.scenario }
    }
    let short = try #require(plan.scenarios.first { $0.scenario.name.benchmark != "metg" })
    #expect((1...4).map { turn(short, $0)?.place } == [0, 1, 2, 3])
    #expect(turn(long, 3)?.place == 0 && turn(long, 4) == nil && turn(long, 5)?.place == 1)
    #expect(plan.leadIn(long) == Effort.full.leadIn)
    let sleepers = try self.plan(selection(benchmark: "sleepers"))
    #expect(sleepers.blocks(sleepers.scenarios[0]) == 8 && sleepers.leadIn(sleepers.scenarios[0]) == 0)
    // A search takes no lead-in, which would be a search of its own.
    let search = try self.plan(selection(benchmark: "latency/capacity .*service=fixed", variants: true))
    #expect(search.leadIn(try #require(search.scenarios.first)) == 0)
    #expect(search.effortWords.hasSuffix(" blocks of one repeat"))
    // The threads of a graph take longer to settle; a quick run does not wait for them.
    let graph = try self.plan(selection(benchmark: "graph .*=stencil_1d;"))
    #expect(graph.leadIn(graph.scenarios[0]) == 80_000_000)
    let quick = try self.plan(selection(benchmark: "graph .*=stencil_1d;", effort: .quick))
    #expect(quick.leadIn(quick.scenarios[0]) == Effort.quick.leadIn)
    #expect(try plan.countsEvents(#require(turn(short, 8))) && !plan.countsEvents(#require(turn(short, 9))))
    #expect(try plan.countsEvents(#require(turn(long, 20))))
  }

  @Test func aHungProcessIsGivenUpSoon() throws {
    let plan = try plan(selection())
    for step in plan.steps {
      let limit = plan.planned(step.cell.scenario).timeLimit
      #expect(plan.timeout(step) >= limit ?? max(10, 20 * plan.estimate(step)))
      #expect(plan.timeout(step) <= 60, "\(step)")
    }
  }

  static func long(blocks: Int) -> Effort {
    Effort(blocks: blocks, values: 5, leadIn: 200_000_000, target: 100_000_000, budget: .max)
  }

  @Test func timeLeftLearns() throws {
    let plan = try plan(selection(benchmark: "external-add", effort: Self.long(blocks: 2)))
    let steps = plan.timedSteps(block: 1)
    let again = plan.timedSteps(block: 2)
    var left = TimeLeft(plan)
    let guess = left.seconds(again)
    #expect(abs(guess - 3 * (Plan.usualStartup + 0.5)) < 1e-9)
    left.finished(steps[0], seconds: 2 * (Plan.usualStartup + 0.5))
    // The seen cell takes what it took, the unseen ones twice the guess, as the first did.
    #expect(abs(left.seconds(again) - 6 * (Plan.usualStartup + 0.5)) < 1e-9)
    left.finished(steps[1], seconds: 0.1)
    let sameCell = again.filter { $0.cell == steps[1].cell }
    #expect(abs(left.seconds(sameCell) - 0.1) < 1e-9)
    #expect(left.seconds([Plan.Step]()) == 0)
  }
}
