import HarnessMeasuring
import HarnessWords

/// The blocks in which a process saw that something else had its CPUs: another process of the machine, or the host.
///
/// A process sees its run delay: how long its threads were ready to run and had no CPU. Threads of one process also
/// take CPUs from one another, more in one benchmark than in another. So each cell has a level of its own: the least
/// delay of its blocks, since nothing makes a delay shorter. A block far above the level is crowded. Involuntary
/// switches do not do in the place of the delay: a process that has its CPUs for itself may have ten times as many as
/// one that has to wait for them.
///
/// Steal time alone does not show such a block: a process of the same guest steals nothing, and not every host says
/// what it steals.
package struct Crowding: Sendable {
  /// The run delays of a cell, in nanoseconds over all threads, by block.
  private var delays: [CellKey: [Int: Double]] = [:]

  /// The fewest blocks of a cell that show a level.
  static let fewestBlocks = 4
  /// How far above the level a block counts as crowded, as a factor and beyond it. Two milliseconds are less than a
  /// thread waits when another process has its CPU once, and more than single events of the kernel take.
  static let factor = 2.0
  static let beyond = 2e6

  package init() {}

  /// Adds the rows of one process.
  package mutating func add(_ rows: [Row]) {
    guard let first = rows.first, first.block > 0,
      let row = rows.first(where: { $0.reading.metric == .runDelayNsPerOp })
    else { return }
    delays[first.cell, default: [:]][first.block] = row.reading.value * Double(row.reading.count)
  }

  /// The crowded blocks: those in which an arm was crowded. They do not count for any arm, so that ratios stay those of
  /// pairs.
  package var blocks: Set<ScenarioBlock> {
    Set(found.filter { !$0.isWhole }.flatMap { one in one.crowded.map { ScenarioBlock(one.scenario, block: $0) } })
  }

  /// The scenarios of which every block was crowded for one arm or another. Their tails are those of all blocks, since
  /// nothing else would be left.
  package var crowdedThroughout: Set<Scenario> { Set(found.filter(\.isWhole).map(\.scenario)) }

  private var found: [(scenario: Scenario, crowded: Set<Int>, isWhole: Bool)] {
    Dictionary(grouping: delays, by: { $0.key.scenario }).map { scenario, cells in
      let crowded = cells.reduce(into: Set<Int>()) { $0.formUnion(Self.crowded($1.value)) }
      let all = cells.reduce(into: Set<Int>()) { $0.formUnion($1.value.keys) }
      return (scenario, crowded, crowded.count == all.count)
    }
  }

  /// The crowded blocks of one cell.
  private static func crowded(_ delays: [Int: Double]) -> [Int] {
    guard delays.count >= fewestBlocks, let level = delays.values.min() else { return [] }
    return delays.filter { $0.value > factor * level + beyond }.map(\.key)
  }
}

extension Metric {
  /// Whether the metric is a percentile above the median, or a maximum: a few samples decide it, and one loss of a CPU
  /// gives hundreds of long ones.
  package var isTail: Bool { name.split(separator: "_").contains { ["p90", "p99", "p999", "max"].contains($0) } }
}
