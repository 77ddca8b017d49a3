import ArgumentParser
import Glibc
import HarnessGate
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessWords
import Laboratory
import Simulation
import Subjects
import Workloads

/// opbench's benchmarks and subjects, as a suite of the laboratory.
struct OpbenchSuite: Suite {
  let name = "opbench"
  let reference = "foundation"
  let source = #filePath
  private let peers = PeerPrograms.found()

  var subjects: [SubjectFacts] { SubjectRegistry.all.map(\.facts) }

  var benchmarkNames: [BenchmarkName] { (try? Catalogue(graphs: [], seed: 1).workloads.map(\.name)) ?? [] }

  var gated: [GatedCell] {
    GatedBenchmarks.cells(subject: GatedBenchmarks.defaultSubject, workers: CPUs.available)
  }

  var tracer: Tracer? { LibraryTracer.tracer }

  var rowForms: [any RowForm.Type] { [MeasuredRows.self, SimulationRows.self] }

  func trial(_ request: MeasureRequest) throws -> Trial? {
    guard let parameters = Parameters(request.parameters),
      let workload = try Catalogue.workload(request.name, context: request.context, seed: request.seed)
    else { return nil }
    let variant = try SubjectVariant(request.subject)
    try variant.choose()
    try DefaultExecutors.install(for: variant.subject, workers: request.workers)
    var trial = try workload.prepare(
      subject: variant.subject,
      Setting(
        parameters: parameters, workers: request.workers, seed: request.seed, spin: request.spin,
        serviceTime: request.serviceTime))
    trial?.schedulerCounts = MadeBackends.counts
    return trial.map { StudiedTrial.of($0, workers: request.workers) }
  }

  func launch(_ request: MeasureRequest, environment: [String: String], timeout: Double) -> Launched {
    PeerLauncher(peers).launch(request, environment: environment, timeout: timeout)
      ?? ProcessRunner.launch(request, environment: environment, timeout: timeout)
  }

  func versions(of subjects: Set<String>) throws -> [String: String] {
    var versions: [String: String] = [:]
    for name in subjects { versions[name] = try peers.version(name) }
    return versions
  }

  /// Those of the reference results in the checkout from which this program was built.
  var publishedVersions: [String: String] {
    let path = RunRecord.path(csv: "\(Gate.checkout)/results/reference.csv.gz")
    return (try? RunRecord.read(path: path)).flatMap(\.self)?.peers ?? [:]
  }

  /// Benchmarks in which adding and running do not overlap, so that a delay of an operation delays the whole by the
  /// same time.
  var experiment: Experiment {
    func scenario(_ family: String, _ benchmark: String, _ parameter: String, _ count: Int) -> Scenario {
      Scenario(BenchmarkName(family, benchmark), [parameter: "\(count)"])
    }
    let bare = [
      scenario("overhead", "external-add", "ops", 10_000), scenario("overhead", "local-add", "ops", 10_000),
      scenario("dependencies", "fan-in", "width", 1_000),
    ]
    return Experiment(
      scenarios: [
        scenario("overhead", "local-add", "ops", 1_000), scenario("overhead", "local-add", "ops", 10_000),
        scenario("dependencies", "chain", "length", 100), scenario("dependencies", "chain", "length", 1_000),
        scenario("dependencies", "fan-in", "width", 100), scenario("dependencies", "fan-in", "width", 1_000),
      ], control: Arm(subject: ControlSubject.name, workers: 1),
      controlSummary: "the stealing backend with one worker",
      bare: bare.map { CellKey($0, Arm(subject: EmptySubject.name, workers: 1)) }, repeated: { try repeated() },
      delay: { [ControlChoice.delayVariable: "\($0)"] })
  }
}

extension OpbenchSuite {
  /// What a process of its own measures of a cell, for commands that are no run. Throws one line when the process
  /// failed, and when the user has interrupted the command.
  func results(
    of cell: CellKey, _ mode: MeasureRequest.Mode, environment: [String: String] = [:], seed: UInt64, spin: Spin
  ) throws -> [ResultLine] {
    if Interrupt.isRequested { throw ExitCode(128 + SIGINT) }
    let request = MeasureRequest(cell: cell, mode: mode, seed: seed, spin: spin)
    let outcome = measure(request, environment: environment, timeout: 60)
    if let failure = outcome.failure(mode) { throw Complaint(.software, "no number for \(cell): \(failure)") }
    return outcome.results
  }

  /// The default subject, the references, and the peers that are built: all benchmarks of a run that choose how often
  /// they are repeated.
  private func repeated() throws -> [PlannedScenario] {
    let names = [GatedBenchmarks.defaultSubject] + Peer.all.map(\.name).filter { peers.program($0) != nil }
    let selection = Selection(names: names, benchmark: nil, workers: nil, effort: .full, seed: 1, peers: peers)
    return try selection.plan(Catalogue(graphs: [], seed: 1)).scenarios.filter {
      if case .calibrated = $0.repeats { true } else { false }
    }
  }
}

enum OpbenchProgram: SuiteProgram {
  static var suite: any Suite { OpbenchSuite() }
}
