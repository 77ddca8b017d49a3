import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// Everything that a run will do, decided before the run begins.
package struct Plan: Sendable {
  package let scenarios: [PlannedScenario]
  package let effort: Effort
  package let seed: UInt64
  /// The allocator of the timed processes. The processes that count allocations always run on jemalloc.
  package let allocator: Allocator
  /// How long starting a process takes on this machine, in seconds. Only the estimate uses this number.
  package let startup: Double
  /// The subjects whose operations are recorded, in processes of their own after everything else. `fitted` does not
  /// count these processes.
  package var traced: Set<String> = []
  /// Whether the first arm of each scenario is a default and the others are changes of it: see `Ablation`.
  package var isAblation = false
  /// The scenarios that were asked for by name and do not run.
  package var leftOut: LeftOut?
  /// The part of the plan that runs here; nil for all of it.
  package var shard: Shard?
  /// What a shard has: whole blocks, or, of a simulation, all blocks of some scenarios with some numbers of workers.
  package var sharesCells = false

  package init(
    scenarios: [PlannedScenario], effort: Effort, seed: UInt64, allocator: Allocator = .system,
    startup: Double = Plan.usualStartup
  ) {
    (self.scenarios, self.effort, self.seed) = (scenarios, effort, seed)
    (self.allocator, self.startup) = (allocator, startup)
  }

  /// How long starting a process takes when the time has not been measured, in seconds.
  package static let usualStartup = 0.012

  /// All arms, in the order in which the user asked for them.
  package var arms: [Arm] {
    var seen: Set<Arm> = []
    var ordered: [Arm] = []
    for scenario in scenarios {
      for arm in scenario.arms + scenario.incapable where seen.insert(arm).inserted { ordered.append(arm) }
    }
    return ordered
  }

  /// One process of the run, by kind.
  package enum Step: Hashable, Sendable {
    case calibrate(CellKey)
    case time(CellKey, block: Int)
    case count(CellKey)
    case trace(CellKey)

    package var cell: CellKey {
      switch self {
      case .calibrate(let cell), .time(let cell, _), .count(let cell), .trace(let cell): cell
      }
    }
  }

  package var calibrations: [Step] {
    scenarios.filter(\.repeats.isCalibrated).flatMap { calibrated($0).map(Step.calibrate) }
  }

  /// The cells that are calibrated. In an ablation the changes do as many repeats as the default.
  package func calibrated(_ planned: PlannedScenario) -> [CellKey] {
    isAblation ? Array(planned.cells.prefix(1)) : planned.cells
  }

  package var countings: [Step] {
    let counted = scenarios.filter(\.countsAllocations)
    let own = shard?.share(of: counted.count, seed: seed, purpose: "countings") ?? Array(counted.indices)
    return own.map { counted[$0] }.flatMap { planned in
      planned.cells.filter { !planned.uncounted.contains($0.arm) }.map(Step.count)
    }
  }

  /// The blocks that run here before a goal decides, in ascending order.
  package var blockNumbers: [Int] {
    (sharesCells ? nil : shard).map { $0.share(of: effort.blocks, seed: seed, purpose: "blocks").map { $0 + 1 } }
      ?? Array(1...effort.blocks)
  }

  /// Cuts the plan into shards. Throws one line when there are more shards than blocks.
  package func cut(_ shard: Shard) throws -> Plan {
    guard shard.count <= effort.blocks else {
      throw Complaint(
        .usage,
        "--shard \(shard): a shard has whole blocks, and this plan has \(Count.of(effort.blocks, "block")); "
          + "\(effort.blocks) is the most shards")
    }
    var copy = self
    copy.shard = shard
    return copy
  }

  package var tracings: [Step] {
    scenarios.flatMap(\.cells).filter { traced.contains($0.arm.subject) }.map(Step.trace)
  }

  /// The turns of one block: the scenarios in a shuffled order of this block.
  package func turns(block: Int) -> [Turn] {
    shuffled(scenarios, block: block).compactMap { planned in
      turn(planned, block: block).map {
        let arms = isAblation ? Ablation.arms(planned.arms, block: block, seed: seed) : planned.arms
        return turn(planned, block: block, number: $0, arms: arms)
      }
    }
  }

  package func shuffled(_ scenarios: [PlannedScenario], block: Int) -> [PlannedScenario] {
    var random = SeededGenerator(seed: seed, purpose: "scenario-order-\(block)")
    return scenarios.shuffled(using: &random)
  }

  /// A turn of a scenario, with some of its arms in the order of the Latin square.
  package func turn(_ planned: PlannedScenario, block: Int, number: Int, arms: [Arm]) -> Turn {
    let square = LatinSquare(size: arms.count, seed: seed)
    return Turn(
      planned: planned, block: block, number: number, arms: square.order(block: number - 1).map { arms[$0] })
  }

  /// Whether the processes of a scenario take long.
  private func isLong(_ planned: PlannedScenario) -> Bool {
    seconds(planned.repeats, leadIn: effort.leadIn, samples: effort.samples) > Self.longProcess
  }

  /// The number of blocks in which a scenario runs: all blocks, but only as many as an interval needs when a process
  /// takes long. A few such scenarios would otherwise take the time of all others.
  package func blocks(_ planned: PlannedScenario) -> Int {
    isLong(planned) && !isAblation ? min(effort.blocks, effort.longBlocks) : effort.blocks
  }

  /// How long a process of a scenario works before its first value, in nanoseconds. A long repeat needs no lead-in
  /// before it.
  package func leadIn(_ planned: PlannedScenario) -> UInt64 {
    switch planned.repeats {
    case .once: 0
    case .calibrated where isLong(planned): 0
    default: effort.samples < 1 ? effort.leadIn : max(effort.leadIn, planned.leadIn)
    }
  }

  /// Whether the processes of a block live at the same time, and take turns that have one value each. The speed of a
  /// machine wanders within milliseconds: what is compared stands closer together in turns than in processes one after
  /// another. A quick look has no time for turns.
  package func takesTurns(_ planned: PlannedScenario) -> Bool {
    if case .calibrated = planned.repeats { effort.samples >= 1 && leadIn(planned) > 0 } else { false }
  }

  /// The turn that a scenario has in a block, from one; nil when the block goes without the scenario. The turns of a
  /// scenario are spread over all blocks.
  package func turn(_ planned: PlannedScenario, block: Int) -> Int? {
    let count = blocks(planned)
    let turn = block * count / effort.blocks
    return turn > (block - 1) * count / effort.blocks ? turn : nil
  }

  /// Whether a row may be of this block; block 0 is the count of allocations.
  package func holds(block: Int) -> Bool {
    block >= 0 && (effort.goal != nil || block <= effort.blocks)
      && (shard == nil || block == 0 || blockNumbers.contains(block))
  }

  /// Whether the kernel counts events in the processes of a turn.
  package func countsEvents(_ turn: Turn) -> Bool { turn.number <= effort.eventBlocks * turnsOfARound }

  /// How many blocks have every arm once: one, but for an ablation.
  package var turnsOfARound: Int { isAblation ? Ablation.turns(changes: max(1, arms.count - 1)) : 1 }

  package func timedSteps(block: Int) -> [Step] {
    sharesCells ? sharedCells.map { .time($0, block: block) } : turns(block: block).flatMap(\.steps)
  }

  /// The scenarios with each of their numbers of workers, in the order of the plan: what the shards share out when they
  /// share cells.
  package var sharedPlaces: [(scenario: Scenario, workers: Int)] {
    scenarios.flatMap { planned in
      var seen: Set<Int> = []
      return planned.arms.map(\.workers).filter { seen.insert($0).inserted }.map { (planned.scenario, $0) }
    }
  }

  /// The cells that run here when shards share cells, in the order of the plan.
  package var sharedCells: [CellKey] {
    let places = sharedPlaces
    return sharedIndices.map { places[$0] }.flatMap { scenario, workers in
      planned(scenario).cells.filter { $0.arm.workers == workers }
    }
  }

  /// Which of the shared places run here.
  package var sharedIndices: [Int] {
    let count = sharedPlaces.count
    return shard?.share(of: count, seed: seed, purpose: "simulation") ?? Array(0..<count)
  }

  /// All processes of the run, if every one of them succeeds. A run with a goal has more, as many as its time holds.
  package var steps: [Step] {
    calibrations + blockNumbers.flatMap { timedSteps(block: $0) } + countings + tracings
  }
}

extension Plan {
  /// The arms other than the slowest take this share of the slowest arm's time, by experience.
  private static let share = 0.6

  /// How long one repeat usually takes, in seconds, on average over the arms. Used when a benchmark does not say.
  private static let usualRepeat = 0.025

  /// A guess of the time of a step, in seconds. The run replaces the guess by what the run measures.
  package func estimate(_ step: Step) -> Double {
    switch step {
    // A calibration leads in, tries ever more repeats until one try fills the target, and tries twice more. A repeat
    // that takes long is made twice.
    case .calibrate(let cell):
      let leadIn = Double(leadIn(planned(cell.scenario))) / 1e9
      let attempts = 3.5 * Double(calibrationTarget(cell.scenario)) / 1e9
      return startup + max(leadIn + attempts, 2.5 * leastSeconds(cell.scenario))
    // One repeat to warm up and values of three repeats each, on an allocator that is slow.
    case .count(let cell):
      return 2 * startup + Double(1 + 3 * effort.countedValues) * leastSeconds(cell.scenario)
    // One repeat to warm up, a few repeats that are recorded, and the writing of the trace.
    case .trace(let cell): return 2 * startup + 2 * leastSeconds(cell.scenario) + Self.writing
    case .time(let cell, _):
      let planned = planned(cell.scenario)
      var share = 1.0
      if case .samples(let count, _) = planned.repeats { share = Double(samples(count, planned)) / Double(count) }
      if case .paced(let count, _) = planned.repeats { share = Double(samples(count, planned)) / Double(count) }
      return startup
        + seconds(planned.repeats, leadIn: leadIn(planned), samples: share, takesTurns: takesTurns(planned))
    }
  }

  /// A process that takes more seconds than this is a long process.
  private static let longProcess = 0.15

  /// How long a timing process takes once it has started, in seconds, on average over the arms. `samples` is the share
  /// that the process takes of the samples that each of ten processes would take.
  private func seconds(
    _ repeats: RepeatPolicy, leadIn: UInt64, samples: Double, takesTurns: Bool = false
  ) -> Double {
    let leadIn = Double(leadIn) / 1e9
    switch repeats {
    case .calibrated(let least):
      let value = max(Double(effort.target) / 1e9, least, Self.usualRepeat)
      let most = min(Double(effort.values), max(1, Double(effort.budget) / 1e9 / value))
      // A turn leads in with a value of its own.
      return (leadIn > 0 ? max(leadIn, value) : 0) + (takesTurns ? 2 : 1) * most * value
    case .samples(_, let seconds), .paced(_, let seconds): return leadIn + seconds * Self.share * samples
    case .once(let seconds): return seconds
    }
  }

  /// How long writing a trace takes, in seconds, by experience.
  private static let writing = 0.1

  private func leastSeconds(_ scenario: Scenario) -> Double {
    if case .calibrated(let seconds) = repeats(scenario) { max(seconds, Self.usualRepeat) } else { Self.usualRepeat }
  }

  /// The nanoseconds of timed work that a process fills to calibrate: those of the longest value, of which
  /// `CommonRepeats` makes the number for one value. A pace is derived from the answer of the calibration and needs a
  /// more precise one.
  package func calibrationTarget(_ scenario: Scenario) -> UInt64 {
    if case .paced = repeats(scenario) { max(effort.target, 50_000_000) } else { effort.longestValue }
  }

  /// The number of samples that one process takes, when each of ten processes would take `count`.
  package func samples(_ count: Int, _ planned: PlannedScenario) -> Int {
    let blocks = effort.goal == nil ? blocks(planned) / turnsOfARound : Effort.blocksOfGoal
    let share = min(1, Double(Effort.blocksOfSamples) / Double(blocks))
    return max(1, Int((Double(count) * effort.samples * share).rounded(.up)))
  }

  /// The effort in words. The blocks of an ablation are those of each change.
  package var effortWords: String {
    let effort = effort.with(blocks: effort.blocks / turnsOfARound)
    let isOnce = scenarios.allSatisfy { if case .once = $0.repeats { true } else { false } }
    return effort.words(ofProcess: isOnce && !scenarios.isEmpty ? "one repeat" : nil)
  }

  /// A copy of the plan with fewer values, so that the first blocks take at most the time of the goal. The estimate is
  /// that of a usual machine, so that the same command makes the same plan every time.
  package var fitted: Plan {
    guard let goal = effort.goal else { return self }
    var effort = effort
    var plan: Plan { Plan(scenarios: scenarios, effort: effort, seed: seed, allocator: allocator) }
    while effort.values > Self.fewestValues, plan.plannedSeconds > goal.seconds { effort.values -= 1 }
    return Plan(scenarios: scenarios, effort: effort, seed: seed, allocator: allocator, startup: startup)
  }

  /// The fewest values that a plan is cut down to.
  private static let fewestValues = 3

  /// How long the run takes: with a goal, at most.
  package var estimatedSeconds: Double { max(plannedSeconds, effort.goal?.seconds ?? 0) }

  /// The estimate of all steps, without listing them.
  package var plannedSeconds: Double {
    let share = Double(blockNumbers.count) / Double(effort.blocks)
    return scenarios.reduce(otherSeconds) { sum, planned in
      planned.cells.reduce(sum) { $0 + share * Double(blocks(planned, $1)) * estimate(.time($1, block: 1)) }
    }
  }

  /// The number of blocks that have a cell.
  private func blocks(_ planned: PlannedScenario, _ cell: CellKey) -> Int {
    guard isAblation, cell.arm != planned.arms.first else { return blocks(planned) }
    return blocks(planned) / Ablation.turns(changes: planned.arms.count - 1)
  }

  /// The estimate of all steps but those that time.
  package var otherSeconds: Double {
    let counting = 1 / Double(shard?.count ?? 1)
    return scenarios.reduce(0) { sum, planned in
      planned.cells.reduce(sum) { sum, cell in
        sum + (planned.repeats.isCalibrated && calibrated(planned).contains(cell) ? estimate(.calibrate(cell)) : 0)
          + (planned.countsAllocations && !planned.uncounted.contains(cell.arm) ? counting * estimate(.count(cell)) : 0)
          + (traced.contains(cell.arm.subject) ? estimate(.trace(cell)) : 0)
      }
    }
  }

  /// After how many seconds a process counts as hung: far longer than the guess, and far longer than the process takes
  /// on a busy machine.
  package func timeout(_ step: Step) -> Double {
    planned(step.cell.scenario).timeLimit ?? max(10, 20 * estimate(step))
  }

  package func repeats(_ scenario: Scenario) -> RepeatPolicy { planned(scenario).repeats }

  package func planned(_ scenario: Scenario) -> PlannedScenario { scenarios.first { $0.scenario == scenario }! }
}
