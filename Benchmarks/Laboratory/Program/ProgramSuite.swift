import HarnessGate
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// The user's own benchmarks as a suite of the laboratory. The suite has one subject, the program itself, where no
/// benchmark names another.
struct ProgramSuite<Program: BenchmarkProgram>: Suite, SuiteProgram {
  static var suite: any Suite { ProgramSuite() }

  var name: String { Program.name }
  var reference: String { Program.reference }
  var subjectOption: String { "--subject" }
  var subjects: [SubjectFacts] {
    Program.subjects.map {
      SubjectFacts($0, role: .ours, summary: $0 == Program.name ? "this program" : "\($0), in \(Program.name)")
    }
  }
  var benchmarkNames: [BenchmarkName] {
    Program.benchmarks.map(\.name).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
  }
  var metricFacts: [Metric: MetricFacts] {
    Program.benchmarks.reduce(into: [:]) { $0.merge($1.metricFacts) { first, _ in first } }
  }
  var gated: [GatedCell] { Program.benchmarks.map { $0.gated(in: Program.name) } }
  // The commit is that of the checkout in which the user gives the command.
  var source: String { "./source" }

  var experiment: Experiment {
    let arm = Arm(subject: Program.reference, workers: 1)
    return Experiment(
      scenarios: Program.benchmarks.filter { $0.arm(in: Program.name) == arm }.map(\.scenario), control: arm,
      controlSummary: arm.subject == Program.name ? "this program" : "\(arm.subject), in this program",
      bare: [CellKey(Benchmark.nothing.scenario, arm)], repeated: { Self.planned(Program.benchmarks) },
      delay: { [Benchmark.delayVariable: "\($0)"] })
  }

  func trial(_ request: MeasureRequest) throws -> Trial? {
    // Every subject has the benchmark that does nothing.
    try (Program.benchmarks + [Benchmark.nothing.subject(request.subject)]).first {
      $0.name == request.name && "\($0.parameters)" == request.parameters
        && $0.arm(in: Program.name).subject == request.subject
    }?.trial()
  }

  /// Each scenario once, with its benchmarks, in the order of the program.
  static var scenarios: [(scenario: Scenario, benchmarks: [Benchmark])] { grouped(Program.benchmarks) }

  /// Benchmarks as a plan has them.
  static func planned(_ benchmarks: [Benchmark]) -> [PlannedScenario] {
    grouped(benchmarks).map { scenario, benchmarks in
      let counts = benchmarks.allSatisfy(\.countsAllocations)
      let own = benchmarks.flatMap(\.ownMetrics).reduce(into: [Metric]()) { if !$0.contains($1) { $0.append($1) } }
      return PlannedScenario(
        scenario: scenario, arms: benchmarks.map { $0.arm(in: Program.name) }, incapable: [],
        repeats: .calibrated(seconds: benchmarks.map(\.expectedSeconds).max() ?? 0),
        headlines: Metric.cost + own + (counts ? Metric.allocation : []), countsAllocations: counts, notes: [])
    }
  }

  static func grouped(_ benchmarks: [Benchmark]) -> [(scenario: Scenario, benchmarks: [Benchmark])] {
    var places: [Scenario: Int] = [:]
    var groups: [(scenario: Scenario, benchmarks: [Benchmark])] = []
    for benchmark in benchmarks {
      if let place = places[benchmark.scenario] {
        groups[place].benchmarks.append(benchmark)
      } else {
        places[benchmark.scenario] = groups.count
        groups.append((benchmark.scenario, [benchmark]))
      }
    }
    return groups
  }
}
