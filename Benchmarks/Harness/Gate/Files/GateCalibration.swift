import HarnessStatistics
import HarnessWords

/// Finds thresholds: compares a program with itself, as the gate would, at least thirty times.
package enum GateCalibration {
  /// The blocks of a comparison: about as many as a comparison in the gate takes.
  static let blocksPerComparison = 20

  /// The processes of each cell: two in a block, since equals need no third.
  package static func processes(medians count: Int) -> Int { 2 * count * blocksPerComparison }

  /// About how long a calibration takes.
  static func seconds(cells: Int, medians count: Int, eachProcess: Double) -> Double {
    Double(cells * processes(medians: count)) * eachProcess
  }

  /// The centres of comparisons of twenty blocks each, for every metric of every cell. Throws when the machine is too
  /// disturbed for the comparison, or when the program fails.
  package static func entries(
    _ cells: [GatedCell], medians count: Int, runner: inout GateRunner
  ) throws -> [GateThresholds.Entry] {
    let timed = cells.compactMap { $0.only([.steady, .wallClock]) }
    let needed = count * blocksPerComparison
    let found = runner.blocks(of: timed, withNull: false, usual: needed) { _, triples in
      GateRunner.mayGoOn(triples, counted: needed)
    }
    return try timed.flatMap { gated in
      let triples: [GateRunner.Triple]
      switch found[gated.cell] {
      case .success(let all): triples = all.filter { !$0.isExcluded }
      case .failure(let failure): throw Complaint(.software, "no threshold for \(gated.cell): \(failure.reason)")
      case nil: triples = []
      }
      guard triples.count >= needed else {
        throw Complaint(
          .unavailable,
          "no threshold for \(gated.cell): over a quarter of its blocks lost CPU time to other guests; calibrate when "
            + "the host is quieter")
      }
      return try gated.metrics.map { metric in
        let effects = triples.compactMap { $0.paired(metric.metric)?.effect }
        guard effects.count >= needed else {
          throw Complaint(.software, "no threshold for \(gated.cell): it gives no \(metric.metric.name)")
        }
        return GateThresholds.entry(gated.cell, metric, medians: centres(effects, count: count))
      }
    }
  }

  private static func centres(_ effects: [Double], count: Int) -> [Double] {
    (0..<count).map { index in
      Statistics.pairedEstimate(Array(effects[(index * blocksPerComparison)..<((index + 1) * blocksPerComparison)]))
        .median
    }
  }
}
