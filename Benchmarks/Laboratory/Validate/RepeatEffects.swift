import HarnessMeasuring
import HarnessPlanning
import HarnessRunning
import HarnessWords

/// Measures, for every cell of some scenarios, whether the time of an operation depends on the number of repeats. A cell of
/// which one repeat fills the longest value has always one, and is left out.
struct RepeatEffects {
  let scenarios: [PlannedScenario]
  let plan: Plan
  let spin: Spin
  /// Starts the process of a request.
  let launch: (MeasureRequest, _ timeout: Double) -> ProcessOutcome

  init(
    _ scenarios: [PlannedScenario], _ effort: Effort, seed: UInt64, startup: Double, spin: Spin,
    launch: @escaping (MeasureRequest, _ timeout: Double) -> ProcessOutcome
  ) {
    self.scenarios = scenarios
    self.spin = spin
    self.launch = launch
    plan = Plan(scenarios: scenarios, effort: effort, seed: seed, startup: startup)
  }

  /// About how long it takes, in seconds: a value and the one of twice its repeats are three values.
  var seconds: Double {
    scenarios.flatMap(\.cells).reduce(0) { sum, cell in
      sum + plan.estimate(.calibrate(cell))
        + Double(RepeatEffect.processes) * plan.estimate(.time(cell, block: 1)) * 1.5
    }
  }

  /// Throws the reason when a process gives no number. Nil when `isInterrupted` becomes true.
  func measure(
    isInterrupted: () -> Bool, showProgress progress: (_ done: Int, _ total: Int, _ cell: CellKey) -> Void
  ) throws -> [RepeatEffect]? {
    var repeats: [CellKey: Int] = [:]
    var varying: Set<CellKey> = []
    for planned in scenarios {
      var fitting: [CellKey: Int] = [:]
      for cell in planned.cells {
        if isInterrupted() { return nil }
        let mode = MeasureRequest.Mode.calibrate(
          target: plan.calibrationTarget(planned.scenario), limit: .max, leadIn: plan.leadIn(planned))
        for case .repeats(let count) in try answer(cell, mode, .calibrate(cell)) { fitting[cell] = count }
      }
      repeats.merge(CommonRepeats.numbers(fitting, plan.effort)) { $1 }
      varying.formUnion(fitting.filter { $1 > 1 }.keys)
    }
    // Round by round, so that a bad minute of the machine is in all cells and in few of their processes.
    var answers: [CellKey: [[ResultLine]]] = [:]
    let cells = scenarios.flatMap { planned in planned.cells.filter(varying.contains).map { (planned, $0) } }
    for round in 0..<RepeatEffect.processes {
      for (index, (planned, cell)) in cells.enumerated() {
        if isInterrupted() { return nil }
        progress(round * cells.count + index, RepeatEffect.processes * cells.count, cell)
        // Where a repeat takes long there is no lead-in, and one pair of values is enough.
        let leadIn = plan.leadIn(planned)
        let mode = MeasureRequest.Mode.time(
          repeats: repeats[cell]!, values: leadIn > 0 ? RepeatEffect.values : 2, leadIn: max(1, leadIn),
          more: repeats[cell]!)
        answers[cell, default: []].append(try answer(cell, mode, .time(cell, block: round + 1), place: round))
      }
    }
    return cells.map { RepeatEffect($1, repeats: repeats[$1]!, answers[$1]!) }.filter(\.isMeasured)
  }

  private func answer(_ cell: CellKey, _ mode: MeasureRequest.Mode, _ step: Plan.Step, place: Int? = nil) throws
    -> [ResultLine]
  {
    let request = MeasureRequest(cell: cell, mode: mode, seed: plan.seed, spin: spin, place: place)
    let outcome = launch(request, 6 * plan.timeout(step))
    // What a process says in which the run stood still is nobody's. The median of a calibration bears one such stretch.
    if outcome.stoodStill > 0, case .time = mode { return [] }
    if let failure = outcome.failure(mode) { throw Complaint(.software, "no number for \(cell): \(failure)") }
    return outcome.results
  }
}
