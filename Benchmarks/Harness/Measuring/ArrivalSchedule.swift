import Glibc
import HarnessStatistics

/// The intended starts of the requests of an open loop, decided before the first request is sent. A request that is
/// late because the request before was slow still counts from its intended start.
package struct ArrivalSchedule: Sendable {
  package enum Spacing: String, CaseIterable, Sendable {
    case fixed, exponential
    /// Groups of 32 that arrive together; the groups are a Poisson process.
    case bursts
  }

  private static let burst = 32

  /// The intended starts in nanoseconds from the beginning, in ascending order.
  package let offsets: [UInt64]

  /// `interval` is the mean distance in nanoseconds; with `exponential` the arrivals are a Poisson process.
  package init(count: Int, interval: Double, spacing: Spacing, seed: UInt64) {
    var random = SeededGenerator(seed: seed, purpose: "arrivals")
    var time = 0.0
    func exponential() -> Double { -log(1 - Double.random(in: 0..<1, using: &random)) * interval }
    offsets = (0..<count).map { index in
      switch spacing {
      case .fixed: time += interval
      case .exponential: time += exponential()
      case .bursts: time += index.isMultiple(of: Self.burst) ? exponential() * Double(Self.burst) : 0
      }
      return UInt64(time)
    }
  }
}
