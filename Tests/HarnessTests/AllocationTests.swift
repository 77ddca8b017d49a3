import Testing

@testable import HarnessPlanning
@testable import HarnessRunning
@testable import HarnessStatistics

/// Which scenarios have the next turns: a rule about widths and seconds alone.
struct AllocationTests {
  func candidate(
    _ halfWidth: Double?, before: Double? = 1, blocks: Int = 6, seconds: Double = 1
  ) -> Allocation.Candidate {
    .init(halfWidth: halfWidth, before: before, expected: halfWidth, blocks: blocks, seconds: seconds)
  }

  /// As wide, and ten times as cheap; as cheap, and twice as wide; as wide, from more blocks; less wide.
  var several: [Allocation.Candidate] {
    [
      candidate(0.2, seconds: 1), candidate(0.2, seconds: 0.1), candidate(0.4, seconds: 0.1),
      candidate(0.2, blocks: 60, seconds: 0.1), candidate(0.1, seconds: 0.1),
    ]
  }

  @Test func mostRoundsGoToWhatIsNarrowSoonest() {
    for round in [7, 9, 10, 11] { #expect(Allocation.round(round, several, goal: 0.05) == [4]) }
    // An eighth of those that are open, at least one.
    let many = several + several
    #expect(Allocation.round(7, many, goal: 0.05) == [4, 9])
    // Among equals the first, so that a run of the same rows decides the same.
    #expect(Allocation.round(7, [candidate(0.2), candidate(0.2)], goal: 0.05) == [0])
  }

  @Test func everyFourthRoundGoesToWhatGainsMost() {
    for round in [8, 12] { #expect(Allocation.round(round, several, goal: 0.05) == [2]) }
    #expect(Allocation.round(8, several + several, goal: 0.05) == [2, 7])
  }

  /// Blocks were lost, and five are left: one more makes an interval.
  @Test func withoutAnIntervalAScenarioComesFirst() {
    let lost = candidate(nil, before: nil, blocks: 5, seconds: 0.5)
    for round in 7...8 { #expect(Allocation.round(round, several + [lost], goal: 0.05) == [5]) }
  }

  @Test func whatIsNarrowTwiceHasNoMoreTurns() {
    for round in 7...8 {
      #expect(Allocation.round(round, [candidate(0.05, before: 0.05)], goal: 0.05).isEmpty)
      #expect(Allocation.round(round, [candidate(0.04, before: 0.06)], goal: 0.05) == [0])
      #expect(Allocation.round(round, [candidate(0.06, before: 0.04)], goal: 0.05) == [0])
      // The first interval of all.
      #expect(Allocation.round(round, [candidate(0.04, before: nil)], goal: 0.05).isEmpty)
      #expect(Allocation.round(round, [], goal: 0.05).isEmpty)
    }
  }

  /// Stopping where an interval is narrow leaves it as good as it says, to two in a hundred.
  @Test func anIntervalThatMayStopHoldsTheTruth() {
    var noise = CoverageTests.Noise("stopping")
    let trials = 700
    var held = 0
    for _ in 0..<trials {
      var differences = (0..<Effort.fewestBlocks).map { _ in 0.1 * noise.next() }
      var widths: [Double] = []
      var interval = 0.0...0.0
      while true {
        interval = Statistics.pairedEstimate(differences).interval!
        widths.append((interval.upperBound - interval.lowerBound) / 2)
        let candidate = Allocation.Candidate(
          halfWidth: widths.last!, before: widths.dropLast().last, expected: widths.last!, blocks: differences.count,
          seconds: 1)
        guard !Allocation.round(7, [candidate], goal: 0.06).isEmpty, differences.count < 90 else { break }
        differences.append(0.1 * noise.next())
      }
      if interval.contains(0) { held += 1 }
    }
    #expect(Double(held) / Double(trials) > 0.93, "\(held) of \(trials)")
  }
}
