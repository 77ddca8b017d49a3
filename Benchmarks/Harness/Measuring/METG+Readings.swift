import HarnessStatistics
import HarnessWords

extension METG {
  /// The readings from makespans by nominal work: the efficiency of each run, and METG at each level. Throws when the
  /// curve does not pass 50 %. A higher level that the curve never reaches has no number.
  package static func readings(_ makespans: [(work: Double, makespan: Double)], _ sweep: Sweep) throws -> [Reading] {
    let points = makespans.map { sweep.point(work: $0.work, makespan: $0.makespan) }
    var readings = zip(makespans, points).map { run, point in
      Reading(.efficiency, point.efficiency, count: sweep.tasks, detail: ["work_ns": workText(run.work)])
    }
    for level in levels {
      switch try find(Double(level) / 100, points) {
      case .crosses(let granularity, let times):
        readings.append(Reading(.metg(level), granularity, count: points.count))
        readings.append(Reading(.crossings, Double(times), count: points.count, detail: ["level": "\(level)"]))
      case .neverReached(let best):
        guard level > levels[0] else {
          throw CheckFailed("no task granularity reaches \(level) % of the peak; the best is \(percent(best))")
        }
      case .neverLost(let smallest):
        throw CheckFailed("even at a granularity of \(Int(smallest)) ns the efficiency is above \(level) %")
      }
    }
    return readings
  }

  /// Makes the readings of a program that gives only its makespans, each with its `work_ns`.
  package static func readings(_ readings: [Reading], _ sweep: Sweep) throws -> [Reading] {
    try self.readings(
      readings.compactMap { reading in
        guard reading.metric == .makespan, let work = reading.detail.number("work_ns") else { return nil }
        return (work, reading.value)
      }, sweep)
  }

  /// Gives a step of the ladder one text in every process, wherever the sweep of the process began.
  private static func workText(_ nanoseconds: Double) -> String { CSV.number((nanoseconds * 1_000).rounded() / 1_000) }
}
