import Glibc
import HarnessWords

/// The minimum effective task granularity, METG(e), as Slaughter et al. define METG (Task Bench, SC'20): the smallest
/// average granularity (wall-clock time * cores / tasks) at which a graph still runs with efficiency e of the peak.
///
/// The functions are pure functions of measured numbers. A process that runs the sweep itself and a process that only
/// has the makespans of another program compute the same results.
package enum METG {
  /// One run of the graph.
  package struct Point: Hashable, Sendable {
    /// Wall-clock time * cores / tasks, in nanoseconds.
    package let granularity: Double
    /// The useful work per time and core, divided by the peak.
    package let efficiency: Double

    package init(granularity: Double, efficiency: Double) {
      self.granularity = granularity
      self.efficiency = efficiency
    }
  }

  /// The parameters that stay the same while the granularity changes.
  package struct Sweep: Sendable {
    package let tasks: Int
    package let cores: Int
    /// The work of all tasks, divided by the nominal work of one task.
    package let load: Double
    /// The nominal work that a core does in a nanosecond when all cores spin.
    package let peak: Double

    package init(tasks: Int, cores: Int, load: Double, peak: Double) {
      (self.tasks, self.cores, self.load, self.peak) = (tasks, cores, load, peak)
    }

    /// The point of one run with nominal work `work` in each task.
    package func point(work: Double, makespan: Double) -> Point {
      Point(
        granularity: makespan * Double(cores) / Double(tasks),
        efficiency: work * load / (makespan * Double(cores)) / peak)
    }
  }

  package enum Outcome: Hashable, Sendable {
    /// The granularity at the level, in nanoseconds, and how often the curve passes the level in either direction.
    case crosses(at: Double, times: Int)
    /// No run reaches the level. `best` is the best efficiency.
    case neverReached(best: Double)
    /// All runs reach the level, also the run with the smallest granularity.
    case neverLost(smallest: Double)

    package var name: String {
      switch self {
      case .crosses: "crosses"
      case .neverReached: "never reached"
      case .neverLost: "never lost"
      }
    }
  }

  /// What a table shows of an outcome; nil is a curve that cannot be.
  package static func text(_ outcome: Outcome?) -> String {
    switch outcome {
    case .crosses(let granularity, _): NumberFormat("ns", granularity).text(granularity)
    case .neverReached(let best): "never: \(NumberFormat.significant(100 * best)) % at best"
    case .neverLost(let smallest): "below \(NumberFormat("ns", smallest).text(smallest))"
    case nil: "-"
    }
  }

  /// The largest plausible efficiency. A larger one shows that the peak was measured too low.
  package static let mostEfficient = 1.5

  /// The largest granularity below which the curve falls under `level`, interpolated in (log granularity, efficiency).
  /// The outcome also has the number of crossings.
  package static func find(_ level: Double, _ points: [Point]) throws -> Outcome {
    if let wrong = points.first(where: { !($0.efficiency <= mostEfficient) || $0.granularity <= 0 }) {
      throw CheckFailed(
        "an efficiency of \(percent(wrong.efficiency)) at a granularity of \(Int(max(0, wrong.granularity))) ns: "
          + "above \(percent(mostEfficient)) the peak was measured too low")
    }
    let falling = points.sorted { $0.granularity > $1.granularity }
    guard let best = falling.map(\.efficiency).max(), best >= level else {
      return .neverReached(best: points.map(\.efficiency).max() ?? 0)
    }
    var times = 0
    var largest: Double?
    for (coarse, fine) in zip(falling, falling.dropFirst())
    where (coarse.efficiency >= level) != (fine.efficiency >= level) {
      times += 1
      guard largest == nil, coarse.efficiency >= level else { continue }
      let share = (level - fine.efficiency) / (coarse.efficiency - fine.efficiency)
      largest = exp(log(fine.granularity) + share * (log(coarse.granularity) - log(fine.granularity)))
    }
    return largest.map { .crosses(at: $0, times: times) } ?? .neverLost(smallest: falling.last!.granularity)
  }

  /// The levels that are reported, in per cent.
  package static let levels = [50, 95]

  package static func percent(_ share: Double) -> String { "\((share * 1_000).rounded() / 10) %" }
}
