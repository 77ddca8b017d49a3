import ArgumentParser
import Glibc
import Harness
import Subjects
import Workloads

/// `opbench list`: what there is to measure.
struct List: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "List backends, benchmarks, parameters, metrics and units.")

  func run() throws {
    var lines = ["backends"]
    for subject in SubjectRegistry.all {
      let role = SubjectRegistry.references.contains(subject.name) ? "reference, " : ""
      let width = subject.workersAreAdjustable ? "--workers" : "width set by the system"
      lines.append("  \(subject.name)  (\(role)\(Self.words(subject.capability)); \(width))")
    }
    lines += ["", "benchmarks"]
    for workload in try Catalogue(graphs: [], seed: 1).workloads {
      lines.append("  \(workload.name)  \(workload.summary)")
      for parameters in workload.parameterSets() where !parameters.isEmpty {
        lines.append("      \(parameters)")
      }
      for parameters in workload.extendedParameterSets() {
        lines.append("      \(parameters)  (with --benchmark)")
      }
      lines.append("      metrics: " + workload.metrics.map { "\($0.name) (\($0.unit))" }.joined(separator: ", "))
      if workload.requirement > .closures { lines.append("      needs \(Self.words(workload.requirement))") }
    }
    let process = Metric.process.map { "\($0.name) (\($0.unit))" }.joined(separator: ", ")
    lines += ["", "every benchmark, once per process, where the machine allows: " + process]
    try ResultFiles.write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO, name: "standard output")
  }

  private static func words(_ capability: Capability) -> String {
    switch capability {
    case .closures: "closures"
    case .cancellation: "closures that can be cancelled"
    case .operations: "operations with dependencies and priorities"
    }
  }
}
