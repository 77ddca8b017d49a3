import Glibc

/// How the numbers of two arms are paired: the one rule of every ratio.
///
/// A pair are the two numbers that were measured in one place, such as a block of a run on a machine. Where a number of
/// a pair is not positive there is no ratio at all: the other places would be those that happen not to be zero.
package enum Pairing {
  /// The logarithms of the quotients by place. Empty without a common place, and where a pair has no logarithm.
  package static func logarithms<Place: Hashable>(
    of numerators: [Place: Double], over denominators: [Place: Double]
  ) -> [Place: Double] {
    var logarithms: [Place: Double] = [:]
    logarithms.reserveCapacity(min(numerators.count, denominators.count))
    for (place, number) in numerators {
      guard let other = denominators[place] else { continue }
      guard let logarithm = logarithm(number, over: other) else { return [:] }
      logarithms[place] = logarithm
    }
    return logarithms
  }

  /// `ln(numerator / denominator)`; nil where one of the two is not positive.
  package static func logarithm(_ numerator: Double, over denominator: Double) -> Double? {
    numerator > 0 && denominator > 0 ? log(numerator / denominator) : nil
  }

  /// The ratio of paired numbers: the exponential of the centre of the logarithms and of its interval. Nil without
  /// logarithms.
  package static func ratio(_ logarithms: some Collection<Double>, confidence: Double = 0.95) -> Estimate? {
    guard !logarithms.isEmpty else { return nil }
    let estimate = Statistics.pairedEstimate(Array(logarithms), confidence: confidence)
    return Estimate(
      median: exp(estimate.median), interval: estimate.interval.map { exp($0.lowerBound)...exp($0.upperBound) },
      count: estimate.count)
  }
}
