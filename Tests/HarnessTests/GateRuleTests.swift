import Glibc
import LaboratorySupport
import Testing

@testable import Harness

/// The gate's verdicts as pure functions of blocks.
struct GateRuleTests {
  let rule = GateRule(tolerance: 0.1)

  func blocks(_ effects: [Double], null: [Double] = [], excluded: Int = 0) -> [PairedBlock] {
    effects.enumerated().map { index, effect in
      PairedBlock(effect: effect, null: index < null.count ? null[index] : 0)
    } + Array(repeating: PairedBlock(effect: 9, null: 9, isExcluded: true), count: excluded)
  }

  @Test func theFirstLook() {
    #expect(rule.firstLook(blocks([0.09, -0.2, 0.05, 0, 0.3])) == .clear)
    // At the threshold is beyond it, in both directions.
    #expect(rule.firstLook(blocks([0.1, 0.1, 0.1, 0, 0.3])) == .suspect)
    #expect(rule.firstLook(blocks([-0.1, -0.1, -0.1, 0, 0.3])) == .suspect)
    // Excluded blocks do not count, and too many of them are too many.
    #expect(rule.firstLook(blocks([0, 0, 0, 0, 0], excluded: 1)) == .clear)
    #expect(isUnclear(rule.firstLook(blocks([0, 0, 0, 0, 0], excluded: 2))))
    #expect(isUnclear(rule.firstLook(blocks([0, 0, 0, 0]))))
    #expect(isUnclear(rule.firstLook([])))
    #expect(isUnclear(rule.firstLook(blocks([], excluded: 6))))
  }

  @Test func aLoudNullControlClearsNothing() {
    let loud = Array(repeating: 0.05, count: 5)
    #expect(isUnclear(rule.firstLook(blocks([0, 0, 0, 0, 0], null: loud))))
    #expect(rule.firstLook(blocks([0, 0, 0, 0, 0], null: loud.map { $0 - 0.001 })) == .clear)
    // Symmetric noise has a quiet median.
    #expect(isUnclear(rule.firstLook(blocks([0, 0, 0, 0, 0], null: [-0.3, 0.3, 0, -0.2, 0.2]))))
    // A suspect is one all the same: the second stage decides.
    #expect(rule.firstLook(blocks([1, 1, 1, 1, 1], null: loud)) == .suspect)
  }

  func isUnclear(_ look: GateRule.FirstLook) -> Bool { if case .unclear = look { true } else { false } }

  func decision(_ effects: [Double], null: [Double] = [], excluded: Int = 0) -> GateVerdict {
    rule.decide(blocks(effects, null: null, excluded: excluded)).verdict
  }

  @Test func theSecondLook() {
    let slower = Array(repeating: 0.15, count: 9)
    #expect(decision(slower + [0.15]) == .regression)
    #expect(decision(slower + [-0.5]) == .regression, "nine of ten are enough")
    #expect(decision(slower.dropLast() + [-0.5, -0.5]) == .inconclusive, "eight are not")
    #expect(decision(slower.dropLast() + [0, 0]) == .inconclusive, "no difference is not slower")
    #expect(decision(slower.map { -$0 } + [0.5]) == .improvement)
    #expect(decision(slower.dropLast().map { -$0 } + [0.5, 0.5]) == .inconclusive)
    #expect(decision(Array(repeating: 0.099, count: 10)) == .pass, "all slower, and by less than the threshold")
    #expect(decision(Array(repeating: 0, count: 10)) == .pass)
    #expect(decision(Array(repeating: 0.1, count: 10)) == .regression, "at the threshold")
  }

  func isOpen(_ effects: [Double], null: [Double] = [], excluded: Int = 0) -> Bool {
    rule.decide(blocks(effects, null: null, excluded: excluded)).isOpenForMore
  }

  @Test func moreBlocksAreAskedForWhereTheyMayTell() {
    let slower = Array(repeating: 0.15, count: 8)
    #expect(isOpen(slower + [-0.5, -0.5]), "eight of ten")
    #expect(isOpen(slower + [0.15, 0.15], excluded: 4), "a disturbed host")
    // Blocks that lack the number were run all the same.
    #expect(rule.decide([], of: 30).isOpenForMore && !rule.decide([], of: 31).isOpenForMore)
    #expect(isOpen([], excluded: 13) && isOpen([], excluded: 26) && !isOpen([], excluded: 39))
    #expect(isOpen(slower + slower, null: Array(repeating: 0.06, count: 16)), "the base looks slower than itself")
    #expect(!isOpen(slower + [0.15, 0.15]) && !isOpen(Array(repeating: 0, count: 10)), "decided")
    func wavering(_ size: Double, _ count: Int = 10) -> [Double] {
      (0..<count).map { $0.isMultiple(of: 2) ? size : -size }
    }
    #expect(!isOpen(slower + [0, 0], null: wavering(0.2)), "noise stays noise")
    #expect(isOpen(slower + [0, 0], null: wavering(0.13)), "thirty blocks may even out a little of it")
    let all = Array(repeating: 0.0, count: 30)
    #expect(decision(all, null: wavering(0.17, 30)) == .pass)
    #expect(decision(all, null: wavering(0.18, 30)) == .inconclusive)
    #expect(!isOpen((0..<30).map { $0.isMultiple(of: 3) ? -0.5 : 0.15 } + slower), "there is an end")
  }

  @Test func ofMoreBlocksAsManyAgreeAsSureAsNineOfTen() {
    func decision(_ worse: Int, of count: Int) -> GateVerdict {
      self.decision(Array(repeating: 0.15, count: worse) + Array(repeating: -0.5, count: count - worse))
    }
    #expect(decision(16, of: 20) == .regression && decision(15, of: 20) == .inconclusive)
    #expect(decision(22, of: 30) == .regression && decision(21, of: 30) == .inconclusive)
  }

  @Test func whatIsNotValidIsInconclusive() {
    let slower = Array(repeating: 0.2, count: 10)
    #expect(decision(slower, excluded: 3) == .regression, "three of thirteen are less than a quarter")
    #expect(decision(slower, excluded: 4) == .inconclusive)
    #expect(decision([], excluded: 10) == .inconclusive)
    #expect(decision([]) == .inconclusive)
    #expect(decision(Array(slower.dropLast())) == .inconclusive, "nine blocks")
    #expect(decision(slower, null: Array(repeating: 0.05, count: 10)) == .inconclusive)
    #expect(decision(slower, null: Array(repeating: -0.05, count: 10)) == .inconclusive)
    #expect(decision(slower, null: (0..<10).map { $0.isMultiple(of: 2) ? 0.2 : -0.2 }) == .inconclusive)
    #expect(decision(Array(repeating: 0, count: 10), null: Array(repeating: 0.05, count: 10)) == .inconclusive)
    for excluded in [4, 10] { #expect(rule.decide(blocks(slower, excluded: excluded)).reason?.isEmpty == false) }
  }

  @Test func howManyBlocksMayRun() {
    #expect(GateRule.mostBlocks(for: 5) == 6 && GateRule.mostBlocks(for: 10) == 13)
    for counted in 1...200 {
      let excluded = GateRule.mostBlocks(for: counted) - counted
      #expect(Double(excluded) <= 0.25 * Double(counted + excluded))
      #expect(Double(excluded + 1) > 0.25 * Double(counted + excluded + 1), "one more would be too many")
    }
  }

  @Test func chance() {
    #expect(abs(GateRule.chance(agreeing: 10, of: 10) - 2 / 1024) < 1e-12)
    #expect(abs(GateRule.chance(agreeing: 9, of: 10) - 22 / 1024) < 1e-12)
    #expect(GateRule.chance(agreeing: 5, of: 10) == 1 && GateRule.chance(agreeing: 0, of: 0) == 1)
  }

  @Test func verdictsTogether() {
    #expect(GateVerdict.combined([]) == .inconclusive)
    #expect(GateVerdict.combined([.pass, .pass]) == .pass)
    #expect(GateVerdict.combined([.pass, .improvement]) == .improvement)
    #expect(GateVerdict.combined([.improvement, .inconclusive, .pass]) == .inconclusive)
    #expect(GateVerdict.combined(GateVerdict.allCases) == .regression)
    #expect(GateVerdict.allCases.map(\.exitCode) == [0, 2, 3, 4])
  }
}

/// The two stages on simulated noise with a known truth.
struct GateRatesTests {
  /// What the gate says of one measure whose head is slower by `effect`, with blocks that waver by `noise`.
  func verdict(_ effect: Double, noise: Double, tolerance: Double, _ random: inout CoverageTests.Noise) -> GateVerdict {
    let rule = GateRule(tolerance: tolerance)
    // Both comparisons share the base, as the real ones do.
    func blocks(_ count: Int) -> [PairedBlock] {
      (0..<count).map { _ in
        let base = random.next() * noise / 2.0.squareRoot()
        return PairedBlock(
          effect: effect + random.next() * noise / 2.0.squareRoot() - base,
          null: random.next() * noise / 2.0.squareRoot() - base)
      }
    }
    if rule.firstLook(blocks(GateRule.firstBlocks)) == .clear { return .pass }
    var second: [PairedBlock] = []
    while true {
      second += blocks(GateRule.secondBlocks)
      let decision = rule.decide(second)
      if !decision.isOpenForMore { return decision.verdict }
    }
  }

  /// The threshold that a calibration on that noise gives.
  func tolerance(noise: Double, _ random: inout CoverageTests.Noise) -> Double {
    let medians = (0..<30).map { _ in Statistics.median((0..<5).map { _ in random.next() * noise }) }
    let cell = CellKey(Sample.scenario, Arm(subject: "stealing", workers: 1))
    return log(GateThresholds.entry(cell, GatedMetric(.nsPerOp, .wallClock), medians: medians).threshold)
  }

  @Test(arguments: [0.01, 0.03, 0.06])
  func falseAlarmsAreRareAndSlowdownsOfTwiceTheThresholdAreFound(noise: Double) {
    var random = CoverageTests.Noise("gate-\(noise)")
    let trials = 2_000
    var alarms = 0
    var found = 0
    var passed = 0
    for _ in 0..<trials {
      let tolerance = tolerance(noise: noise, &random)
      switch verdict(0, noise: noise, tolerance: tolerance, &random) {
      case .regression: alarms += 1
      case .pass: passed += 1
      case .inconclusive, .improvement: break
      }
      if verdict(2 * tolerance, noise: noise, tolerance: tolerance, &random) == .regression { found += 1 }
    }
    #expect(alarms <= 2, "\(alarms) false alarms in \(trials)")
    #expect(Double(passed) / Double(trials) > 0.95, "\(passed) of \(trials) equals passed")
    #expect(Double(found) / Double(trials) > 0.85, "\(found) of \(trials) slowdowns were found")
  }

  @Test func loudNoiseIsNeitherPassedNorBlamed() {
    var random = CoverageTests.Noise("gate-loud")
    var verdicts: [GateVerdict] = []
    for _ in 0..<1_000 { verdicts.append(verdict(0, noise: 0.6, tolerance: 0.1, &random)) }
    #expect(verdicts.count { $0 == .inconclusive } > 960)
    #expect(verdicts.count { $0 == .regression || $0 == .improvement } <= 5)
  }
}

struct BinomialBoundsTests {
  /// From `scipy.stats.binomtest(k, n).proportion_ci(0.95, "exact")`.
  @Test(arguments: [
    (0, 30, 0.0, 0.11570), (30, 30, 0.88430, 1.0), (28, 30, 0.77926, 0.99182), (1, 10, 0.00253, 0.44502),
  ])
  func exactIntervals(hits: Int, trials: Int, lower: Double, upper: Double) {
    let bounds = BinomialBounds(hits: hits, of: trials)
    #expect(abs(bounds.lower - lower) < 1e-4 && abs(bounds.upper - upper) < 1e-4, "\(bounds)")
  }
}
