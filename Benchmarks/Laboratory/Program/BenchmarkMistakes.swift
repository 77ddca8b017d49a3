import HarnessMeasuring
import HarnessWords

/// What can be wrong with the benchmarks of a program, each as the words of one line.
enum BenchmarkMistakes {
  /// The first mistake in the description of one benchmark; nil when there is none.
  static func first(
    name: String, parameters: [String: String], operations: Int, throughput: Benchmark.Throughput?, metrics: [Metric]
  ) -> String? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty && !$0.contains(where: isSeparator) }) else {
      return "a benchmark's name has the form family/benchmark, without spaces; '\(name)' does not"
    }
    guard operations > 0 else { return "'\(name)' must do at least one operation, not \(operations)" }
    for (key, value) in parameters.sorted(by: { $0.key < $1.key }) {
      guard !key.isEmpty, key.allSatisfy({ isWord($0) || $0 == "-" }) else {
        return "the name of a parameter of '\(name)' has letters, digits, _ and -; '\(key)' does not"
      }
      guard !value.isEmpty, !value.contains(where: { isSeparator($0) || $0 == ";" || $0 == "=" }) else {
        return "the parameter '\(key)' of '\(name)' needs a value without spaces, ; and =; '\(value)' is none"
      }
    }
    if let number = throughput?.perOperation, !(number.isFinite && number > 0) {
      return "the throughput of '\(name)' needs a number above 0 per operation, not \(number)"
    }
    return firstOfMetrics(metrics, of: name)
  }

  private static func firstOfMetrics(_ metrics: [Metric], of name: String) -> String? {
    var seen: Set<String> = []
    for metric in metrics {
      let own = metric.name
      guard own.first?.isLetter == true, own.allSatisfy({ isWord($0) && !$0.isUppercase }) else {
        return "the name of a metric of '\(name)' has small letters, digits and _, a letter first; '\(own)' does not"
      }
      guard !Metric.isBuiltIn(own) else {
        return "the metric '\(own)' of '\(name)' has the name of a metric of the laboratory's; choose another"
      }
      guard !metric.unit.isEmpty, !metric.unit.contains(where: isSeparator) else {
        return "the metric '\(own)' of '\(name)' needs a unit without spaces; '\(metric.unit)' is none"
      }
      guard seen.insert(own).inserted else { return "'\(name)' has two metrics '\(own)'" }
    }
    return nil
  }

  /// The first mistake of a program: that of a benchmark, or of several that do not go together.
  static func first(in benchmarks: [Benchmark], of program: String, reference: String) -> String? {
    if let mistake = benchmarks.lazy.compactMap(\.mistake).first { return mistake }
    if let subject = benchmarks.lazy.compactMap(\.subject).first(where: { !isSubject($0) }) {
      return "the name of a subject has letters, digits, _, - and .; '\(subject)' does not"
    }
    let subjects = Benchmark.subjects(of: benchmarks, in: program)
    guard subjects.contains(reference) else {
      return "no benchmark measures the reference '\(reference)'; the subjects are \(subjects.joined(separator: ", "))"
    }
    var cells: Set<CellKey> = []
    var metrics: [String: (name: BenchmarkName, metric: Metric, facts: MetricFacts?)] = [:]
    for benchmark in benchmarks {
      let scenario = benchmark.scenario
      guard benchmark.name != Benchmark.nothing.name else {
        return "'\(scenario.name)' is the name of the laboratory's own benchmark; choose another"
      }
      guard cells.insert(CellKey(scenario, benchmark.arm(in: program))).inserted else {
        return "two benchmarks are '\(scenario)'; give one another name, other parameters, or another subject"
      }
      for metric in benchmark.ownMetrics {
        let facts = benchmark.metricFacts[metric]
        guard let other = metrics[metric.name] else {
          metrics[metric.name] = (benchmark.name, metric, facts)
          continue
        }
        guard (other.metric, other.facts) == (metric, facts) else {
          return "'\(other.name)' and '\(benchmark.name)' have a metric '\(metric.name)' of different units or sides"
        }
      }
    }
    return nil
  }

  private static func isSubject(_ name: String) -> Bool {
    !name.isEmpty && name.allSatisfy { isWord($0) || $0 == "-" || $0 == "." }
  }

  /// Letters, digits and `_` of ASCII.
  private static func isWord(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "_")
  }

  /// What would end a field or a line of a result, or what a terminal would obey.
  private static func isSeparator(_ character: Character) -> Bool {
    character.isWhitespace || character.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
