/// Everything a run will do, before it does it.
package struct Plan: Sendable {
  package let scenarios: [PlannedScenario]
  package let effort: Effort
  package let seed: UInt64
  /// What the timed processes run on; those that count allocations always run on jemalloc.
  package let allocator: Allocator
  /// What starting a process takes on this machine, in seconds: for the estimate alone.
  package let startup: Double
  /// Whose operations are recorded in processes of their own, behind everything else; no estimate of the effort counts them.
  package var traced: Set<String> = []
  /// What was asked for by name and does not run.
  package var leftOut: LeftOut?

  package init(
    scenarios: [PlannedScenario], effort: Effort, seed: UInt64, allocator: Allocator = .system,
    startup: Double = Plan.usualStartup
  ) {
    self.scenarios = scenarios
    self.effort = effort
    self.seed = seed
    self.allocator = allocator
    self.startup = startup
  }

  /// What starting a process takes when nobody has measured it, in seconds.
  package static let usualStartup = 0.012

  /// All arms, in the order in which they were asked for.
  package var arms: [Arm] {
    var seen: Set<Arm> = []
    var ordered: [Arm] = []
    for scenario in scenarios {
      for arm in scenario.arms + scenario.incapable where seen.insert(arm).inserted { ordered.append(arm) }
    }
    return ordered
  }

  /// The processes of one kind, in the order in which they run.
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
    scenarios.filter(\.repeats.isCalibrated).flatMap { $0.cells.map(Step.calibrate) }
  }

  package var countings: [Step] {
    scenarios.filter(\.countsAllocations).flatMap { planned in
      planned.cells.filter { !planned.uncounted.contains($0.arm) }.map(Step.count)
    }
  }

  package var tracings: [Step] {
    scenarios.flatMap(\.cells).filter { traced.contains($0.arm.subject) }.map(Step.trace)
  }

  /// One block: the scenarios in an order of its own, and the arms of each next to one another, by the Latin square.
  package func block(_ block: Int) -> [(scenario: PlannedScenario, order: [Arm])] {
    var random = SeededGenerator(seed: seed, purpose: "scenario-order-\(block)")
    return scenarios.shuffled(using: &random).compactMap { planned in
      guard let turn = turn(planned, block: block) else { return nil }
      let square = LatinSquare(size: planned.arms.count, seed: seed)
      return (planned, square.order(block: turn - 1).map { planned.arms[$0] })
    }
  }

  /// Whether the processes of a scenario take long.
  private func isLong(_ planned: PlannedScenario) -> Bool {
    seconds(planned.repeats, leadIn: effort.leadIn, samples: effort.samples) > Self.longProcess
  }

  /// In how many blocks a scenario runs: all, but only in as many as an interval needs where a process takes long. A few of
  /// those scenarios would otherwise take the time of all others.
  package func blocks(_ planned: PlannedScenario) -> Int {
    isLong(planned) ? min(effort.blocks, effort.longBlocks) : effort.blocks
  }

  /// What a process of a scenario works before its first value, in nanoseconds. A repeat that takes long leads itself in.
  package func leadIn(_ planned: PlannedScenario) -> UInt64 {
    if case .calibrated = planned.repeats, isLong(planned) { return 0 }
    return effort.samples < 1 ? effort.leadIn : max(effort.leadIn, planned.leadIn)
  }

  /// Which of its turns a scenario has in a block, from one; nil where the block goes without the scenario. Its turns are
  /// spread over all blocks.
  package func turn(_ planned: PlannedScenario, block: Int) -> Int? {
    let count = blocks(planned)
    let turn = block * count / effort.blocks
    return turn > (block - 1) * count / effort.blocks ? turn : nil
  }

  /// The CPU, as an index among those allowed, on which the processes of a block begin.
  ///
  /// CPUs of a shared host differ, by as much as 1.6: the sibling thread of one may be busy with another guest. All arms of
  /// a block begin on the same, and the blocks take turns.
  package func place(_ planned: PlannedScenario, block: Int) -> Int? { turn(planned, block: block).map { $0 - 1 } }

  /// Whether the kernel counts events in the processes of a block.
  package func countsEvents(_ planned: PlannedScenario, block: Int) -> Bool {
    (turn(planned, block: block) ?? .max) <= effort.eventBlocks
  }

  package func timedSteps(block: Int) -> [Step] {
    self.block(block).flatMap { planned, order in
      order.map { .time(CellKey(planned.scenario, $0), block: block) }
    }
  }

  /// All processes, if every one of them succeeds.
  package var steps: [Step] {
    calibrations + (1...effort.blocks).flatMap { timedSteps(block: $0) } + countings + tracings
  }
}

extension Plan {
  /// The arms other than the slowest take this share of what it takes, by experience.
  private static let share = 0.6

  /// What one repeat usually takes, on average over the arms, where a benchmark does not say.
  private static let usualRepeat = 0.025

  /// A guess, in seconds, that the run replaces by what it measures.
  package func estimate(_ step: Step) -> Double {
    switch step {
    // It tries ever more repeats until one try fills the target.
    case .calibrate(let cell):
      return startup + 2.5 * max(Double(calibrationTarget(cell.scenario)) / 1e9, leastSeconds(cell.scenario))
    // One repeat to warm up and values of three, on an allocator that takes its time.
    case .count(let cell):
      return 2 * startup + Double(1 + 3 * effort.countedValues) * leastSeconds(cell.scenario)
    // One repeat to warm up, a few that are seen, and the writing.
    case .trace(let cell): return 2 * startup + 2 * leastSeconds(cell.scenario) + Self.writing
    case .time(let cell, _):
      let planned = planned(cell.scenario)
      var share = 1.0
      if case .samples(let count, _) = planned.repeats { share = Double(samples(count, planned)) / Double(count) }
      if case .paced(let count, _) = planned.repeats { share = Double(samples(count, planned)) / Double(count) }
      return startup + seconds(planned.repeats, leadIn: leadIn(planned), samples: share)
    }
  }

  /// A process that takes more seconds than this is a long one.
  private static let longProcess = 0.15

  /// What a timing process takes once it has started, on average over the arms; `samples` is its share of the samples that
  /// each of ten would take.
  private func seconds(_ repeats: RepeatPolicy, leadIn: UInt64, samples: Double) -> Double {
    let leadIn = Double(leadIn) / 1e9
    switch repeats {
    case .calibrated(let least):
      let value = max(Double(effort.target) / 1e9, least, Self.usualRepeat)
      let most = min(Double(effort.values), max(1, Double(effort.budget) / 1e9 / value))
      return (leadIn > 0 ? max(leadIn, value) : 0) + most * value
    case .samples(_, let seconds), .paced(_, let seconds): return leadIn + seconds * Self.share * samples
    }
  }

  /// What writing a trace takes, by experience.
  private static let writing = 0.1

  private func leastSeconds(_ scenario: Scenario) -> Double {
    if case .calibrated(let seconds) = repeats(scenario) { max(seconds, Self.usualRepeat) } else { Self.usualRepeat }
  }

  /// The nanoseconds that a process fills to calibrate. A pace is derived from its answer, which must be sharp; a
  /// number of repeats need not be.
  package func calibrationTarget(_ scenario: Scenario) -> UInt64 {
    if case .paced = repeats(scenario) { max(effort.target, 50_000_000) } else { effort.target }
  }

  /// How many of the samples that each of ten processes would take fall to one.
  package func samples(_ count: Int, _ planned: PlannedScenario) -> Int {
    let share = min(1, Double(Effort.blocksOfSamples) / Double(blocks(planned)))
    return max(1, Int((Double(count) * effort.samples * share).rounded(.up)))
  }

  /// The same plan with fewer blocks, as far as it must be for the estimate to stay within `seconds`; then with fewer
  /// values. The estimate is that of a usual machine, so that the same command makes the same plan every time.
  package func fitted(seconds: Double) -> Plan {
    var effort = effort
    var plan: Plan { Plan(scenarios: scenarios, effort: effort, seed: seed, allocator: allocator) }
    while effort.blocks > Effort.fewestBlocks, plan.estimatedSeconds > seconds { effort.blocks -= 1 }
    while effort.values > 3, plan.estimatedSeconds > seconds { effort.values -= 1 }
    return Plan(scenarios: scenarios, effort: effort, seed: seed, allocator: allocator, startup: startup)
  }

  /// Of all steps, without listing them.
  package var estimatedSeconds: Double {
    scenarios.reduce(0) { sum, planned in
      planned.cells.reduce(sum) { sum, cell in
        sum + (planned.repeats.isCalibrated ? estimate(.calibrate(cell)) : 0)
          + Double(blocks(planned)) * estimate(.time(cell, block: 1))
          + (planned.countsAllocations && !planned.uncounted.contains(cell.arm) ? estimate(.count(cell)) : 0)
          + (traced.contains(cell.arm.subject) ? estimate(.trace(cell)) : 0)
      }
    }
  }

  /// How long a process may take before it counts as hung: far longer than the guess, and than a busy machine takes.
  package func timeout(_ step: Step) -> Double {
    planned(step.cell.scenario).timeLimit ?? max(10, 20 * estimate(step))
  }

  package func repeats(_ scenario: Scenario) -> RepeatPolicy { planned(scenario).repeats }

  package func planned(_ scenario: Scenario) -> PlannedScenario { scenarios.first { $0.scenario == scenario }! }
}
