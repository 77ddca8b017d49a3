import HarnessMeasuring
import HarnessPlanning
import HarnessRunning
import HarnessWords

/// Measures, for every cell of some scenarios, whether the time of an operation depends on the number of repeats. A
/// cell of which one repeat fills the longest value has always one, and is left out.
struct RepeatEffects {
  let scenarios: [PlannedScenario]
  let plan: Plan
  let spin: Spin
  /// Subjects that may fail, as they may in a run: a cell of theirs that fails is left out.
  let references: Set<String>
  /// Starts the process of a request.
  let launch: (MeasureRequest, _ timeout: Double) -> ProcessOutcome

  init(
    _ scenarios: [PlannedScenario], _ effort: Effort, seed: UInt64, startup: Double, spin: Spin,
    references: Set<String> = [],
    launch: @escaping (MeasureRequest, _ timeout: Double) -> ProcessOutcome
  ) {
    (self.scenarios, self.spin, self.references, self.launch) = (scenarios, spin, references, launch)
    plan = Plan(scenarios: scenarios, effort: effort, seed: seed, startup: startup)
  }

  /// About how long it takes, in seconds: a value and the one of twice its repeats are three values.
  var seconds: Double {
    scenarios.flatMap(\.cells).reduce(0) { sum, cell in
      sum + plan.estimate(.calibrate(cell))
        + Double(RepeatEffect.processes) * plan.estimate(.time(cell, block: 1)) * 1.5
    }
  }

  /// Throws the reason when a process gives no number, unless its subject is a reference. Nil when `isInterrupted`
  /// becomes true.
  /// - Returns: the effects, and the cells of references that failed, with the reason of each.
  func measure(
    isInterrupted: () -> Bool, showProgress progress: (_ done: Int, _ total: Int, _ cell: CellKey) -> Void
  ) throws -> (effects: [RepeatEffect], failures: [CellKey: String])? {
    var failures: [CellKey: String] = [:]
    func answer(_ cell: CellKey, _ mode: MeasureRequest.Mode, _ step: Plan.Step, place: Int? = nil) throws
      -> [ResultLine]
    {
      let request = MeasureRequest(cell: cell, mode: mode, seed: plan.seed, spin: spin, place: place)
      let outcome = launch(request, 6 * plan.timeout(step))
      // What a process says in which the run stood still is nobody's. The median of a calibration bears one such
      // stretch.
      if outcome.stoodStill > 0, case .time = mode { return [] }
      guard let failure = outcome.failure(mode) else { return outcome.results }
      guard references.contains(cell.arm.subject) else {
        throw Complaint(.software, "no number for \(cell): \(failure)")
      }
      failures[cell] = failure
      return []
    }
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
      for (index, (planned, cell)) in cells.enumerated() where failures[cell] == nil {
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
    let measured = cells.map(\.1).filter { failures[$0] == nil }
    return (measured.map { RepeatEffect($0, repeats: repeats[$0]!, answers[$0]!) }.filter(\.isMeasured), failures)
  }
}
