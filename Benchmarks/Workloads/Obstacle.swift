import Harness
import Subjects

extension Workload {
  /// Why a subject has an empty cell here; nil when it can run.
  package func obstacle(_ subject: SubjectInfo, _ parameters: Parameters = [:]) -> String? {
    let requirement = requirement(parameters)
    if let benchmarks = subject.benchmarks, !benchmarks.contains("\(name)") {
      return "its program has no such benchmark"
    }
    if subject.capability < requirement { return "it has no \(requirement.words)" }
    if needsThreads, !subject.hasThreads { return "it has no threads of its own" }
    if needsBarriers, !subject.hasBarriers { return "it has no barriers" }
    return nil
  }
}

extension Capability {
  package var words: String {
    switch self {
    case .closures: "closures"
    case .cancellation: "closures that can be cancelled"
    case .operations: "operations with dependencies and priorities"
    }
  }
}
