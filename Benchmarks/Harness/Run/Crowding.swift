/// The blocks in which a process saw that something else had its CPUs: another process of the machine, or the host.
///
/// A process sees two things. Its threads were ready to run and had no CPU (the run delay), or they lost a CPU to another
/// thread (an involuntary switch). Threads of one process also take CPUs from one another, more in one benchmark than in
/// another. So each cell has a level of its own: that of its quiet blocks. A block far above the level is crowded.
///
/// Steal time alone does not show such a block: a process of the same guest steals nothing, and not every host says what it
/// steals.
package struct Crowding: Sendable {
  /// What one process saw.
  private struct Sight {
    /// In nanoseconds, over all threads.
    var delay: Double?
    var switches: Double?
  }

  private var sights: [CellKey: [Int: Sight]] = [:]

  /// The fewest blocks of a cell that show a level.
  static let fewestBlocks = 4
  /// A quarter of the blocks of a cell are taken as quiet.
  static let quietShare = 0.25
  /// How far above the level a block counts as crowded, as a factor and, so that single events of the kernel do not count,
  /// beyond it. Two milliseconds are less than a thread waits when another process has its CPU once.
  static let factor = 2.0
  static let delayBeyond = 2e6
  static let switchesBeyond = 20.0

  package init() {}

  /// Adds the rows of one process.
  package mutating func add(_ rows: [Row]) {
    guard let first = rows.first, first.block > 0 else { return }
    var sight = sights[first.cell]?[first.block] ?? Sight()
    for row in rows {
      let total = row.reading.value * Double(row.reading.count)
      if row.reading.metric == .runDelayNsPerOp { sight.delay = (sight.delay ?? 0) + total }
      if row.reading.metric == .involuntarySwitchesPerOp { sight.switches = (sight.switches ?? 0) + total }
    }
    sights[first.cell, default: [:]][first.block] = sight
  }

  /// The crowded blocks. A scenario all of whose blocks are crowded for one arm or another has none: nothing would be left.
  package var blocks: Set<ScenarioBlock> {
    var crowded: Set<ScenarioBlock> = []
    for (scenario, cells) in Dictionary(grouping: sights, by: { $0.key.scenario }) {
      let found = cells.reduce(into: Set<Int>()) { $0.formUnion(Self.crowded($1.value)) }
      let all = cells.reduce(into: Set<Int>()) { $0.formUnion($1.value.keys) }
      if found.count < all.count { crowded.formUnion(found.map { ScenarioBlock(scenario, block: $0) }) }
    }
    return crowded
  }

  /// The crowded blocks of one cell.
  private static func crowded(_ blocks: [Int: Sight]) -> Set<Int> {
    func above(_ value: (Sight) -> Double?, beyond: Double) -> Set<Int> {
      let known = blocks.compactMapValues(value)
      guard known.count >= fewestBlocks else { return [] }
      let level = known.values.sorted()[Statistics.nearestRank(quietShare, of: known.count)]
      return Set(known.filter { $0.value > factor * level + beyond }.keys)
    }
    return above(\.delay, beyond: delayBeyond).union(above(\.switches, beyond: switchesBeyond))
  }
}

extension Metric {
  /// Whether the metric is a percentile above the median, or a maximum: a few samples decide it, and one loss of a CPU gives
  /// hundreds of long ones.
  package var isTail: Bool { name.split(separator: "_").contains { ["p90", "p99", "p999", "max"].contains($0) } }
}
