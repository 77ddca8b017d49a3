import Glibc
import HarnessStatistics

/// The intended starts of the requests of an open loop, decided before the first request is sent. A request that is
/// late because the request before was slow still counts from its intended start.
package struct ArrivalSchedule: Sendable {
  package enum Spacing: String, Sendable {
    case fixed, exponential
  }

  /// The intended starts in nanoseconds from the beginning, in ascending order.
  package let offsets: [UInt64]

  /// `interval` is the mean distance in nanoseconds; with `exponential` the arrivals are a Poisson process.
  package init(count: Int, interval: Double, spacing: Spacing, seed: UInt64) {
    var random = SeededGenerator(seed: seed, purpose: "arrivals")
    var time = 0.0
    offsets = (0..<count).map { _ in
      switch spacing {
      case .fixed: time += interval
      case .exponential: time -= log(1 - Double.random(in: 0..<1, using: &random)) * interval
      }
      return UInt64(time)
    }
  }
}
