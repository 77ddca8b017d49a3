import HarnessGate
import HarnessMeasuring
import HarnessWords

/// The user's own benchmarks as a suite of the laboratory. The suite has one subject, the program itself.
struct ProgramSuite<Program: BenchmarkProgram>: Suite, SuiteProgram {
  static var suite: any Suite { ProgramSuite() }

  var name: String { Program.name }
  var reference: String { Program.name }
  var subjects: [SubjectFacts] { [SubjectFacts(Program.name, role: .ours, summary: "this program")] }
  var benchmarkNames: [BenchmarkName] {
    Program.benchmarks.map(\.name).reduce(into: []) { names, name in if !names.contains(name) { names.append(name) } }
  }
  var metricFacts: [Metric: MetricFacts] {
    Program.benchmarks.reduce(into: [:]) { $0.merge($1.metricFacts) { first, _ in first } }
  }
  var gated: [GatedCell] { Program.benchmarks.map { $0.gated(subject: Program.name) } }
  // The commit is that of the checkout in which the user gives the command.
  var source: String { "./source" }

  var experiment: Experiment {
    let arm = Arm(subject: Program.name, workers: 1)
    return Experiment(
      scenarios: Program.benchmarks.map(\.scenario), control: arm, controlSummary: "this program",
      bare: [CellKey(Benchmark.nothing.scenario, arm)],
      delay: { [Benchmark.delayVariable: "\($0)"] })
  }

  func trial(_ request: MeasureRequest) throws -> Trial? {
    guard request.subject == Program.name else { return nil }
    return try (Program.benchmarks + [Benchmark.nothing]).first {
      $0.name == request.name && "\($0.parameters)" == request.parameters
    }?.trial()
  }
}
