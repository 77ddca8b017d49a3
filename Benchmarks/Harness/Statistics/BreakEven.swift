import Glibc
import HarnessWords

/// Where forking begins to pay: the time of forked bodies over the time of the plain recursion.
///
/// The functions are pure functions of measured numbers. A process that runs the sweep itself and a process that only
/// has the times of another program compute the same results.
package enum BreakEven {
  /// One problem: a number of bodies of one length.
  package struct Problem: Hashable, Sendable {
    package let bodies: Int
    /// The work in a body, in nanoseconds.
    package let body: Double

    package init(bodies: Int, body: Double) {
      self.bodies = bodies
      self.body = body
    }
  }

  /// The times of a problem, in nanoseconds.
  package struct Point: Hashable, Sendable {
    package let problem: Problem
    /// The time of the plain recursion on one thread.
    package let serial: Double
    package let forked: Double

    package init(_ problem: Problem, serial: Double, forked: Double) {
      (self.problem, self.serial, self.forked) = (problem, serial, forked)
    }

    /// The time over serial: above 1 forking loses.
    package var ratio: Double { forked / serial }
  }

  /// The time over serial at which forking pays: a tenth is saved. At 1 itself the noise of a curve that neither gains
  /// nor loses would decide.
  package static let level = 0.9

  /// The smallest problem that pays, as the time that the plain recursion takes, in nanoseconds. The points have one
  /// number of bodies. The curve is interpolated in (log serial time, log ratio) between that problem and the one
  /// before. Nil when no problem pays, and when the first one does.
  package static func find(_ points: [Point]) -> Double? {
    let rising = points.sorted { $0.serial < $1.serial }
    guard let found = rising.firstIndex(where: { $0.ratio <= level }), found > 0 else { return nil }
    let (before, pays) = (rising[found - 1], rising[found])
    let share = log(before.ratio / level) / log(before.ratio / pays.ratio)
    return exp(log(before.serial) + share * (log(pays.serial) - log(before.serial)))
  }

  /// The curves of each number of bodies, the smallest number first.
  package static func curves(_ points: [Point]) -> [(bodies: Int, points: [Point])] {
    Dictionary(grouping: points, by: \.problem.bodies).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The smallest problem that pays over all numbers of bodies; nil when no curve has one.
  package static func smallest(_ points: [Point]) -> Double? { curves(points).compactMap { find($0.points) }.min() }

  /// The largest time over serial of all problems that lose; nil when no problem loses.
  package static func worstLoss(_ points: [Point]) -> Double? { points.map(\.ratio).filter { $0 > 1 }.max() }
}
