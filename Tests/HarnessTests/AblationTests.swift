import Glibc
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessStatistics
@testable import HarnessWords

/// An ablation: a default against many changes, and time where the verdict is open.
struct AblationTests {
  static let base = Arm(subject: "pool", workers: 2)

  static func change(_ number: Int) -> Arm { Arm(subject: "pool(change=\(number))", workers: 2) }

  static func plan(
    _ goal: Goal?, changes: Int, names: [String] = ["overhead/external-add", "forkjoin/fib"]
  ) -> Plan {
    let arms = [base] + (1...changes).map(change)
    var effort = Effort(
      blocks: 6 * Ablation.turns(changes: changes), values: 2, leadIn: 1_000, target: 1_000, budget: 2_000)
    effort.goal = goal
    var plan = Plan(
      scenarios: names.map { name in
        let parts = name.split(separator: "/").map(String.init)
        return PlannedScenario(
          scenario: Scenario(BenchmarkName(parts[0], parts[1]), ["ops": "10"]), arms: arms, incapable: [],
          repeats: .calibrated(), headlines: [.nsPerOp], countsAllocations: false, notes: [])
      }, effort: effort, seed: 1, startup: 0)
    plan.isAblation = true
    return plan
  }

  func table(_ plan: Plan, _ result: RunResult) -> AblationTable {
    AblationTable(AblationRatios(ResultTable(result.rows), plan.arms), seed: 1)
  }

  @Test(arguments: [1, 4, 5, 6, 11, 38]) func everyChangeHasATurnInEachRound(changes: Int) {
    let arms = [Self.base] + (1...changes).map(Self.change)
    let turns = Ablation.turns(changes: changes)
    #expect(turns == (changes + 4) / 5)
    for round in 0..<6 {
      let blocks = (1...turns).map { Ablation.arms(arms, block: round * turns + $0, seed: 7) }
      #expect(blocks.allSatisfy { $0[0] == Self.base && (2...6).contains($0.count) })
      let all = blocks.flatMap { $0.dropFirst() }
      #expect(all.count == changes && Set(all) == Set(arms.dropFirst()))
    }
    // Others stand beside a change in the next round.
    if changes > 5 {
      #expect(Ablation.arms(arms, block: 1, seed: 7) != Ablation.arms(arms, block: 1 + turns, seed: 7))
    }
    #expect(Ablation.arms([Self.base], block: 3, seed: 7) == [Self.base])
  }

  /// The default alone is calibrated, six blocks of everything run, and each pair stands in one block.
  @Test func aPlanWithoutAGoal() {
    let plan = Self.plan(nil, changes: 7)
    let effects = GoalTests.effects { _ in 0.1 }
    let result = effects.run(plan)
    #expect(effects.requests.count { if case .calibrate = $0.mode { true } else { false } } == 2)
    #expect(plan.steps.count == effects.requests.count && result.repeats.count == 16)
    for planned in plan.scenarios {
      for arm in planned.arms {
        let blocks = result.rows.filter { $0.cell == CellKey(planned.scenario, arm) }.map(\.block)
        #expect(blocks.count == (arm == Self.base ? 12 : 6) && Set(blocks).count == blocks.count)
      }
    }
    #expect(table(plan, result).families == ["forkjoin", "overhead"])
    #expect(plan.effortWords.hasPrefix("6 blocks of "))
  }

  @Test func timeGoesWhereTheVerdictIsOpen() throws {
    let plan = Self.plan(Goal(halfWidth: 0.02, seconds: 0.6), changes: 3)
    // The first change takes twice as long, which is plain; the second is equal, and hardly scatters; the third
    // scatters.
    let effects = GoalTests.effects {
      $0.subject == Self.change(3).subject ? 0.1 : 0.003
    } factor: {
      $0.subject == Self.change(1).subject ? 2 : 1
    }
    let result = effects.run(plan)
    func blocks(_ number: Int) -> Int {
      result.rows.count { $0.cell.arm == Self.change(number) && $0.cell.scenario.name.family == "overhead" }
    }
    #expect(blocks(3) > 3 * blocks(1) && blocks(3) > 3 * blocks(2))
    let table = table(plan, result)
    #expect(table.cell(Self.change(1), family: "overhead")?.verdict == .more)
    #expect(table.cell(Self.change(2), family: "overhead")?.verdict == .same)
    #expect(table.comparisons == 9)
    #expect(table.helpful.isEmpty)
    let text = AblationText(table).text(width: 100)
    #expect(text.contains("change=1") && text.contains("what is sure:\n  change=1: forkjoin x2.0"))
    #expect(text.contains("all 9 intervals"))
  }

  @Test func whatHelpsSomewhereAndHarmsNowhereIsHelpful() {
    let plan = Self.plan(nil, changes: 4)
    let effects = GoalTests.effects { _ in
      0.001
    } factor: { request in
      let isFib = request.benchmark == "fib"
      return switch request.subject {
      case Self.change(1).subject: 0.8
      case Self.change(2).subject: isFib ? 0.5 : 1
      case Self.change(3).subject: isFib ? 0.5 : 1.2
      default: 1
      }
    }
    var more = plan.effort
    more.blocks *= 4
    var longer = Plan(scenarios: plan.scenarios, effort: more, seed: 1, startup: 0)
    longer.isAblation = true
    let table = table(longer, effects.run(longer))
    #expect(table.helpful == [Self.change(2), Self.change(1)])
    #expect(table.cell(Self.change(3), family: "forkjoin")?.verdict == .less)
    #expect(table.cell(Self.change(3), family: "overhead")?.verdict == .more)
    #expect(table.cell(Self.change(4), family: nil)?.verdict == .same)
  }

  /// A failed change has no numbers and takes no time; a failed default leaves nothing to compare.
  @Test func whatFailsIsLeftOut() {
    let plan = Self.plan(Goal(halfWidth: 0.02, seconds: 1), changes: 2)
    let effects = GoalTests.effects { _ in 0.05 }
    let answer = effects.answer
    effects.answer = {
      $0.subject == Self.change(1).subject ? FakeEffects.outcome(.exited(1), []) : answer($0)
    }
    let result = effects.run(plan)
    #expect(result.failures.count == 2)
    #expect(table(plan, result).changes == [Self.change(2)])
    let none = GoalTests.effects { _ in 0.05 }
    none.answer = { _ in FakeEffects.outcome(.exited(1), []) }
    let empty = none.run(plan)
    #expect(empty.rows.isEmpty && table(plan, empty).changes.isEmpty)
    #expect(AblationText(table(plan, empty)).text(width: 80) == "no change has a number beside pool@2\n")
  }

  /// Without any difference, a look finds none: of 500 comparisons that are asked together, hardly ever one. That many
  /// are tried.
  @Test func looksFindNoDifferenceThatIsNotThere() {
    var noise = CoverageTests.Noise("looks")
    let looks = Ablation.Looks(comparisons: 500)
    var decided = 0
    for _ in 0..<500 {
      var logarithms: [Double] = []
      var isDecided = false
      for _ in 0..<60 {
        logarithms.append(0.1 * noise.next())
        if Ablation.Looks.blocks.contains(logarithms.count), looks.isDecided(logarithms) { isDecided = true }
      }
      if isDecided { decided += 1 }
    }
    #expect(decided == 0)
    // A plain difference is found as soon as the blocks can carry that many comparisons.
    let plain = (0..<60).map { 0.5 + 0.001 * Double($0) }
    #expect(!looks.isDecided(Array(plain.prefix(12))))
    #expect(looks.isDecided(Array(plain.prefix(18))) && looks.isDecided(plain))
    #expect(Ablation.Looks(comparisons: 1).isDecided(Array(plain.prefix(12))))
    #expect(!looks.isDecided([]))
  }

  /// Of all intervals of a table without differences, all hold in 95 of 100 tables.
  @Test func theIntervalsOfATableHoldTogether() {
    var wrong = 0
    for trial in 0..<60 {
      let plan = Self.plan(nil, changes: 5)
      var noise = CoverageTests.Noise("table-\(trial)")
      let effects = FakeEffects()
      effects.answer = { request in
        if case .calibrate = request.mode { return FakeEffects.outcome(.exited(0), [.repeats(1), .end]) }
        let time = exp(0.1 * noise.next())
        return FakeEffects.outcome(
          .exited(0), [.reading(valueIndex: 1, Reading(.nsPerOp, time, count: 1)), .end])
      }
      var more = plan.effort
      more.blocks = 12
      var longer = Plan(scenarios: plan.scenarios, effort: more, seed: UInt64(trial), startup: 0)
      longer.isAblation = true
      let table = table(longer, effects.run(longer))
      let verdicts = table.changes.flatMap { change in
        table.families.compactMap { table.cell(change, family: $0)?.verdict }
      }
      #expect(verdicts.count == 10)
      if verdicts.contains(.less) || verdicts.contains(.more) { wrong += 1 }
    }
    #expect(wrong <= 6)
  }

  /// A change that is better by just more than the margin is called no better in one of forty cells at most, when each
  /// interval is that of one comparison; one that makes no difference, in most cells of many blocks.
  @Test func noBetterIsSaidOfWhatIsNot() throws {
    var noise = CoverageTests.Noise("no-better")
    func said(_ truth: Double, blocks: Int, trials: Int) throws -> Int {
      try (0..<trials).count { _ in
        let logarithms = Dictionary(uniqueKeysWithValues: (0..<blocks).map { ($0, log(truth) + 0.1 * noise.next()) })
        let mean = try #require(TrimmedMean([RatioSeries(benchmark: "a", logarithms: logarithms)]))
        return Worth(mean, confidence: 0.95).isNoBetter
      }
    }
    // 10 are expected, give or take 12 (four standard errors).
    #expect((1...22).contains(try said(1 / 1.0301, blocks: 13, trials: 400)))
    #expect(try said(1, blocks: 100, trials: 100) > 60)
    #expect(try said(1.1, blocks: 40, trials: 100) == 100)
  }

  /// The whole comparison is dropped from an ablation, as from every other table.
  @Test func aBlockWithoutARatioTakesTheLineOfAnAblation() {
    let plan = Self.plan(nil, changes: 2, names: ["overhead/external-add"])
    let world = GoalTests.effects { _ in 0.01 }
    let answer = world.answer
    var isFirst = true
    world.answer = { request in
      guard request.subject == Self.change(1).subject, isFirst, case .time = request.mode else {
        return answer(request)
      }
      isFirst = false
      return FakeEffects.outcome(.exited(0), [.reading(valueIndex: 1, Reading(.nsPerOp, 0, count: 1)), .end])
    }
    let rows = world.run(plan).rows
    let table = AblationTable(AblationRatios(ResultTable(rows), plan.arms), seed: 1)
    #expect(rows.contains { $0.reading.value == 0 } && table.changes == [Self.change(2)])
  }
}
