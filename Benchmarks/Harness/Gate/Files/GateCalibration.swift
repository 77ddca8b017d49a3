/// Finds thresholds: compares a program with itself, as the first stage of the gate would, at least thirty times.
package enum GateCalibration {
  /// Medians of five blocks each, for every metric of every cell. Throws when the machine is too disturbed for the
  /// comparison, or when the program fails.
  package static func entries(
    _ cells: [GatedCell], medians count: Int, session: inout GateSession
  ) throws -> [GateThresholds.Entry] {
    let timed = cells.compactMap { $0.only([.steady, .wallClock]) }
    let found = session.blocks(
      of: timed, counted: count * GateRule.firstBlocks, reversed: false, withNull: false)
    return try timed.flatMap { gated in
      let triples: [GateSession.Triple]
      switch found[gated.cell] {
      case .success(let all): triples = all.filter { !$0.isExcluded }
      case .failure(let failure): throw Complaint(.software, "no threshold for \(gated.cell): \(failure.reason)")
      case nil: triples = []
      }
      guard triples.count >= count * GateRule.firstBlocks else {
        throw Complaint(
          .unavailable,
          "no threshold for \(gated.cell): over a quarter of its blocks lost CPU time to other guests; calibrate when "
            + "the host is quieter")
      }
      return try gated.metrics.map { metric in
        let effects = triples.compactMap { $0.paired(metric.metric)?.effect }
        guard effects.count >= count * GateRule.firstBlocks else {
          throw Complaint(.software, "no threshold for \(gated.cell): it gives no \(metric.metric.name)")
        }
        return GateThresholds.entry(gated.cell, metric, medians: medians(effects, count: count))
      }
    }
  }

  static func medians(_ effects: [Double], count: Int) -> [Double] {
    (0..<count).map { index in
      Statistics.median(Array(effects[(index * GateRule.firstBlocks)..<((index + 1) * GateRule.firstBlocks)]))
    }
  }
}
