import HarnessMeasuring
import HarnessStatistics

/// How narrow the intervals of a run are to become, and how long the run may take.
package struct Goal: Hashable, Codable, Sendable, CustomStringConvertible {
  /// A scenario is narrow enough when no half-width of its ratios is above this share.
  package var halfWidth: Double
  /// The seconds from the first process to the last. Six blocks of everything run however long they take, because an
  /// interval needs six.
  package var seconds: Double

  package init(halfWidth: Double, seconds: Double) {
    self.halfWidth = halfWidth
    self.seconds = seconds
  }

  /// The half-width of a default run: beyond it `~` marks a ratio.
  package static let usualHalfWidth = Estimate.roughHalfWidth

  package var description: String { "until \(Self.percent(halfWidth)) or \(Progress.duration(seconds))" }

  /// A share as a user writes it: 5 %, 2.5 %.
  package static func percent(_ share: Double) -> String {
    let percent = (share * 1_000).rounded() / 10
    return percent == percent.rounded() ? "\(Int(percent)) %" : "\(percent) %"
  }
}
