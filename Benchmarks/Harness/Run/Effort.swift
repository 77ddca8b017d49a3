/// How much is measured: the same for every cell.
///
/// Processes of one program differ more than values of one process do: where memory and threads happen to lie lasts as
/// long as the process. So there are many short processes rather than a few long ones.
package struct Effort: Hashable, Sendable, CustomStringConvertible {
  /// Fresh processes of each cell.
  package var blocks: Int
  /// The most values that a process gives.
  package var values: Int
  /// What a process works before its first value, in nanoseconds. The threads of a young process overlap more than
  /// they do later, until the kernel has settled on which CPUs to run them.
  package var leadIn: UInt64
  /// What a value takes, in nanoseconds; a repeat that takes longer is a value by itself.
  package var target: UInt64
  /// A process that has spent these nanoseconds on its values takes no more of them; it always gives one.
  package var budget: UInt64
  /// In how many blocks a scenario runs whose processes take long.
  package var longBlocks: Int
  /// Benchmarks that need a number of samples say how many for ten processes; this share of them is taken.
  package var samples: Double
  /// In how many blocks the kernel counts events, which takes a value more: no more than an interval needs.
  package var eventBlocks: Int { samples < 1 ? 1 : longBlocks }

  package init(
    blocks: Int, values: Int, leadIn: UInt64, target: UInt64, budget: UInt64, longBlocks: Int = 8, samples: Double = 1
  ) {
    self.longBlocks = longBlocks
    self.samples = samples
    self.blocks = blocks
    self.values = values
    self.leadIn = leadIn
    self.target = target
    self.budget = budget
  }

  package func with(blocks: Int) -> Effort {
    var copy = self
    copy.blocks = blocks
    return copy
  }

  /// How often allocations are counted: they hardly vary.
  package var countedValues: Int { values > 5 ? 2 : 1 }

  /// The number of processes for which benchmarks say how many samples each takes; in more each takes fewer.
  package static let blocksOfSamples = 10

  /// The fewest blocks that a plan is cut down to, because an interval needs six.
  package static let fewestBlocks = 6

  package var description: String {
    "\(blocks) blocks of \(leadIn / 1_000_000) ms + \(values) values of \(target / 1_000_000) ms"
  }

  /// What a default run may take, in seconds, by the estimate: for one subject beside the two references, and for
  /// more in proportion. The promises are five minutes and a minute and a half.
  package static let fullBudget = 285.0
  package static let quickBudget = 94.0

  /// The blocks are as many as the budget of the run allows.
  package static let full = Effort(
    blocks: 40, values: 10, leadIn: 10_000_000, target: 2_000_000, budget: 20_000_000)
  /// A look at everything: fewer blocks and so wider intervals, from younger and shorter processes.
  package static let quick = Effort(
    blocks: 12, values: 5, leadIn: 5_000_000, target: 2_000_000, budget: 10_000_000, longBlocks: 6, samples: 0.2)
}

extension Effort: Codable {
  private enum CodingKeys: CodingKey {
    case blocks, values, leadIn, target, budget, longBlocks, samples
  }

  /// Results from before there were lead-ins are still compared and shown; they are resumed by no plan.
  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      blocks: try fields.decode(Int.self, forKey: .blocks), values: try fields.decode(Int.self, forKey: .values),
      leadIn: try fields.decodeIfPresent(UInt64.self, forKey: .leadIn) ?? 0,
      target: try fields.decode(UInt64.self, forKey: .target),
      budget: try fields.decodeIfPresent(UInt64.self, forKey: .budget) ?? 0,
      longBlocks: try fields.decodeIfPresent(Int.self, forKey: .longBlocks) ?? 0,
      samples: try fields.decodeIfPresent(Double.self, forKey: .samples) ?? 1)
  }
}
