import Glibc

/// How long requests take that come one after the other, as a distribution. All have the same mean, so that they load a
/// machine alike, and differ in how far the long ones are from it.
package enum ServiceTimes: String, CaseIterable, Sendable {
  /// All take the mean.
  case fixed
  case exponential
  /// 99.5 % take a sixth of the mean, and 0.5 % take a thousand times as long as those.
  case bimodal
  /// A bounded Pareto distribution with the exponent 1.1, whose longest is a thousand times its shortest.
  case pareto

  /// The times of `count` requests with this mean, drawn from the seed. The mean and the times have one unit.
  /// - Complexity: O(count).
  package func times(_ count: Int, mean: Double, seed: UInt64) -> [Double] {
    var random = SeededGenerator(seed: seed, purpose: "service times")
    return (0..<count).map { _ in mean * drawn(&random) }
  }

  private static let longOnes = 0.005
  private static let longest = 1_000.0
  private static let exponent = 1.1

  /// One time, where the mean is 1.
  private func drawn(_ random: inout SeededGenerator) -> Double {
    switch self {
    case .fixed: return 1
    case .exponential: return -log(1 - Double.random(in: 0..<1, using: &random))
    case .bimodal:
      let mean = 1 - Self.longOnes + Self.longOnes * Self.longest
      return (Double.random(in: 0..<1, using: &random) < Self.longOnes ? Self.longest : 1) / mean
    case .pareto:
      let (exponent, longest) = (Self.exponent, Self.longest)
      let cut = 1 - pow(longest, -exponent)
      let mean = exponent / (exponent - 1) * (1 - pow(longest, 1 - exponent)) / cut
      return pow(1 - Double.random(in: 0..<1, using: &random) * cut, -1 / exponent) / mean
    }
  }
}
