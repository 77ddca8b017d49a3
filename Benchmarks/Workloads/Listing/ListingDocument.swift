import FoundationEssentials
import HarnessMeasuring
import HarnessWords
import Subjects

/// What `opbench list --json` prints.
package struct ListingDocument: Codable, Sendable {
  package struct Subject: Codable, Sendable {
    package let name: String
    package let role: SubjectRole
    package let summary: String
    package let abilities: [String]
    package let workersAreAdjustable: Bool
    /// The benchmarks that the program of a peer implements; nil for other subjects.
    package let benchmarks: [String]?
    package let program: String?
  }

  package struct Benchmark: Codable, Sendable {
    package let name: String
    package let family: String
    package let summary: String
    package let parameterSets: [ParameterSet]
    package let metrics: [NamedMetric]
    /// The metrics that the table shows.
    package let headlines: [String]
    package let countsAllocations: Bool
  }

  package struct ParameterSet: Codable, Sendable {
    /// The parameters as in the CSV and for `--benchmark`.
    package let params: String
    package let parameters: [String: String]
    /// The abilities that a subject must have.
    package let needs: [String]
    /// Whether these parameters run with `--variants` alone.
    package let isVariant: Bool
    /// The reason for each empty cell, by the name of the subject.
    package let empty: [String: String]
  }

  package struct NamedMetric: Codable, Sendable {
    package let name: String
    package let unit: String
    package let words: String
    /// The better side; nil for a metric that is neither good nor bad.
    package let better: MetricFacts.Side?

    init(_ metric: Metric) {
      (name, unit) = (metric.name, metric.unit)
      (words, better) = (metric.facts.words, metric.facts.better)
    }
  }

  package let schema: Int
  package let subjects: [Subject]
  package let benchmarks: [Benchmark]
  package let metricsOfEveryProcess: [NamedMetric]
  package let metricsOfEveryCounting: [NamedMetric]

  package init(_ listing: Listing) {
    schema = 1
    subjects = listing.subjects.map { subject in
      Subject(
        name: subject.name, role: subject.role, summary: subject.summary,
        abilities: subject.abilities.names, workersAreAdjustable: subject.workersAreAdjustable,
        benchmarks: subject.benchmarks?.sorted(), program: listing.program(subject))
    }
    benchmarks = listing.benchmarks.map { choice in
      let workload = choice.workload
      func set(_ parameters: Parameters, isVariant: Bool) -> ParameterSet {
        let empty = Listing.empty(workload, parameters).flatMap { reason, names in names.map { ($0, reason) } }
        return ParameterSet(
          params: "\(parameters)",
          parameters: Dictionary(uniqueKeysWithValues: parameters.pairs.map { ($0.key, $0.value) }),
          needs: workload.needs(parameters).names, isVariant: isVariant, empty: Dictionary(uniqueKeysWithValues: empty))
      }
      return Benchmark(
        name: "\(workload.name)", family: workload.name.family, summary: workload.summary,
        parameterSets: choice.parameterSets.map { set($0, isVariant: false) }
          + choice.variants.map { set($0, isVariant: true) },
        metrics: workload.metrics.map(NamedMetric.init), headlines: workload.headlines.map(\.name),
        countsAllocations: workload.countsAllocations)
    }
    metricsOfEveryProcess = Metric.process.map(NamedMetric.init)
    metricsOfEveryCounting = Metric.counting.map(NamedMetric.init)
  }

  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }
}
