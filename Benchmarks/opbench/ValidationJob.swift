import ArgumentParser
import Glibc
import Harness
import Subjects
import Workloads

/// The experiments of `opbench validate`, and their report.
struct ValidationJob {
  private let plan: Plan
  private let files: ResultFiles?
  private let report: String?
  private let progress = Progress()
  private let jemalloc = Jemalloc.library()

  /// Benchmarks in which adding and running do not overlap, so that a delay in one is a delay of the whole.
  private static let scenarios = [
    Scenario(BenchmarkName("overhead", "local-add"), ["ops": "1000"]),
    Scenario(BenchmarkName("overhead", "local-add"), ["ops": "10000"]),
    Scenario(BenchmarkName("dependencies", "chain"), ["length": "100"]),
    Scenario(BenchmarkName("dependencies", "chain"), ["length": "1000"]),
    Scenario(BenchmarkName("dependencies", "fan-in"), ["width": "100"]),
    Scenario(BenchmarkName("dependencies", "fan-in"), ["width": "1000"]),
  ]

  /// Benchmarks that run on plain closures, for the cost of the harness.
  private static let bare = [
    Scenario(BenchmarkName("overhead", "external-add"), ["ops": "10000"]),
    Scenario(BenchmarkName("overhead", "local-add"), ["ops": "10000"]),
    Scenario(BenchmarkName("dependencies", "fan-in"), ["width": "1000"]),
  ]

  init(rounds: Int, seed: UInt64, output: String?) throws {
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    // One worker: what is measured is the laboratory, not the scheduling of two threads.
    let arms = Validation.levels.map { Arm(subject: $0.name, workers: 1) }
    plan = Plan(
      scenarios: Self.scenarios.map {
        PlannedScenario(
          scenario: $0, arms: arms, incapable: [], repeats: .calibrated(), headlines: [.nsPerOp],
          countsAllocations: false, notes: [])
      },
      effort: Effort(
        blocks: rounds * Validation.blocksPerComparison, values: 3, warmups: 1, target: 15_000_000),
      seed: seed, startup: RunJob.startupSeconds())
    guard let output else {
      (files, report) = (nil, nil)
      return
    }
    guard mkdir(output, 0o755) == 0 || errno == EEXIST else {
      throw Complaint(.cannotCreate, "cannot create the folder \(output): \(String(cString: strerror(errno)))")
    }
    files = try ResultFiles(csv: "\(output)/validate.csv")
    report = "\(output)/validate.txt"
  }

  func run() throws {
    Interrupt.install()
    let start = SystemLoad.read()
    let began = Clock.now()
    let spin = Spin.calibrated()
    var environment = Environment(
      runID: Environment.newRunID(), plan: plan, spin: spin, graphs: [], arguments: CommandLine.arguments,
      jemalloc: jemalloc, source: #filePath)
    for warning in MachineWarnings.before() { progress.say(warning) }
    progress.say("\(plan.steps.count) processes, about \(Progress.duration(plan.estimatedSeconds))")

    var writing: (any Error)?
    let controls = ControlLauncher(spin: spin)
    let world = RunSession.World(
      launch: controls.launch, showProgress: progress.show, say: progress.say,
      record: { rows in
        guard writing == nil else { return }
        do { try files?.append(rows.map(CSV.line).joined()) } catch { writing = error }
      },
      isInterrupted: { Interrupt.isRequested || writing != nil }, countingEnvironment: nil)
    var session = RunSession(plan, runID: environment.runID, spin: spin, graphs: [], world: world)
    let result = session.run()
    let costs = result.wasInterrupted ? [] : try harnessCosts(spin)
    progress.clear()
    if let writing { throw writing }
    if result.wasInterrupted {
      files?.discard()
      throw ExitCode(128 + SIGINT)
    }
    guard result.failures.isEmpty else {
      files?.discard()
      throw Complaint(.software, "\(result.failures.count) control cells failed; the lines above say why")
    }

    let validation = Validation(result.rows, excluding: result.excluded)
    let lock = HarnessCost.lockNanoseconds()
    let seconds = Double(Clock.now() - began) / 1e9
    let text = ValidationText(
      validation, costs: costs, lockNanoseconds: lock, baselines: controls.baselines, seconds: seconds,
      conditions: conditions(result)
    ).text
    environment.outcome = RunOutcome(result)
    environment.outcome.seconds = seconds
    environment.outcome.stealShare = SystemLoad.read().stealShare(since: start)
    environment.outcome.cpuPressureSeconds = SystemLoad.read().pressureSeconds(since: start)
    try files?.publish(environment: try environment.json())
    if let report { try ResultFiles.replace(report, with: text) }
    try ResultFiles.write(text, to: STDOUT_FILENO, name: "standard output")
    for warning in MachineWarnings.after(result, environment.outcome) { progress.say(warning) }
    guard validation.equalsPass, costs.allSatisfy({ $0.passes(lockNanoseconds: lock) }) else {
      throw Complaint(.software, "the laboratory did not pass; the report says where")
    }
  }

  private func conditions(_ result: RunResult) -> String {
    let load = SystemLoad.average.map { "load average \($0)" } ?? "load not visible"
    return "\(result.excluded.count) of \(result.blocksRun.count) blocks excluded for steal; \(load) at the end"
  }

  /// One process that takes times and one that counts, per benchmark.
  private func harnessCosts(_ spin: Spin) throws -> [HarnessCost] {
    try Self.bare.map { scenario in
      let cell = CellKey(scenario, Arm(subject: EmptySubject.name, workers: 1))
      func readings(_ mode: MeasureRequest.Mode, _ environment: [String: String] = [:]) throws -> [ResultLine] {
        let request = MeasureRequest(cell: cell, mode: mode, seed: plan.seed, spin: spin, graphs: [])
        let outcome = ProcessRunner.measure(request, environment: environment, timeout: 60)
        let lines = outcome.lines.compactMap(ResultLine.init)
        guard outcome.ending == .exited(0), lines.contains(.end) else {
          throw Complaint(.software, "no number for \(cell): the process \(outcome.ending.description)")
        }
        return lines
      }
      func median(_ lines: [ResultLine], _ metric: Metric) throws -> Double {
        let values = lines.compactMap { line -> Double? in
          if case .reading(_, let reading) = line, reading.metric == metric { reading.value } else { nil }
        }
        guard !values.isEmpty else { throw Complaint(.software, "\(cell) gave no \(metric.name)") }
        return Statistics.median(values)
      }
      var repeats = 1
      for line in try readings(.calibrate(target: 20_000_000, limit: .max)) {
        if case .repeats(let count) = line { repeats = count }
      }
      let timed = try readings(.time(repeats: repeats, values: 5, warmups: 1))
      let allocations = try jemalloc.map {
        try median(try readings(.count(values: 3), Jemalloc.environment(library: $0)), .allocationsPerOp)
      }
      return HarnessCost(
        scenario, nsPerOp: try median(timed, .nsPerOp),
        voluntarySwitchesPerOp: try median(timed, .voluntarySwitchesPerOp), allocationsPerOp: allocations)
    }
  }
}

/// Starts every arm of the experiment as the one control subject, with the delay that its name stands for.
private final class ControlLauncher {
  private let spin: Spin
  /// Nanoseconds per operation of the control without a delay, by scenario: what a delay is a share of.
  private(set) var baselines: [Scenario: Double] = [:]

  init(spin: Spin) { self.spin = spin }

  func launch(_ request: MeasureRequest, _ environment: [String: String], _ timeout: Double) -> ProcessOutcome {
    let delay = Validation.levels.first { $0.name == request.subject }?.delay ?? 0
    let control = request.on(subject: ControlSubject.name)
    var environment = environment
    if delay > 0, case .time(let repeats, _, _) = request.mode {
      let nanoseconds = delay * baseline(control, repeats, timeout)
      environment[ControlChoice.delayVariable] = "\(spin.rounds(nanoseconds: nanoseconds))"
    }
    return ProcessRunner.measure(control, environment: environment, timeout: timeout)
  }

  /// The median of a few processes, measured when it is first needed.
  private func baseline(_ request: MeasureRequest, _ repeats: Int, _ timeout: Double) -> Double {
    let scenario = Scenario(request.name, Parameters(request.parameters) ?? [:])
    if let known = baselines[scenario] { return known }
    let processes = (0..<5).compactMap { _ -> Double? in
      let values = ProcessRunner.measure(request, environment: [:], timeout: timeout).lines.compactMap(ResultLine.init)
        .compactMap {
          line -> Double? in
          if case .reading(_, let reading) = line, reading.metric == .nsPerOp { reading.value } else { nil }
        }
      return values.isEmpty ? nil : Statistics.median(values)
    }
    let value = processes.isEmpty ? 0 : Statistics.median(processes)
    baselines[scenario] = value
    return value
  }
}
