import HarnessWords

/// How much is measured: the same for every cell.
///
/// Processes of one program differ more than values of one process do, because a process keeps the placement of its
/// memory and threads as long as the process lasts. So a run has many short processes rather than a few long ones.
package struct Effort: Codable, Hashable, Sendable, CustomStringConvertible {
  /// The number of fresh processes of each cell. With a goal, the number before the goal decides who has more.
  package var blocks: Int
  /// How narrow the intervals are to become; nil when the number of blocks is all that there is.
  package var goal: Goal?
  /// The most values that a process gives.
  package var values: Int
  /// How long a process works before its first value, in nanoseconds. The threads of a young process overlap more than
  /// they do later, until the kernel has settled on which CPUs to run them.
  package var leadIn: UInt64
  /// How long a value takes, in nanoseconds. A repeat that takes longer is a value by itself.
  package var target: UInt64
  /// The longest value of more than one repeat, in nanoseconds: that of a subject that takes four times as long as the
  /// quickest one, with the same number of repeats.
  package var longestValue: UInt64 { 4 * target }
  /// A process that has spent this number of nanoseconds on its values takes no further values. A process always gives
  /// one value. With turns it is twice what the values of the quickest subject take, so that a slow moment of the
  /// machine costs none.
  package var budget: UInt64
  /// The number of blocks in which a scenario runs when its processes take long.
  package var longBlocks: Int
  /// The share of the samples that is taken. A benchmark that needs samples says how many each of ten processes takes.
  package var samples: Double
  /// The number of blocks in which the kernel counts events: no more than an interval needs, because counting takes one
  /// more value.
  package var eventBlocks: Int { samples < 1 ? 1 : longBlocks }

  package init(
    blocks: Int, values: Int, leadIn: UInt64, target: UInt64, budget: UInt64, longBlocks: Int = 8, samples: Double = 1,
    goal: Goal? = nil
  ) {
    (self.goal, self.longBlocks, self.samples, self.blocks) = (goal, longBlocks, samples, blocks)
    (self.values, self.leadIn, self.target, self.budget) = (values, leadIn, target, budget)
  }

  package func with(blocks: Int) -> Effort {
    var copy = self
    copy.blocks = blocks
    return copy
  }

  /// Six blocks of everything, and then what the goal asks for.
  package func with(goal: Goal) -> Effort {
    var copy = with(blocks: Self.fewestBlocks)
    copy.goal = goal
    return copy
  }

  /// How often a process counts allocations: a few times only, because the counts hardly vary.
  package var countedValues: Int { samples < 1 ? 1 : 2 }

  /// The number of processes for which benchmarks say how many samples each takes. In a run with more processes, each
  /// takes fewer samples.
  package static let blocksOfSamples = 10

  /// The number of blocks of a run with a goal for which the samples are shared out.
  package static let blocksOfGoal = 20

  /// The fewest blocks that a plan is cut down to, because an interval needs six.
  package static let fewestBlocks = 6

  package var description: String { words() }

  /// - Parameter process: what a process does, where that is not a lead-in and values.
  func words(ofProcess process: String? = nil) -> String {
    let process =
      process
      ?? "\(leadIn / 1_000_000) ms + \(Count.of(values, "value")) of \(target / 1_000_000) ms"
    guard let goal else { return "\(Count.of(blocks, "block")) of \(process)" }
    return "\(blocks) blocks or more, \(goal), of \(process)"
  }

  /// The estimated seconds that a default run may take: for one subject beside the two references, and for more
  /// subjects in proportion. The promises are five minutes and a minute and a half.
  package static let fullBudget = 285.0
  package static let quickBudget = 95.0

  /// The full effort, without a goal.
  package static let full = Effort(blocks: 40, values: 8, leadIn: 10_000_000, target: 2_000_000, budget: 32_000_000)
  /// A quick look at everything: fewer blocks and so wider intervals, from younger and shorter processes.
  package static let quick = Effort(
    blocks: 12, values: 3, leadIn: 5_000_000, target: 2_000_000, budget: 6_000_000, longBlocks: 6, samples: 0.2)
}
