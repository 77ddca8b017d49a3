import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessRunning
@testable import HarnessStatistics
@testable import HarnessWords

/// The conclusions of `opbench validate`, from rows whose truth is known.
struct ValidationTests {
  /// Of two scenarios, from a laboratory whose noise is that share, and whose arms drift together.
  func rows(noise: Double, bias: Double = 0, rounds: Int = 12, seed: UInt64 = 1) -> [Row] {
    var random = SeededGenerator(seed: seed)
    return (1...2).flatMap { benchmark in
      (1...rounds * Validation.blocksPerRound).flatMap { block -> [Row] in
        let drift = Double.random(in: 100...200, using: &random)
        return Validation.levels.map { level in
          let truth = 1 + level.delay + (level == Validation.again ? bias : 0)
          return Row(
            runID: "r", block: block, process: block, valueIndex: 1,
            cell: CellKey(
              Scenario(BenchmarkName("overhead", "b\(benchmark)"), [:]), Arm(subject: level.name, workers: 1)),
            reading: Reading(
              .nsPerOp, drift * truth * (1 + noise * Double.random(in: -1...1, using: &random)), count: 1))
        }
      }
    }
  }

  @Test func aQuietLaboratoryFindsWhatIsThereAndOnlyThat() {
    var flagged = 0
    var passed = 0
    for seed in 1...40 as ClosedRange<UInt64> {
      let validation = Validation(ResultTable(rows(noise: 0.01, seed: seed)))
      for finding in validation.findings {
        // The first interval is narrow: each comparison has the fewest blocks.
        #expect((finding.comparisons, finding.blocks) == (24, 14) && finding.halfWidth <= Validation.goal)
      }
      #expect(validation.findings.dropFirst().map(\.flagged) == [24, 24, 24])
      for finding in validation.findings { #expect(abs(finding.ratio - 1 - finding.level.delay) < 0.01) }
      flagged += validation.findings[0].flagged
      passed += validation.equalsPass ? 1 : 0
    }
    // Fourteen blocks flag 4.9 % of equals: 47 of 960, give or take four times seven.
    #expect(19...75 ~= flagged, "\(flagged) of 960 equals were told apart")
    // What chance flags fails no laboratory, but for one in twenty whose widened intervals are unlucky.
    #expect(passed >= 33, "\(passed) of 40 passed")
  }

  /// What the goal is for: where a comparison ends by its width, nine of ten differences of 2 % are found.
  @Test func twoPercentAreFoundNineTimesInTen() {
    var (found, comparisons) = (0, 0)
    for seed in 1...3 as ClosedRange<UInt64> {
      // The ratio of a block scatters by 2.4 %: comparisons take about twenty blocks.
      let finding = Validation(ResultTable(rows(noise: 0.03, rounds: 24, seed: seed))).findings[1]
      #expect(finding.level.delay == 0.02 && finding.blocks < Double(Validation.mostBlocks))
      found += finding.flagged
      comparisons += finding.comparisons
    }
    #expect(comparisons > 60 && Double(found) >= 0.9 * Double(comparisons), "\(found) of \(comparisons)")
  }

  @Test func aNoisyOneMissesSmallDelays() {
    let validation = Validation(ResultTable(rows(noise: 0.15)))
    let found = validation.findings.map(\.share)
    #expect(found[1] < 0.5 && found[3] > 0.5, "\(found)")
    #expect(validation.findings[3].flaggedWidened <= validation.findings[3].flagged)
  }

  @Test func aBiasBetweenEqualsFails() {
    let validation = Validation(ResultTable(rows(noise: 0.01, bias: 0.05)))
    #expect(!validation.equalsPass && validation.findings[0].share == 1)
  }

  /// As a run `--until` ends: when the interval was narrow twice running, or when it was narrow from the first. However
  /// much noise there is, a comparison ends.
  @Test func blocksAreCutIntoComparisons() {
    var random = SeededGenerator(seed: 3)
    func noise(_ share: Double, _ count: Int) -> [Double] {
      (0..<count).map { _ in share * Double.random(in: -1...1, using: &random) }
    }
    #expect(Validation.cut([]).isEmpty && Validation.cut(noise(0.01, 13)).isEmpty)
    #expect(Validation.cut(noise(0.01, 45)).map(\.count) == [14, 14, 14])
    let some = noise(0.04, 400)
    let cut = Validation.cut(some)
    #expect(cut.flatMap(\.self) == Array(some.prefix(cut.map(\.count).reduce(0, +))) && cut.count > 5)
    for comparison in cut {
      let hasEarlier = comparison.count > Validation.fewestBlocks
      let looks = hasEarlier ? [comparison.dropLast(), comparison[...]] : [comparison[...]]
      let widths = looks.map { Statistics.pairedEstimate(Array($0)).interval! }
      #expect(widths.allSatisfy { $0.upperBound - $0.lowerBound <= 2 * Validation.goal })
    }
    #expect(Validation.cut(noise(2, 300)).map(\.count) == [Validation.mostBlocks, Validation.mostBlocks])
  }

  /// Of the fewest comparisons one is the stated share.
  @Test func theFewestRoundsShowAShareOfFivePercent() {
    for benchmarks in 1...30 {
      let rounds = Validation.fewestRounds(benchmarks: benchmarks)
      #expect(1 / Double(rounds * benchmarks) <= Validation.statedLevel)
      #expect(rounds == 1 || 1 / Double((rounds - 1) * benchmarks) > Validation.statedLevel)
    }
    #expect(Validation.fewestRounds(benchmarks: 6) == 4)
  }

  /// 5 % are promised, and counts of 72 waver: 8 are within what chance does, 9 are not.
  @Test func moreThanChanceFlagsFails() {
    func passes(_ flagged: Int, of comparisons: Int) -> Bool {
      Validation.Finding(
        level: Validation.again, comparisons: comparisons, blocks: 28, flagged: flagged, flaggedWidened: 0, ratio: 1,
        halfWidth: 0.02
      ).isWithinStatedLevel
    }
    #expect(passes(0, of: 72) && passes(8, of: 72) && !passes(9, of: 72))
    #expect(passes(2, of: 12) && !passes(4, of: 12) && !passes(0, of: 0))
  }

  @Test func nothingMeasuredIsNothingShown() {
    #expect(!Validation(ResultTable([])).equalsPass)
    let few = Validation(ResultTable(rows(noise: 0.01).filter { $0.block <= 5 }))
    #expect(few.findings.allSatisfy { $0.comparisons == 0 } && !few.equalsPass)
  }

  @Test func whatTheHarnessMayCost() {
    func cost(ns: Double = 1, switches: Double = 0, allocations: Double? = 0) -> Bool {
      HarnessCost(
        Sample.scenario, nsPerOp: ns, voluntarySwitchesPerOp: switches, allocationsPerOp: allocations
      ).passes(lockNanoseconds: 10)
    }
    #expect(cost() && cost(allocations: nil) && cost(allocations: 0.0007))
    #expect(!cost(ns: 11) && !cost(switches: 1) && !cost(allocations: 1))
    #expect(HarnessCost.lockNanoseconds() > 0)
  }
}

struct MachineWarningsTests {
  @Test func inPlainWords() {
    let all = MachineWarnings.warnings(load: 3, isOptimised: false, governor: "powersave", boost: "1")
    #expect(all.count == 3)
    for word in ["load average 3", "debug build", "powersave"] { #expect(all.contains { $0.contains(word) }) }
    #expect(MachineWarnings.warnings(load: 0, isOptimised: true, governor: "performance", boost: "0").isEmpty)
    #expect(
      MachineWarnings.warnings(load: nil, isOptimised: true, governor: nil, boost: nil)[0].contains("not visible"))
    #expect(MachineWarnings.warnings(load: 0, isOptimised: true, governor: "performance", boost: "1").count == 1)
  }

  @Test func stealAndSwap() {
    var result = RunResult()
    for block in 1...4 { result.blocksRun.insert(ScenarioBlock(Sample.scenario, block: block)) }
    var outcome = RunOutcome()
    #expect(MachineWarnings.after(result, outcome, more: "--blocks").isEmpty)
    result.disturbed = [ScenarioBlock(Sample.scenario, block: 1)]
    #expect(MachineWarnings.after(result, outcome, more: "--blocks").count == 1)
    result.disturbed.insert(ScenarioBlock(Sample.scenario, block: 2))
    #expect(MachineWarnings.after(result, outcome, more: "--blocks").contains { $0.contains("unstable") })
    #expect(result.excluded == result.disturbed)
    result.disturbed = result.blocksRun
    #expect(result.excluded.isEmpty)
    #expect(MachineWarnings.after(result, outcome, more: "--blocks").contains { $0.contains("no other is left") })
    outcome.swappedPages = 5
    #expect(MachineWarnings.after(result, outcome, more: "--blocks").contains { $0.contains("5 pages") })
  }

  @Test func aBenchmarkWithoutABlockSaysSo() {
    var result = RunResult()
    result.blocksRun = [
      ScenarioBlock(Sample.scenario, block: 1), ScenarioBlock(Scenario(BenchmarkName("a", "b"), [:]), block: 1),
    ]
    result.disturbed = [ScenarioBlock(Sample.scenario, block: 1)]
    #expect(
      MachineWarnings.after(result, RunOutcome(), more: "--blocks").contains {
        $0.contains("no number for overhead/external-add")
      })
  }
}
