import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessWords

/// Carries out a plan: calibrates, runs the blocks, counts allocations. Each step is a process of its own. When a
/// process fails, its cell fails and does not run again.
package struct PlanRunner {
  private let plan: Plan
  private let runID: String
  private let spin: Spin
  private let context: String
  private let effects: RunEffects
  private var remaining: [Plan.Step]
  private var timeLeft: TimeLeft
  private var result = RunResult()
  private var processes = 0
  /// The cells of which a process has left another process behind, each said once.
  private var leavers: Set<CellKey> = []
  /// The cells whose body is too short to be measured, each said once.
  private var short: Set<CellKey> = []
  /// Whether the run stood still during a process of the turn that runs.
  private var isTurnLost = false
  /// When the last line of progress was shown.
  private var shownAt: UInt64?
  /// How long the run has stood still, in nanoseconds.
  private var stoodStill: UInt64 = 0
  private let total: Int
  /// How wide the intervals are so far. Only a run with a goal looks.
  private var widths = RunWidths()
  /// How long the parts of the run before this one have taken, in seconds.
  private let earlierSeconds: Double
  /// When this part of the run began.
  private let start: UInt64
  /// The cells and blocks that an earlier run has measured. Block 0 is the count of allocations.
  private let done: Set<Done>

  private struct Done: Hashable {
    let cell: CellKey
    let block: Int
  }

  /// `earlier` is what the resumed run has left. Only the missing steps run.
  package init(
    _ plan: Plan, runID: String, spin: Spin, context: String = "", effects: RunEffects,
    earlier: EarlierRun = EarlierRun()
  ) {
    (self.plan, self.runID, self.spin) = (plan, runID, spin)
    (self.context, self.effects) = (context, effects)
    timeLeft = TimeLeft(plan)
    let done = Set(earlier.rows.map { Done(cell: $0.cell, block: $0.block) })
    self.done = done
    remaining = plan.steps.filter { step in
      switch step {
      case .calibrate(let cell): earlier.repeats[cell] == nil
      case .time(let cell, let block): !done.contains(Done(cell: cell, block: block))
      case .count(let cell): effects.countingEnvironment != nil && !done.contains(Done(cell: cell, block: 0))
      // The rows of an earlier run are numbers and have no trace, so the trace runs again.
      case .trace: true
      }
    }.reversed()
    total = remaining.count
    earlierSeconds = earlier.seconds
    start = effects.now()
    result = RunResult(earlier)
    for rows in Dictionary(grouping: earlier.rows, by: \.process).values where rows[0].block > 0 { widths.add(rows) }
    processes = earlier.rows.map(\.process).max() ?? 0
  }

  package mutating func run() -> RunResult {
    for planned in plan.scenarios {
      calibrate(planned)
      effects.checkpoint(result)
    }
    var finished: Set<Int> = []
    for block in plan.blockNumbers {
      let rowsBefore = result.rows.count
      for turn in plan.turns(block: block) { time(turn) }
      guard plan.shard != nil, !effects.isInterrupted() else { continue }
      finished.insert(block)
      if result.rows.count > rowsBefore { effects.publish(result.rows.filter { finished.contains($0.block) }, result) }
    }
    if let goal = plan.effort.goal { narrow(goal) }
    if let environment = effects.countingEnvironment { count(environment) }
    trace()
    result.wasInterrupted = effects.isInterrupted()
    return result
  }

  /// Each arm is calibrated in a process of its own, and the answers of all decide. The pace of an open loop comes from
  /// the slowest arm, which completes the fewest operations. All changes of an ablation do as many repeats as the
  /// default.
  private mutating func calibrate(_ planned: PlannedScenario) {
    guard planned.repeats.isCalibrated else { return }
    let isPaced = if case .paced = planned.repeats { true } else { false }
    var answers: [CellKey: Int] = [:]
    // A resumed run keeps the repeats with which the run began.
    for cell in plan.calibrated(planned) where result.repeats[cell] == nil {
      let mode = MeasureRequest.Mode.calibrate(
        target: plan.calibrationTarget(planned.scenario), limit: isPaced ? answers.values.min() ?? .max : .max,
        leadIn: plan.leadIn(planned))
      for case .repeats(let count) in launch(.calibrate(cell), mode, effects.timingEnvironment) {
        answers[cell] = count
      }
    }
    // An interrupted calibration may have missed the slowest arm or the quickest one, so its answers are not used.
    guard let fewest = answers.values.min(), !effects.isInterrupted() else { return }
    let numbers = CommonRepeats.numbers(answers, plan.effort)
    let ofAll = isPaced ? fewest : plan.isAblation ? numbers.values.first : nil
    for cell in planned.cells { result.repeats[cell] = ofAll ?? numbers[cell] ?? result.repeats[cell] }
  }

  /// How a process of a cell takes its times. A process that collects samples has no time limit for them, and gives no
  /// more values than samples.
  private func timing(_ cell: CellKey, countsEvents: Bool) -> MeasureRequest.Mode {
    let effort = plan.effort
    let planned = plan.planned(cell.scenario)
    switch planned.repeats {
    case .calibrated:
      return .time(
        repeats: result.repeats[cell] ?? 1, values: effort.values, leadIn: plan.leadIn(planned), budget: effort.budget,
        countsEvents: countsEvents, takesTurns: plan.takesTurns(planned))
    case .samples(let count, _), .paced(let count, _):
      let samples = plan.samples(count, planned)
      let values = min(effort.values, samples)
      return .time(
        repeats: (samples + values - 1) / values, values: values, leadIn: plan.leadIn(planned), budget: .max,
        countsEvents: countsEvents)
    case .once: return .time(repeats: 1, values: 1)
    }
  }

  /// The pace of an open loop: the same for every arm, from the calibration of the slowest arm.
  private func serviceTime(_ step: Plan.Step) -> Double? {
    switch step {
    case .calibrate, .count: return nil
    case .time, .trace: break
    }
    guard case .paced = plan.repeats(step.cell.scenario), let operations = result.repeats[step.cell] else { return nil }
    return Double(plan.calibrationTarget(step.cell.scenario)) / Double(operations)
  }

  /// How long the run has taken, in seconds, without the time in which it stood still.
  private var seconds: Double {
    let passed = effects.now() - start
    return earlierSeconds + Double(passed > stoodStill ? passed - stoodStill : 0) / 1e9
  }

  /// Rounds of turns for the scenarios whose intervals narrow most per second, until all are narrow enough or the time
  /// is over.
  private mutating func narrow(_ goal: Goal) {
    guard !effects.isInterrupted() else { return }
    if plan.isAblation { return ablate(goal) }
    if result.seldom == nil { result.seldom = widths.seldom(plan) }
    for turn in Narrowing(plan, result).unfinished { time(turn) }
    var block = result.blocksRun.map(\.block).max() ?? 0
    while !effects.isInterrupted() {
      block += 1
      let round = Narrowing(plan, result).round(block: block, widths: &widths, goal: goal, timeLeft: timeLeft)
      let before = result.blocksRun.count
      for turn in round where seconds + timeLeft.seconds(remaining + turn.steps) <= goal.seconds { time(turn) }
      guard result.blocksRun.count > before else { break }
    }
    result.halfWidths = Narrowing(plan, result).halfWidths(&widths)
  }

  /// Runs blocks of an ablation for the comparisons whose verdicts are open.
  private mutating func ablate(_ goal: Goal) {
    var narrowing = AblationNarrowing(plan)
    var block = max(plan.effort.blocks, result.blocksRun.map(\.block).max() ?? 0)
    while !effects.isInterrupted() {
      block += 1
      let round = narrowing.round(block: block, widths, result, goal: goal, timeLeft: timeLeft)
      let before = result.blocksRun.count
      for turn in round where seconds + timeLeft.seconds(remaining + turn.steps) <= goal.seconds { time(turn) }
      guard result.blocksRun.count > before else { break }
    }
  }

  /// How often a step is tried while the run stands still. A machine on which that goes on cannot be measured on.
  private static let mostAttempts = 3

  /// Runs a block of a scenario. The times of a block in which the run stood still are nobody's, and the arms of a
  /// block stand close together: so the whole block is made again.
  private mutating func time(_ turn: Turn) {
    for attempt in 1...Self.mostAttempts {
      isTurnLost = false
      let isLast = attempt == Self.mostAttempts
      time(turn, isLast: isLast)
      guard isTurnLost, !effects.isInterrupted() else { return }
      let place = "block \(turn.block) of \(turn.planned.scenario)"
      effects.say(
        isLast
          ? "the run stood still in \(place) \(Self.mostAttempts) times; this block is left out"
          : "the run stood still in \(place), which is made again")
    }
  }

  private mutating func time(_ turn: Turn, isLast: Bool) {
    let (scenario, block) = (turn.planned.scenario, turn.block)
    let before = effects.systemLoad()
    let rowsBefore = result.rows.count
    var answers: [(process: LaunchedStep, lines: [ResultLine])] = []
    /// The processes that have been started and have turns left.
    var waiting: [LaunchedStep] = []
    /// Gives a process its turn. Returns whether the process has turns left.
    func goesOn(_ process: LaunchedStep) -> Bool {
      guard let outcome = process.launched.goOn() else { return true }
      answers.append((process, lines(of: process, outcome, isLast: isLast)))
      return false
    }
    for arm in turn.arms where !isTurnLost {
      let cell = CellKey(scenario, arm)
      guard !done.contains(Done(cell: cell, block: block)) else { continue }
      let mode = timing(cell, countsEvents: plan.countsEvents(turn))
      let process = prepare(.time(cell, block: block), mode, effects.timingEnvironment, place: turn.place)
      if let process, goesOn(process) { waiting.append(process) }
    }
    while !waiting.isEmpty { waiting = waiting.filter { goesOn($0) } }
    if isTurnLost { return }
    for (process, lines) in answers.sorted(by: { $0.process.number < $1.process.number }) {
      keep(lines, of: process.step.cell, block: block, process: process.number)
    }
    guard result.rows.count > rowsBefore else { return }
    let place = ScenarioBlock(scenario, block: block)
    result.blocksRun.insert(place)
    if effects.systemLoad().stealShare(since: before) > SystemLoad.largestStolenShare { result.disturbed.insert(place) }
    effects.checkpoint(result)
  }

  private mutating func count(_ environment: [String: String]) {
    for step in plan.countings where !done.contains(Done(cell: step.cell, block: 0)) {
      let lines = launch(step, .count(values: plan.effort.countedValues), environment)
      keep(lines, of: step.cell, block: 0, process: processes)
    }
  }

  private mutating func trace() {
    let limit = TraceRequest.operationLimit(cells: plan.tracings.count)
    var number: Int32 = 0
    for planned in plan.scenarios {
      for cell in planned.cells where plan.traced.contains(cell.arm.subject) {
        number += 1
        guard case .time(let repeats, _, _, _, _, _, _) = timing(cell, countsEvents: false) else { continue }
        let request = TraceRequest(
          file: effects.tracePiece(number), name: "\(cell.scenario) \(cell.arm)", process: number,
          repeats: repeats, operationLimit: limit)
        for case .traced(let operations, let notShown) in launch(
          .trace(cell), .trace(request), effects.timingEnvironment)
        {
          effects.keepTrace(request, operations, notShown)
        }
      }
    }
  }

  private mutating func keep(_ lines: [ResultLine], of cell: CellKey, block: Int, process: Int) {
    if let words = lines.lazy.compactMap({ $0.shortness(of: cell) }).first, short.insert(cell).inserted {
      effects.say(words)
    }
    let rows = (lines + (cell.arm.workers == 1 ? lines.forkOverheads : [])).compactMap { line -> Row? in
      guard case .reading(let index, let reading) = line else { return nil }
      return Row(
        runID: runID, host: Host.name, block: block, process: process, valueIndex: index, cell: cell, reading: reading)
    }
    guard !rows.isEmpty else { return }
    result.rows += rows
    result.crowding.add(rows)
    widths.add(rows)
    effects.record(rows)
  }

  /// How long a line of progress stands at least, in nanoseconds. The time that is left is a sum over all processes
  /// that are left: with thousands of them, a line for each process took a fifth of the run.
  private static let progressInterval: UInt64 = 200_000_000

  /// Of a run with a goal the time is known, and not the number of processes.
  private mutating func showProgress(_ step: Plan.Step) {
    let now = effects.now()
    if let shownAt, now - shownAt < Self.progressInterval { return }
    shownAt = now
    let left = timeLeft.seconds([step]) + timeLeft.seconds(remaining)
    guard let goal = plan.effort.goal else {
      return effects.showProgress(total - remaining.count - 1, total, "\(step)", left)
    }
    let most = max(left, goal.seconds - seconds)
    effects.showProgress(Int(seconds * 1_000), Int((seconds + most) * 1_000) + 1, "\(step)", most)
  }

  /// Whether a process was stopped together with the run, and has not failed. A batch system signals all processes of a
  /// job, and the measuring process may end before this one has seen its own signal, or has been killed.
  private func wasStopped(_ ending: Ending) -> Bool {
    guard case .signalled(let number) = ending, [SIGTERM, SIGKILL, SIGINT, SIGHUP].contains(number) else {
      return false
    }
    effects.waitForOwnEnd()
    return effects.isInterrupted()
  }

  /// A process of the run, from before its start on.
  private struct LaunchedStep {
    let step: Plan.Step
    let mode: MeasureRequest.Mode
    let number: Int
    let launched: Launched
  }

  /// Prepares the process of a step; nil when the run is interrupted, or when the cell has failed before.
  private mutating func prepare(
    _ step: Plan.Step, _ mode: MeasureRequest.Mode, _ environment: [String: String], place: Int? = nil
  ) -> LaunchedStep? {
    guard !effects.isInterrupted() else { return nil }
    if remaining.last == step { remaining.removeLast() }
    guard result.failures[step.cell] == nil else { return nil }
    showProgress(step)
    let request = MeasureRequest(
      cell: step.cell, mode: mode, seed: plan.seed, spin: spin, context: context, serviceTime: serviceTime(step),
      allocator: plan.allocator, place: place)
    processes += 1
    let padding = EnvironmentPadding.variables(process: processes, seed: plan.seed)
    return LaunchedStep(
      step: step, mode: mode, number: processes,
      launched: effects.launch(request, environment.merging(padding) { $1 }, plan.timeout(step)))
  }

  /// Runs one process that takes no times, and gives its lines; gives none when the process failed, or when the cell
  /// has failed before. When the run stood still, another process runs.
  private mutating func launch(
    _ step: Plan.Step, _ mode: MeasureRequest.Mode, _ environment: [String: String] = [:]
  ) -> [ResultLine] {
    for attempt in 1... {
      guard let process = prepare(step, mode, environment) else { break }
      let outcome = process.launched.toEnd()
      if outcome.stoodStill > 0, attempt < Self.mostAttempts, !isStopped(outcome) {
        stoodStill += outcome.stoodStill
        continue
      }
      return lines(of: process, outcome, isLast: true)
    }
    return []
  }

  private func isStopped(_ outcome: ProcessOutcome) -> Bool {
    outcome.ending == .interrupted || wasStopped(outcome.ending)
  }

  /// What a process has answered; nothing when the process failed. A process that takes times gives nothing either when
  /// the run stood still, and its turn is lost.
  /// - Parameter isLast: whether the turn is not made again, so that a failure is one though the run stood still.
  private mutating func lines(of process: LaunchedStep, _ outcome: ProcessOutcome, isLast: Bool) -> [ResultLine] {
    let (step, mode) = (process.step, process.mode)
    stoodStill += outcome.stoodStill
    if isStopped(outcome) { return [] }
    if case .time = step, outcome.stoodStill > 0 {
      isTurnLost = true
      if !isLast || outcome.failure(mode) == nil { return [] }
    }
    if let words = outcome.leftBehind(by: step.cell), leavers.insert(step.cell).inserted { effects.say(words) }
    timeLeft.finished(step, seconds: Double(outcome.nanoseconds) / 1e9)
    result.note(step, outcome, estimate: plan.estimate(step))
    guard let failure = outcome.failure(mode) else { return outcome.results }
    if case .trace = step {
      // The cell has its numbers already, so a failed trace does not fail the cell.
      effects.say("no trace of \(step.cell): \(failure)")
      return []
    }
    result.failures[step.cell] = failure
    effects.say("no number for \(step.cell): \(failure)")
    return []
  }
}

extension Plan.Step: CustomStringConvertible {
  /// The text of the step in the progress line.
  package var description: String {
    switch self {
    case .calibrate(let cell): "calibrating \(cell)"
    case .time(let cell, let block): "block \(block): \(cell)"
    case .count(let cell): "counting allocations: \(cell)"
    case .trace(let cell): "tracing \(cell)"
    }
  }
}
