import Harness
import Subjects

extension Workload {
  /// Why a subject has an empty cell here; nil when it can run.
  package func obstacle(_ subject: SubjectInfo, _ parameters: Parameters = [:]) -> String? {
    var needs = needs(parameters)
    if let benchmarks = subject.benchmarks {
      guard benchmarks.contains("\(name)") else { return "its program has no such benchmark" }
      // Its program has a form of its own for what the benchmark needs, but not for what single parameters need besides.
      needs.subtract(self.needs)
    }
    return needs.subtracting(subject.abilities).words.map { "it has no \($0)" }
  }
}
