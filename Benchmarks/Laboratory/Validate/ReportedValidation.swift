import ArgumentParser
import Glibc
import HarnessComparing
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessRunning
import HarnessStatistics
import HarnessWords

/// The experiments of `validate`, and their report.
struct ReportedValidation {
  private let suite: any Suite
  private let plan: Plan
  private let destination: Destination
  private let report: String?
  private let progress = Progress()
  private let jemalloc = Jemalloc.library()
  /// The scenarios in whose cells the number of repeats must not matter.
  private let repeated: [PlannedScenario]

  init(_ suite: any Suite, rounds: Int, seed: UInt64, output: String?, overwrite: Bool = false) throws {
    FileCall.ignoreSignals()
    self.suite = suite
    repeated = try suite.experiment.repeated()
    // One worker, because the validation measures the laboratory, and not the scheduling of two threads.
    let arms = Validation.levels.map { Arm(subject: $0.name, workers: suite.experiment.control.workers) }
    plan = Plan(
      scenarios: suite.experiment.scenarios.map {
        PlannedScenario(
          scenario: $0, arms: arms, incapable: [], repeats: .calibrated(), headlines: [.nsPerOp],
          countsAllocations: false, notes: [])
      },
      effort: Effort.full.with(blocks: rounds * Validation.blocksPerRound), seed: seed,
      startup: RecordedRun.startupSeconds())
    guard let output else {
      (destination, report) = (.nowhere, nil)
      return
    }
    guard mkdir(output, 0o755) == 0 || errno == EEXIST else {
      throw Complaint(.cannotCreate, "cannot create the folder \(output): \(String(cString: strerror(errno)))")
    }
    let report = "\(output)/validate.txt"
    try ResultFiles.checkPlace(report, mayReplace: overwrite, holding: "holds a finished validation")
    self.report = report
    let name = "\(output)/validate.csv"
    destination = .files(try ResultFiles(csv: name, mayReplace: overwrite), name: name)
  }

  func run() throws {
    Interrupt.install()
    let began = Clock.now()
    for warning in MachineWarnings.before() { progress.say(warning) }
    let spin = Spin.calibrated()
    let suite = suite
    let repeats = RepeatEffects(
      repeated, .full, seed: plan.seed, startup: plan.startup, spin: spin,
      references: Set(suite.subjects.filter(\.isReference).map(\.name)),
      launch: { suite.measure($0, environment: [:], timeout: $1) })
    progress.say(
      "\(Count.of(plan.steps.count, "process")), about \(Progress.duration(plan.estimatedSeconds)); "
        + "then \(Progress.duration(repeats.seconds)) for the numbers of repeats")
    let injected = InjectedDelay(
      delay: suite.experiment.delay,
      launch: { suite.measure($0, environment: $1, timeout: 20) })
    var planned = PlannedRun(suite, plan)
    planned.subjects = Validation.levels.map {
      SubjectFacts($0.name, role: .control, summary: suite.experiment.controlSummary)
    }
    planned.reference = Validation.control.name
    let injection = RecordedRun.Injection(spin: spin) { request, environment, timeout in
      let level = Validation.levels.first { $0.name == request.subject } ?? Validation.control
      let control = request.on(subject: suite.experiment.control.subject)
      let rounds = level.delay > 0 ? injected.rounds(control, share: level.delay) : 0
      let additions = rounds > 0 ? suite.experiment.delay(rounds) : [:]
      let launched = suite.launch(control, environment: environment.merging(additions) { $1 }, timeout: timeout)
      guard level.delay == 0, case .time = control.mode else { return launched }
      // The controls of the run know best how long an operation takes in it.
      return Launched {
        let outcome = launched.goOn()
        if let outcome { injected.add(outcome, to: control) }
        return outcome
      }
    }
    let (result, record) = try RecordedRun(
      planned, to: RunOutputs(destination), progress: progress, jemalloc: jemalloc, injection: injection
    ).run()
    guard !result.wasInterrupted else {
      destination.discard()
      throw ExitCode(128 + SIGINT)
    }
    guard result.failures.isEmpty else {
      destination.discard()
      throw Complaint(.software, "\(Count.of(result.failures.count, "control cell")) failed; the lines above say why")
    }
    let costs = try harnessCosts(spin)
    let effects = try effects(repeats)
    progress.clear()

    let validation = Validation(ResultTable(result))
    let lock = HarnessCost.lockNanoseconds()
    let text = ValidationText(
      validation, control: suite.experiment.controlSummary, costs: costs, lockNanoseconds: lock, effects: effects,
      baselines: injected.baselines, seconds: Double(Clock.now() - began) / 1e9, conditions: conditions(result)
    ).text
    try destination.publish(record)
    if let report { try ResultFiles.replace(report, with: text) }
    try DescriptorOutput.write(text, to: STDOUT_FILENO, name: "standard output")
    for warning in MachineWarnings.after(result, record.outcome, more: "--rounds") { progress.say(warning) }
    guard validation.equalsPass, costs.allSatisfy({ $0.passes(lockNanoseconds: lock) }),
      !effects.contains(where: { $0.isSurelyTooLarge(among: effects.count) })
    else {
      throw Complaint(.software, "the laboratory did not pass; the report says where")
    }
  }

  private func conditions(_ result: RunResult) -> String {
    let load = SystemLoad.average.map { "load average \($0)" } ?? "load not visible"
    return
      "\(result.excluded.count) of \(Count.of(result.blocksRun.count, "block")) excluded for steal; \(load) at the end"
  }

  private func effects(_ repeats: RepeatEffects) throws -> [RepeatEffect] {
    let began = Clock.now()
    func show(_ done: Int, _ total: Int, _ cell: CellKey) {
      let taken = Double(Clock.now() - began) / 1e9
      progress.show(
        done: done, total: total, what: "repeats: \(cell)",
        secondsLeft: taken / Double(max(1, done)) * Double(total - done))
    }
    guard let (effects, failures) = try repeats.measure(isInterrupted: { Interrupt.isRequested }, showProgress: show)
    else {
      destination.discard()
      throw ExitCode(128 + SIGINT)
    }
    // As in a run: a reference that fails has a line, and fails nothing.
    for (cell, failure) in failures.sorted(by: { "\($0.key)" < "\($1.key)" }) {
      progress.say("no number for \(cell): \(failure)")
    }
    return effects
  }

  /// Runs one process that takes times, and one that counts, per benchmark.
  private func harnessCosts(_ spin: Spin) throws -> [HarnessCost] {
    try suite.experiment.bare.map { cell in
      func readings(_ mode: MeasureRequest.Mode, _ environment: [String: String] = [:]) throws -> [ResultLine] {
        let request = MeasureRequest(cell: cell, mode: mode, seed: plan.seed, spin: spin)
        let outcome = suite.measure(request, environment: environment, timeout: 60)
        if let failure = outcome.failure(mode) {
          throw Complaint(.software, "no number for \(cell): \(failure)")
        }
        return outcome.results
      }
      func median(_ lines: [ResultLine], _ metric: Metric) throws -> Double {
        let values = lines.compactMap { line -> Double? in
          if case .reading(_, let reading) = line, reading.metric == metric { reading.value } else { nil }
        }
        guard !values.isEmpty else { throw Complaint(.software, "\(cell) gave no \(metric.name)") }
        return Statistics.median(values)
      }
      var repeats = 1
      for line in try readings(.calibrate(target: 20_000_000, limit: .max, leadIn: 20_000_000)) {
        if case .repeats(let count) = line { repeats = count }
      }
      let timed = try readings(.time(repeats: repeats, values: 5, leadIn: 20_000_000))
      let allocations = try jemalloc.map {
        try median(try readings(.count(values: 3), Jemalloc.environment(library: $0)), .allocationsPerOp)
      }
      return HarnessCost(
        cell.scenario, nsPerOp: try median(timed, .nsPerOp),
        voluntarySwitchesPerOp: try median(timed, .voluntarySwitchesPerOp), allocationsPerOp: allocations)
    }
  }
}
