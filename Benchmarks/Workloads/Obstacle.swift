import HarnessWords
import Subjects

extension Workload {
  /// The reason why a subject has an empty cell; nil when the subject can run the benchmark.
  package func obstacle(_ subject: SubjectInfo, _ parameters: Parameters = [:]) -> String? {
    var needs = needs(parameters)
    if let benchmarks = subject.benchmarks {
      guard benchmarks.contains("\(name)") else {
        return subject.reasons["\(name)"] ?? "its program has no such benchmark"
      }
      // The program of the subject has a form of its own for the needs of the benchmark, but not for the additional
      // needs of single parameters.
      needs.subtract(self.needs)
    }
    if let missing = needs.subtracting(subject.abilities).words { return "it has no \(missing)" }
    if subject.mayStarve, needsTurns(parameters) {
      return "its strategy may leave an operation waiting for ever while others add others"
    }
    let other = subject.onlyParameters.sorted { $0.key < $1.key }.first { key, value in
      parameters[key].map { !value.contains($0) } ?? false
    }
    return other.map { "its program has only \($0.key)=\($0.value.joined(separator: " and "))" }
  }
}
