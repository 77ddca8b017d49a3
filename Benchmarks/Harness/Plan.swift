/// A scenario with the arms that can run it.
public struct PlannedScenario: Sendable {
  public let scenario: Scenario
  public let arms: [Arm]
  /// Arms of the run that have no such thing: their cells stay empty.
  public let incapable: [Arm]
  public let repeats: RepeatPolicy
  /// The metrics the table shows; the CSV has all.
  public let headlines: [Metric]
  public let countsAllocations: Bool
  /// Arms whose allocations nobody can count.
  public let uncounted: [Arm]
  public let notes: [String]
  /// After how many seconds a process counts as hung, where that is known better than from the estimate.
  public let timeLimit: Double?

  public init(
    scenario: Scenario, arms: [Arm], incapable: [Arm], repeats: RepeatPolicy, headlines: [Metric],
    countsAllocations: Bool, uncounted: [Arm] = [], notes: [String], timeLimit: Double? = nil
  ) {
    self.scenario = scenario
    self.arms = arms
    self.incapable = incapable
    self.repeats = repeats
    self.headlines = headlines
    self.countsAllocations = countsAllocations
    self.uncounted = uncounted
    self.notes = notes
    self.timeLimit = timeLimit
  }

  public var cells: [CellKey] { arms.map { CellKey(scenario, $0) } }
}

/// How much is measured: the same for every cell.
public struct Effort: Hashable, Sendable, Codable, CustomStringConvertible {
  public var blocks: Int
  public var values: Int
  public var warmups: Int
  /// What a value takes on the slowest subject, in nanoseconds.
  public var target: UInt64

  public init(blocks: Int, values: Int, warmups: Int, target: UInt64) {
    self.blocks = blocks
    self.values = values
    self.warmups = warmups
    self.target = target
  }

  /// How often allocations are counted: they hardly vary.
  public var countedValues: Int { max(1, values / 2) }

  public var description: String {
    "\(blocks) blocks of \(warmups) + \(values) values of \(target / 1_000_000) ms"
  }

  /// What a default run may take, in seconds, by the estimate: for one backend beside the two references, and for
  /// more in proportion. The promises are ten minutes and two; the rest is for machines slower than usual.
  public static let fullBudget = 380.0
  public static let quickBudget = 110.0

  /// Ten blocks are the least on which to decide anything.
  public static let full = Effort(blocks: 10, values: 5, warmups: 2, target: 50_000_000)
  /// A look at everything, without intervals: they need six blocks.
  public static let quick = Effort(blocks: 2, values: 2, warmups: 1, target: 20_000_000)
}

/// Everything a run will do, before it does it.
public struct Plan: Sendable {
  public let scenarios: [PlannedScenario]
  public let effort: Effort
  public let seed: UInt64
  /// What the timed processes run on; those that count allocations always run on jemalloc.
  public let allocator: Allocator
  /// What starting a process takes on this machine, in seconds: for the estimate alone.
  public let startup: Double
  /// Whose operations are recorded in processes of their own, behind everything else; no estimate of the effort counts them.
  public var traced: Set<String> = []

  public init(
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
  public static let usualStartup = 0.04

  /// All arms, in the order in which they were asked for.
  public var arms: [Arm] {
    var seen: Set<Arm> = []
    var ordered: [Arm] = []
    for scenario in scenarios {
      for arm in scenario.arms + scenario.incapable where seen.insert(arm).inserted { ordered.append(arm) }
    }
    return ordered
  }

  /// The processes of one kind, in the order in which they run.
  public enum Step: Hashable, Sendable {
    case calibrate(CellKey)
    case time(CellKey, block: Int)
    case count(CellKey)
    case trace(CellKey)

    public var cell: CellKey {
      switch self {
      case .calibrate(let cell), .time(let cell, _), .count(let cell), .trace(let cell): cell
      }
    }
  }

  public var calibrations: [Step] {
    scenarios.filter(\.repeats.isCalibrated).flatMap { $0.cells.map(Step.calibrate) }
  }

  public var countings: [Step] {
    scenarios.filter(\.countsAllocations).flatMap { planned in
      planned.cells.filter { !planned.uncounted.contains($0.arm) }.map(Step.count)
    }
  }

  public var tracings: [Step] {
    scenarios.flatMap(\.cells).filter { traced.contains($0.arm.subject) }.map(Step.trace)
  }

  /// One block: the scenarios in an order of its own, and the arms of each next to one another, by the Latin square.
  public func block(_ block: Int) -> [(scenario: PlannedScenario, order: [Arm])] {
    var random = SeededGenerator(seed: seed, purpose: "scenario-order-\(block)")
    return scenarios.shuffled(using: &random).map { planned in
      let square = LatinSquare(size: planned.arms.count, seed: seed)
      return (planned, square.order(block: block - 1).map { planned.arms[$0] })
    }
  }

  public func timedSteps(block: Int) -> [Step] {
    self.block(block).flatMap { planned, order in
      order.map { .time(CellKey(planned.scenario, $0), block: block) }
    }
  }

  /// All processes, if every one of them succeeds.
  public var steps: [Step] {
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
  public func estimate(_ step: Step) -> Double {
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
  public func fitted(seconds: Double) -> Plan {
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

  public var estimatedSeconds: Double { steps.reduce(0) { $0 + estimate($1) } }

  /// How long a process may take before it counts as hung: far longer than the guess, and than a busy machine takes.
  public func timeout(_ step: Step) -> Double {
    planned(step.cell.scenario).timeLimit ?? max(10, 20 * estimate(step))
  }

  public func repeats(_ scenario: Scenario) -> RepeatPolicy { planned(scenario).repeats }

  private func planned(_ scenario: Scenario) -> PlannedScenario { scenarios.first { $0.scenario == scenario }! }
}
