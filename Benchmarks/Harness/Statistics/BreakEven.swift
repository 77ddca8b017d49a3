import Glibc
import HarnessWords

/// Where forking begins to pay: the time of forked bodies over the time of the plain recursion.
///
/// The functions are pure functions of measured numbers. A process that runs the sweep itself and a process that only has
/// the times of another program compute the same results.
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
      self.problem = problem
      self.serial = serial
      self.forked = forked
    }

    /// The time over serial: below 1 forking pays.
    package var ratio: Double { forked / serial }
  }

  /// The smallest problem from which on forking pays, as the time that the plain recursion takes, in nanoseconds. The
  /// points have one number of bodies. The curve is interpolated in (log serial time, log ratio) between the last problem
  /// that loses and the next. Nil when the largest problem loses, and when no problem loses.
  package static func find(_ points: [Point]) -> Double? {
    let rising = points.sorted { $0.serial < $1.serial }
    guard let lost = rising.lastIndex(where: { $0.ratio >= 1 }), lost + 1 < rising.count else { return nil }
    let (loses, wins) = (rising[lost], rising[lost + 1])
    let share = log(loses.ratio) / (log(loses.ratio) - log(wins.ratio))
    return exp(log(loses.serial) + share * (log(wins.serial) - log(loses.serial)))
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
