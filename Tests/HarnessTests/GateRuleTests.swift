import Glibc
import LaboratorySupport
import Testing

@testable import HarnessGate
@testable import HarnessStatistics

/// The gate's verdicts as pure functions of blocks.
struct GateRuleTests {
  let rule = GateRule(.difference, threshold: 0.1)

  func blocks(_ effects: [Double], null: [Double] = [], excluded: Int = 0) -> [PairedBlock] {
    effects.enumerated().map { index, effect in
      PairedBlock(effect: effect, null: index < null.count ? null[index] : 0)
    } + Array(repeating: PairedBlock(effect: 9, null: 9, isExcluded: true), count: excluded)
  }

  /// Evenly spread values around a centre, whose interval has the given half-width.
  func spread(around centre: Double = 0, _ halfWidth: Double, _ count: Int) -> [Double] {
    let values = (0..<count).map { Double($0 * 7 % count) - Double(count - 1) / 2 }
    let interval = Statistics.pairedEstimate(values).interval!
    return values.map { centre + $0 * 2 * halfWidth / (interval.upperBound - interval.lowerBound) }
  }

  func isOpen(_ effects: [Double], null: [Double] = [], excluded: Int = 0) -> Bool {
    rule.isOpen(blocks(effects, null: null, excluded: excluded))
  }

  @Test func aMeasureIsOpenUntilItsIntervalsAreNarrow() {
    let still = Array(repeating: 0.0, count: 20)
    #expect(rule.isOpen([]) && isOpen(Array(still.prefix(5))) && !isOpen(Array(still.prefix(6))))
    // Half of the threshold is narrow, more is not. So it is for the head and for the base against itself.
    #expect(!isOpen(spread(0.049, 6)) && isOpen(spread(0.051, 6)))
    #expect(!isOpen(Array(still.prefix(6)), null: spread(0.049, 6)))
    #expect(isOpen(Array(still.prefix(6)), null: spread(0.051, 6)))
    // The first interval that is narrow after one that was not may be narrow by chance.
    #expect(isOpen([0.15] + Array(still.prefix(6))) && !isOpen([0.15] + Array(still.prefix(7))))
  }

  /// The rule never sees the effect: a difference that would be a verdict ends nothing, and keeps nothing open.
  @Test(arguments: [-1, -0.1, 0.0, 0.05, 0.1, 0.3, 1])
  func howLargeTheEffectIsDecidesNothing(effect: Double) {
    for (size, count) in [(0.049, 6), (0.051, 6), (0.2, 20), (0.3, 40)] {
      #expect(isOpen(spread(around: effect, size, count)) == isOpen(spread(size, count)), "\(size), \(count)")
    }
  }

  @Test func equalsThatSeemToDifferGetMoreBlocks() {
    let still = Array(repeating: 0.0, count: 20)
    #expect(isOpen(still, null: still.map { _ in 0.05 }) && isOpen(still, null: still.map { _ in -0.05 }))
    #expect(!isOpen(still, null: still.map { _ in 0.049 }))
  }

  @Test func lostBlocksAreRunAgain() {
    let still = Array(repeating: 0.0, count: 9)
    #expect(!isOpen(still, excluded: 3), "a quarter")
    #expect(isOpen(still, excluded: 4) && isOpen([], excluded: 40))
  }

  @Test func whatManyBlocksWouldNotTellIsGivenUp() {
    // Three times the threshold after 24 blocks: 1.3 times after 120.
    #expect(isOpen(spread(0.3, 22)) && !isOpen(spread(0.3, 24)))
    #expect(!isOpen(Array(repeating: 0, count: 24), null: spread(0.3, 24)))
    #expect(isOpen(spread(0.15, 24)), "0.7 times after 120")
  }

  func verdict(_ effects: [Double], null: [Double] = [], excluded: Int = 0) -> GateVerdict {
    rule.decide(blocks(effects, null: null, excluded: excluded)).verdict
  }

  @Test func ofNarrowIntervalsTheCentreDecides() {
    func verdict(_ centre: Double) -> GateVerdict { self.verdict(spread(around: centre, 0.04, 12)) }
    #expect(verdict(0) == .pass && verdict(0.099) == .pass && verdict(-0.099) == .pass)
    #expect(verdict(0.1001) == .regression && verdict(-0.1001) == .improvement)
    #expect(self.verdict(Array(repeating: 0.1, count: 6)) == .regression, "at the threshold is beyond it")
    // One block of many that strays decides nothing.
    #expect(self.verdict(Array(repeating: 0.15, count: 9) + [-5]) == .regression)
    #expect(self.verdict(Array(repeating: 0, count: 9) + [5]) == .pass)
  }

  @Test func wideIntervalsDecideWhereTheyAreSure() {
    func verdict(_ centre: Double) -> GateVerdict { self.verdict(spread(around: centre, 0.08, 12)) }
    // The interval is ±0.08: within the threshold as a whole, or two half-widths from nothing.
    #expect(verdict(0.015) == .pass && verdict(-0.015) == .pass)
    #expect(verdict(0.03) == .inconclusive && verdict(-0.03) == .inconclusive)
    #expect(verdict(0.15) == .inconclusive && verdict(-0.15) == .inconclusive)
    #expect(verdict(0.17) == .regression && verdict(-0.17) == .improvement)
    #expect(self.verdict(spread(0.3, 24)) == .inconclusive)
  }

  @Test func whatIsNotValidIsInconclusive() {
    let slower = Array(repeating: 0.2, count: 9)
    #expect(verdict(slower, excluded: 3) == .regression, "a quarter")
    #expect(verdict([]) == .inconclusive && verdict(Array(slower.prefix(5))) == .inconclusive)
    #expect(verdict(slower, null: slower.map { _ in 0.05 }) == .inconclusive)
    #expect(verdict(slower, null: slower.map { _ in -0.05 }) == .inconclusive)
    #expect(verdict(slower.map { _ in 0 }, null: slower.map { _ in 0.05 }) == .inconclusive)
    func reason(_ effects: [Double], null: [Double] = [], excluded: Int = 0) -> String? {
      rule.decide(blocks(effects, null: null, excluded: excluded)).reason
    }
    #expect(reason(slower, excluded: 4) == "4 of 13 blocks lost CPU time to others")
    #expect(reason(Array(slower.prefix(5))) == "5 blocks instead of 6")
    #expect(reason(slower, null: slower.map { _ in 0.05 })?.hasPrefix("the base differs from itself") == true)
    #expect(reason(spread(0.3, 24)) == "noise: the interval is ±0.300 after 24 blocks, a verdict needs ±0.050")
    #expect(
      reason(spread(0.3, 24), null: spread(0.4, 24))?.hasPrefix(
        "noise: the interval of the base against itself is ±0.400 after 24 blocks") == true)
    #expect(
      GateRule(.ratio, threshold: 1.1).decide(blocks(spread(0.3, 24))).reason?.contains("a verdict needs ±4.8 %")
        == true)
    #expect(reason(slower) == nil)
  }

  @Test func howManyBlocksMayRun() {
    #expect(GateRule.mostRun(for: 5) == 6 && GateRule.mostRun(for: 10) == 13)
    for counted in 1...200 {
      let excluded = GateRule.mostRun(for: counted) - counted
      #expect(Double(excluded) <= 0.25 * Double(counted + excluded))
      #expect(Double(excluded + 1) > 0.25 * Double(counted + excluded + 1), "one more would be too many")
    }
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

/// The rule on simulated noise with a known truth: when it stops, and what it says then.
struct GateRatesTests {
  static let tolerance = 0.1

  /// What the gate says of one measure whose head is slower by `effect`, with blocks that waver by `noise`.
  func verdict(
    _ effect: Double, noise: Double, _ shape: CoverageTests.Shape, _ random: inout CoverageTests.Noise
  ) -> GateVerdict {
    let rule = GateRule(.difference, threshold: Self.tolerance)
    var blocks: [PairedBlock] = []
    while blocks.count < GateRule.mostBlocks, rule.isOpen(blocks) {
      // Both comparisons share the base, as the real ones do.
      let arms = (0..<3).map { _ in shape.next(&random) * noise / 2.0.squareRoot() }
      blocks.append(PairedBlock(effect: effect + arms[1] - arms[0], null: arms[2] - arms[0]))
    }
    return rule.decide(blocks).verdict
  }

  @Test(arguments: [0.03, 0.07])
  func falseAlarmsAreRareAndSlowdownsOfTwiceTheThresholdAreFound(noise: Double) {
    var random = CoverageTests.Noise("gate-\(noise)")
    let trials = 500
    var (wrong, passed, found) = (0, 0, 0)
    for _ in 0..<trials {
      switch verdict(0, noise: noise, .normal, &random) {
      case .regression, .improvement: wrong += 1
      case .pass: passed += 1
      case .inconclusive: break
      }
      if verdict(2 * Self.tolerance, noise: noise, .normal, &random) == .regression { found += 1 }
    }
    #expect(wrong == 0, "\(wrong) false alarms in \(trials)")
    #expect(Double(passed) / Double(trials) > 0.99, "\(passed) of \(trials) equals passed")
    #expect(Double(found) / Double(trials) > 0.99, "\(found) of \(trials) slowdowns were found")
  }

  @Test(arguments: CoverageTests.Shape.allCases)
  func noiseOfOtherShapes(shape: CoverageTests.Shape) {
    var random = CoverageTests.Noise("gate-\(shape)")
    let trials = 100
    var verdicts: [GateVerdict] = []
    for _ in 0..<trials { verdicts.append(verdict(0, noise: 0.05, shape, &random)) }
    #expect(verdicts.allSatisfy { $0 == .pass || $0 == .inconclusive })
    #expect(verdicts.count { $0 == .pass } > trials * 9 / 10, "\(verdicts.count { $0 == .pass })")
  }

  @Test func loudNoiseIsNeitherPassedNorBlamed() {
    var random = CoverageTests.Noise("gate-loud")
    var verdicts: [GateVerdict] = []
    for _ in 0..<300 { verdicts.append(verdict(0, noise: 0.6, .normal, &random)) }
    #expect(verdicts.count { $0 == .inconclusive } > 295)
    #expect(verdicts.count { $0 == .regression || $0 == .improvement } <= 1)
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
