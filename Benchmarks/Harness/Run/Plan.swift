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
  package static let usualStartup = 0.04

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
    return scenarios.shuffled(using: &random).map { planned in
      let square = LatinSquare(size: planned.arms.count, seed: seed)
      return (planned, square.order(block: block - 1).map { planned.arms[$0] })
    }
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
  /// The arms other than the slowest fill this share of the time of a value, by experience.
  private static let share = 0.6

  /// What one repeat usually takes, on average over the arms, where a benchmark does not say: on the slowest a single
  /// one often exceeds a short target.
  private static let usualRepeat = 0.03

  /// A guess, in seconds, that the run replaces by what it measures.
  package func estimate(_ step: Step) -> Double {
    let target = Double(effort.target) / 1e9
    switch step {
    // It tries ever more repeats until one try fills the target, or stops at those a slower subject has settled for.
    case .calibrate(let cell): return startup + 1.5 * max(target, leastSeconds(cell.scenario))
    // One repeat to warm up and values of three, on an allocator that takes its time.
    case .count(let cell):
      return 2 * startup + Double(1 + 3 * effort.countedValues) * leastSeconds(cell.scenario)
    // One repeat to warm up, a few that are seen, and the writing.
    case .trace(let cell): return 2 * startup + 2 * leastSeconds(cell.scenario) + Self.writing
    case .time(let cell, _):
      let values = Double(effort.values + effort.warmups)
      switch repeats(cell.scenario) {
      case .calibrated(let least): return startup + values * max(target * Self.share, least, Self.usualRepeat)
      case .perProcess(_, let seconds), .paced(_, let seconds):
        return startup + seconds * values / Double(effort.values) * Self.share
      }
    }
  }

  /// What writing a trace takes, by experience.
  private static let writing = 0.1

  private func leastSeconds(_ scenario: Scenario) -> Double {
    if case .calibrated(let seconds) = repeats(scenario) { max(seconds, Self.usualRepeat) } else { Self.usualRepeat }
  }

  /// The same plan with less effort per process, as far as it must be for the estimate to stay within so many seconds:
  /// first one value to warm up instead of two, then fewer values, then shorter ones. Blocks are what intervals rest
  /// on, and stay. The estimate is that of a usual machine, so that the same command makes the same plan every time.
  package func fitted(seconds: Double) -> Plan {
    var effort = effort
    var plan: Plan { Plan(scenarios: scenarios, effort: effort, seed: seed, allocator: allocator) }
    let savings: [(inout Effort) -> Void] = [
      { $0.warmups = min($0.warmups, 1) }, { $0.values = min($0.values, 3) },
      { $0.target = min($0.target, 30_000_000) }, { $0.target = min($0.target, 20_000_000) },
      { $0.target = min($0.target, 10_000_000) },
    ]
    for save in savings where plan.estimatedSeconds > seconds { save(&effort) }
    return Plan(scenarios: scenarios, effort: effort, seed: seed, allocator: allocator, startup: startup)
  }

  package var estimatedSeconds: Double { steps.reduce(0) { $0 + estimate($1) } }

  /// How long a process may take before it counts as hung: far longer than the guess, and than a busy machine takes.
  package func timeout(_ step: Step) -> Double {
    planned(step.cell.scenario).timeLimit ?? max(10, 20 * estimate(step))
  }

  package func repeats(_ scenario: Scenario) -> RepeatPolicy { planned(scenario).repeats }

  private func planned(_ scenario: Scenario) -> PlannedScenario { scenarios.first { $0.scenario == scenario }! }
}
