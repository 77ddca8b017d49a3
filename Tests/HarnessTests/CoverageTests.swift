import Glibc
import Testing

@testable import HarnessStatistics

/// Simulated noise with a known truth: intervals hold it as often as they say.
struct CoverageTests {
  /// Standard normal numbers (Box and Muller) from a seed.
  struct Noise {
    private var random: SeededGenerator
    init(_ purpose: String) { random = SeededGenerator(seed: 7, purpose: purpose) }

    mutating func next() -> Double {
      let first = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &random)
      return (-2 * Glibc.log(first)).squareRoot() * cos(2 * .pi * Double.random(in: 0..<1, using: &random))
    }
  }

  /// At least the stated rate, less what a binomial of that many trials wavers by (four standard errors); and where
  /// the rate is exact, not above it by more either.
  func expect(_ hits: Int, of trials: Int, rate: Double, isExact: Bool) {
    let share = Double(hits) / Double(trials)
    let error = 4 * (rate * (1 - rate) / Double(trials)).squareRoot()
    #expect(share >= rate - error, "\(share) of \(trials) held, \(rate) was promised")
    if isExact { #expect(share <= rate + error, "\(share) of \(trials) held, \(rate) was promised") }
  }

  @Test(arguments: [6, 7, 10, 11, 20])
  func aCellsIntervalHoldsTheMedian(count: Int) throws {
    var noise = Noise("cells-\(count)")
    let trials = 4_000
    let hits = (0..<trials).count { _ in
      // Log-normal: skewed as times are. Its median is exp(3).
      let values = (0..<count).map { _ in exp(3 + 0.4 * noise.next()) }
      return Statistics.estimate(values).interval!.contains(exp(3))
    }
    expect(hits, of: trials, rate: try #require(Statistics.medianRanks(count)).coverage, isExact: true)
  }

  /// The machine drifts far more than the effect is large, but slowly: a pair shares its drift.
  @Test(arguments: [10, 20])
  func pairingRemovesDrift(blocks: Int) throws {
    var noise = Noise("pairs-\(blocks)")
    let trials = 4_000
    let truth = 1.02
    var paired = 0
    var widths = 0.0
    var unpairedWidths = 0.0
    for _ in 0..<trials {
      var drift = 0.0
      let pairs = (0..<blocks).map { _ in
        drift = 0.95 * drift + 0.2 * noise.next()
        return (
          numerator: truth * exp(5 + drift + 0.02 * noise.next()), denominator: exp(5 + drift + 0.02 * noise.next())
        )
      }
      let interval = Pairing.ratio(pairs.compactMap { Pairing.logarithm($0.numerator, over: $0.denominator) })!
        .interval!
      if interval.contains(truth) { paired += 1 }
      widths += interval.upperBound - interval.lowerBound
      let alone = Statistics.estimate(pairs.map { Glibc.log($0.numerator) }).interval!
      unpairedWidths += alone.upperBound - alone.lowerBound
    }
    expect(paired, of: trials, rate: try #require(SignedRank.coverage(blocks)), isExact: true)
    #expect(widths < unpairedWidths / 4)
  }

  /// What the difference of two arms may look like when both have the same noise.
  enum Shape: CaseIterable {
    case normal, heavyTails, skew, twoStates

    func next(_ noise: inout Noise) -> Double {
      switch self {
      case .normal: noise.next()
      // The ratio of two normal numbers has no variance at all.
      case .heavyTails: noise.next() / noise.next()
      case .skew: exp(noise.next())
      case .twoStates: 0.1 * noise.next() + (noise.next() > 0.5 ? 1 : 0)
      }
    }
  }

  @Test(arguments: Shape.allCases, [6, 9, 15, 22, 40])
  func theIntervalOfARatioHoldsWhateverTheNoise(shape: Shape, blocks: Int) throws {
    var noise = Noise("\(shape)-\(blocks)")
    let trials = 400
    let hits = (0..<trials).count { _ in
      let differences = (0..<blocks).map { _ in 0.3 + shape.next(&noise) - shape.next(&noise) }
      return Statistics.pairedEstimate(differences).interval!.contains(0.3)
    }
    expect(hits, of: trials, rate: try #require(SignedRank.coverage(blocks)), isExact: true)
  }

  /// The median, over trials, of the width of the interval of signed ranks over that of the sign test.
  private func relativeWidth(_ shape: Shape, blocks: Int) -> Double {
    var noise = Noise("widths-\(shape)-\(blocks)")
    return Statistics.median(
      (0..<300).map { _ in
        let differences = (0..<blocks).map { _ in shape.next(&noise) - shape.next(&noise) }
        let (ranked, signed) = (
          Statistics.pairedEstimate(differences).interval!, Statistics.estimate(differences).interval!
        )
        return (ranked.upperBound - ranked.lowerBound) / (signed.upperBound - signed.lowerBound)
      })
  }

  /// The reason for signed ranks: they need fewer blocks.
  @Test func signedRanksAreNarrowerOfFewBlocks() {
    for shape in Shape.allCases where shape != .heavyTails {
      #expect(relativeWidth(shape, blocks: 22) < 0.95, "\(shape)")
    }
  }

  /// The reason for their cap: the sign test is not much narrower where processes are in one of two states.
  @Test func cappedRanksAreNarrowInTwoStates() {
    for blocks in [28, 44] { #expect(relativeWidth(.twoStates, blocks: blocks) < 1.1, "\(blocks) blocks") }
  }

  @Test func widenedIntervalsHoldTogether() {
    var noise = Noise("families")
    let trials = 1_000
    let widening = Widening(comparisons: 30)
    let confidence = widening.confidence(of: 20)!
    let hits = (0..<trials).count { _ in
      (0..<30).allSatisfy { _ in
        Statistics.estimate((0..<20).map { _ in noise.next() }, confidence: confidence).interval!.contains(0)
      }
    }
    expect(hits, of: trials, rate: Widening.familyConfidence, isExact: false)
  }

  /// What an ablation has: changes beside one default, two lines and their mean, other numbers of blocks for each
  /// change, and a truth for each. Places that two changes have in common have the same number of the default.
  private static func means(_ shape: Shape, _ noise: inout Noise) -> [(mean: TrimmedMean, truth: Double)] {
    let changes = 8
    var ofDefault: [[Double]] = []
    for _ in 0..<2 { ofDefault.append((0..<48).map { _ in 0.1 * shape.next(&noise) }) }
    return (0..<changes).flatMap { change in
      let truth = change.isMultiple(of: 2) ? 0 : 0.1 * Double(change - 4)
      let series = ofDefault.indices.map { line in
        let blocks = (0..<13 + 5 * change).map { ($0 + 6 * change) % 48 }
        return RatioSeries(
          benchmark: "\(line)",
          logarithms: Dictionary(
            uniqueKeysWithValues: blocks.map { ($0, truth + 0.1 * shape.next(&noise) - ofDefault[line][$0]) }))
      }
      let all = [(series, [0, 1]), ([series[0]], [0]), ([series[1]], [1])]
      return all.map { (TrimmedMean($0, lines: $1)!, truth) }
    }
  }

  /// Of all intervals beside one default none leaves its truth out, in 95 of 100 tables. Intervals for one comparison
  /// fail that by far.
  @Test(arguments: Shape.allCases) func intervalsBesideOneDefaultHoldTogether(shape: Shape) {
    var noise = Noise("together-\(shape)")
    let (trials, few) = (150, 50)
    let confidence = Together.confidence(of: [Self.means(shape, &noise).map(\.mean)], seed: 1)
    #expect(confidence < Widening(comparisons: 24).confidence)
    var (together, alone) = (0, 0)
    for trial in 0..<trials {
      let means = Self.means(shape, &noise)
      func hold(_ confidence: Double) -> Bool {
        means.allSatisfy { $0.mean.interval(confidence: confidence)!.contains(exp($0.truth)) }
      }
      if hold(confidence) { together += 1 }
      if trial < few, hold(Widening.familyConfidence) { alone += 1 }
    }
    expect(together, of: trials, rate: Widening.familyConfidence, isExact: false)
    #expect(Double(alone) < 0.8 * Double(few), "\(alone) of \(few)")
  }

  /// Of what is picked out, one of twenty is wrong at most: nine of ten numbers are noise beside one default. Picked
  /// out at 95 %, half of them are.
  @Test func fewDiscoveriesAreWrong() {
    var noise = Noise("discoveries")
    let (trials, count) = (200, 100)
    func wrong(_ found: [Int]) -> Double { found.isEmpty ? 0 : Double(found.count { $0 >= 10 }) / Double(found.count) }
    var (picked, plain) = (0.0, 0.0)
    for _ in 0..<trials {
      let shared = noise.next()
      let chances = (0..<count).map { place in
        erfc(abs((place < 10 ? 4 : 0) + (noise.next() + 0.3 * shared) / 1.09.squareRoot()) / 2.0.squareRoot())
      }
      func found(_ confidence: Double) -> [Int] { chances.indices.filter { chances[$0] < 1 - confidence } }
      picked += wrong(found(Discoveries.confidence(of: count) { found($0).count }))
      plain += wrong(found(0.95))
    }
    #expect((0.02...0.065).contains(picked / Double(trials)), "\(picked / Double(trials))")
    #expect(plain / Double(trials) > 0.2)
  }

  /// The bootstrap has no exact rate: from ten blocks it may fall a little short, not far.
  @Test func theGeometricMeansIntervalHoldsIt() throws {
    var noise = Noise("means")
    let trials = 150
    let hits = try (0..<trials).count { trial in
      let shared = (0..<10).map { _ in 0.02 * noise.next() }
      let series = (0..<8).map { benchmark in
        RatioSeries(
          benchmark: "\(benchmark)",
          logarithms: Dictionary(
            uniqueKeysWithValues: (0..<10).map { ($0 + 1, -0.3 + shared[$0] + 0.05 * noise.next()) }))
      }
      return try #require(GeometricMean(series, seed: UInt64(trial))?.interval).contains(exp(-0.3))
    }
    expect(hits, of: trials, rate: 0.93, isExact: false)
  }
}
