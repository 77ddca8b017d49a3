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
    let width = SubjectRegistry.all.map(\.name.count).max() ?? 0
    for subject in SubjectRegistry.all {
      let name = subject.name + String(repeating: " ", count: width - subject.name.count)
      lines.append("  \(name)  \(subject.role.words): \(subject.summary) (\(Self.abilities(subject)))")
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
      lines += Self.empty(workload)
    }
    let process = Metric.process.map { "\($0.name) (\($0.unit))" }.joined(separator: ", ")
    let counting = Metric.counting.map { "\($0.name) (\($0.unit))" }.joined(separator: ", ")
    lines += ["", "every benchmark, once per process, where the machine allows: " + process]
    lines += ["every benchmark whose allocations are counted, once: " + counting]
    try ResultFiles.write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO, name: "standard output")
  }

  private static func abilities(_ subject: SubjectInfo) -> String {
    let width = subject.workersAreAdjustable ? "--workers" : "width not to be set"
    guard subject.role == .peer else { return "\(subject.capability.words); \(width)" }
    let version = PeerPrograms.found().version(subject.name) ?? PeerPrograms.advice(subject.name)
    return "\(width); allocations not counted, they are not made through malloc alone; \(version)"
  }

  /// Which subjects have empty cells, and why.
  private static func empty(_ workload: any Workload) -> [String] {
    var reasons: [(reason: String, names: [String])] = []
    for subject in SubjectRegistry.all {
      guard let reason = workload.obstacle(subject) else { continue }
      if let index = reasons.firstIndex(where: { $0.reason == reason }) {
        reasons[index].names.append(subject.name)
      } else {
        reasons.append((reason, [subject.name]))
      }
    }
    return reasons.map { "      empty for \($0.names.joined(separator: ", ")): \($0.reason)" }
  }
}
