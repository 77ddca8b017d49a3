import Harness
import Subjects

extension Workload {
  /// Why a subject has an empty cell here; nil when it can run.
  package func obstacle(_ subject: SubjectInfo, _ parameters: Parameters = [:]) -> String? {
    if let benchmarks = subject.benchmarks, !benchmarks.contains("\(name)") {
      return "its program has no such benchmark"
    }
    return needs(parameters).subtracting(subject.abilities).words.map { "it has no \($0)" }
  }
}
