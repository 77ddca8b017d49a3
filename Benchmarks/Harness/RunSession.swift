/// A scenario in one block: what is excluded as a whole, all arms, when the machine was disturbed meanwhile.
public struct ScenarioBlock: Hashable, Sendable {
  public let scenario: Scenario
  public let block: Int

  public init(_ scenario: Scenario, block: Int) {
    self.scenario = scenario
    self.block = block
  }
}

/// What a run found.
public struct RunResult: Sendable {
  public var rows: [Row] = []
  /// Cells that have no number, and why.
  public var failures: [CellKey: String] = [:]
  /// Repeats for one value, the same for every arm; for an open loop the operations that the slowest arm completes in
  /// the time of a value.
  public var repeats: [Scenario: Int] = [:]
  /// More than 1 % of CPU time was stolen.
  public var disturbed: Set<ScenarioBlock> = []
  public var blocksRun: Set<ScenarioBlock> = []
  public var wasInterrupted = false

  public init() {}
}

/// Carries out a plan: calibrates, runs the blocks, counts allocations. Each step is a process of its own; one that
/// fails costs its own cell, which does not run again.
public struct RunSession {
  /// Where the session meets the world; tests put something else here.
  public struct World {
    /// Starts a process for a request, with additions to its environment, and waits for it so many seconds.
    public var launch: (MeasureRequest, [String: String], Double) -> ProcessOutcome
    public var showProgress: (_ done: Int, _ total: Int, _ what: String, _ secondsLeft: Double) -> Void
    public var say: (String) -> Void
    /// Keeps a row for good as soon as it is known.
    public var record: (Row) -> Void
    public var isInterrupted: () -> Bool
    /// What the counting processes find in their environment, or nil when nothing can count.
    public var countingEnvironment: [String: String]?

    public init(
      launch: @escaping (MeasureRequest, [String: String], Double) -> ProcessOutcome,
      showProgress: @escaping (Int, Int, String, Double) -> Void, say: @escaping (String) -> Void,
      record: @escaping (Row) -> Void, isInterrupted: @escaping () -> Bool, countingEnvironment: [String: String]?
    ) {
      self.launch = launch
      self.showProgress = showProgress
      self.say = say
      self.record = record
      self.isInterrupted = isInterrupted
      self.countingEnvironment = countingEnvironment
    }
  }

  private let plan: Plan
  private let runID: String
  private let spin: Spin
  private let graphs: [String]
  private let world: World
  private var remaining: [Plan.Step]
  private var timeLeft: TimeLeft
  private var result = RunResult()
  private var processes = 0
  private let total: Int

  public init(_ plan: Plan, runID: String, spin: Spin, graphs: [String], world: World) {
    self.plan = plan
    self.runID = runID
    self.spin = spin
    self.graphs = graphs
    self.world = world
    timeLeft = TimeLeft(plan)
    remaining = plan.steps.filter { step in
      if case .count = step { return world.countingEnvironment != nil }
      return true
    }.reversed()
    total = remaining.count
  }

  public mutating func run() -> RunResult {
    for planned in plan.scenarios { calibrate(planned) }
    for block in 1...plan.effort.blocks {
      for (planned, order) in plan.block(block) { time(planned, order, block: block) }
    }
    if let environment = world.countingEnvironment { count(environment) }
    result.wasInterrupted = world.isInterrupted()
    return result
  }

  /// The slowest arm decides: it needs the fewest repeats.
  private mutating func calibrate(_ planned: PlannedScenario) {
    switch planned.repeats {
    case .perProcess(let repeats, _): result.repeats[planned.scenario] = share(repeats)
    case .calibrated, .paced:
      var fewest = Int.max
      for cell in planned.cells {
        let mode = MeasureRequest.Mode.calibrate(target: plan.effort.target, limit: fewest)
        for line in launch(.calibrate(cell), mode) {
          if case .repeats(let count) = line { fewest = min(fewest, count) }
        }
      }
      if fewest < .max { result.repeats[planned.scenario] = fewest }
    }
  }

  /// What of a process's samples falls to one value.
  private func share(_ samples: Int) -> Int { (samples + plan.effort.values - 1) / plan.effort.values }

  /// The pace of an open loop: the same for every arm, from the slowest one's calibration.
  private func serviceTime(_ step: Plan.Step) -> Double? {
    guard case .time = step, case .paced = plan.repeats(step.cell.scenario),
      let operations = result.repeats[step.cell.scenario]
    else { return nil }
    return Double(plan.effort.target) / Double(operations)
  }

  private mutating func time(_ planned: PlannedScenario, _ order: [Arm], block: Int) {
    var repeats = result.repeats[planned.scenario] ?? 1
    if case .paced(let samples, _) = planned.repeats { repeats = share(samples) }
    let mode = MeasureRequest.Mode.time(
      repeats: repeats, values: plan.effort.values, warmups: plan.effort.warmups)
    let before = SystemLoad.read()
    for arm in order {
      let cell = CellKey(planned.scenario, arm)
      keep(launch(.time(cell, block: block), mode), of: cell, block: block)
    }
    let place = ScenarioBlock(planned.scenario, block: block)
    result.blocksRun.insert(place)
    if SystemLoad.read().stealShare(since: before) > 0.01 { result.disturbed.insert(place) }
  }

  private mutating func count(_ environment: [String: String]) {
    for step in plan.countings { keep(launch(step, .count(values: 3), environment), of: step.cell, block: 0) }
  }

  private mutating func keep(_ lines: [ResultLine], of cell: CellKey, block: Int) {
    for case .reading(let index, let reading) in lines {
      let row = Row(
        runID: runID, block: block, process: processes, valueIndex: index, cell: cell, reading: reading)
      result.rows.append(row)
      world.record(row)
    }
  }

  /// Runs one process and gives its lines; none when it failed, or when the cell has failed before.
  private mutating func launch(
    _ step: Plan.Step, _ mode: MeasureRequest.Mode, _ environment: [String: String] = [:]
  ) -> [ResultLine] {
    guard !world.isInterrupted() else { return [] }
    remaining.removeLast()
    guard result.failures[step.cell] == nil else { return [] }
    world.showProgress(
      total - remaining.count - 1, total, "\(step)", timeLeft.seconds([step]) + timeLeft.seconds(remaining))
    processes += 1
    let request = MeasureRequest(
      cell: step.cell, mode: mode, seed: plan.seed, spin: spin, graphs: graphs, serviceTime: serviceTime(step))
    let outcome = world.launch(request, environment.merging(padding()) { $1 }, plan.timeout(step))
    guard outcome.ending != .interrupted else { return [] }
    timeLeft.finished(step, seconds: Double(outcome.nanoseconds) / 1e9)
    let lines = outcome.lines.compactMap(ResultLine.init)
    guard let failure = Self.failure(outcome, lines) else { return lines }
    result.failures[step.cell] = failure
    world.say("no number for \(step.cell): \(failure)")
    return []
  }

  /// The environment lies at the bottom of the stack: padding it at random moves the stack about, whose alignment
  /// would otherwise be the same accident in every process.
  private func padding() -> [String: String] {
    var random = SeededGenerator(seed: plan.seed &+ UInt64(processes), purpose: "environment-padding")
    return ["OPBENCH_PADDING": String(repeating: "x", count: Int.random(in: 0..<4_096, using: &random))]
  }

  private static func failure(_ outcome: ProcessOutcome, _ lines: [ResultLine]) -> String? {
    for case .failure(let message) in lines { return message }
    if outcome.ending == .exited(0), lines.contains(.end) { return nil }
    let words = outcome.lastWords.map { ", its last words: \($0)" } ?? ""
    return "the process \(outcome.ending.description)\(words)"
  }
}

extension Plan.Step: CustomStringConvertible {
  /// What the progress line says.
  public var description: String {
    switch self {
    case .calibrate(let cell): "calibrating \(cell)"
    case .time(let cell, let block): "block \(block): \(cell)"
    case .count(let cell): "counting allocations: \(cell)"
    }
  }
}
