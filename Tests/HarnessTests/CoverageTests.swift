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
