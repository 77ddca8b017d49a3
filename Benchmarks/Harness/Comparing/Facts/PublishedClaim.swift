import FoundationEssentials
import HarnessResults
import HarnessStatistics
import HarnessWords

/// What others published of a decision, as far as our numbers can be held beside it: an entry of a list in JSON.
package struct PublishedClaim: Decodable, Sendable {
  package enum Expected: String, Decodable, Sendable { case better, worse }

  /// A pair in JSON: a benchmark, and parameters that its scenario must have among its own.
  package struct Work: Decodable, Sendable {
    let benchmark: String
    let params: String

    package init(from decoder: any Decoder) throws {
      var pair = try decoder.unkeyedContainer()
      (benchmark, params) = (try pair.decode(String.self), try pair.decode(String.self))
    }
  }

  /// A pattern of our changes of the same kind; empty where no single change of ours is one.
  let changes: String
  let expects: Expected
  /// Work of the same kind, the nearest first: the first that was measured counts.
  let work: [Work]
  /// The metric; empty for the time that stands for the benchmark.
  let metric: String
  /// The metric in words; nil for a time.
  let what: String?

  package static func read(path: String) throws -> [PublishedClaim] {
    try JSONFile.content(
      try ResultSet.bytes(path), path, as: [PublishedClaim].self,
      what: "a list of published numbers, each with changes, expects, work and metric")
  }

  func series(_ work: Work, _ change: Int, _ base: Int, _ results: MeasuredResults) -> [RatioSeries] {
    let metric = metric.isEmpty ? results.table.primary[work.benchmark] : metric
    let lines = results.lines.indices.filter {
      let line = results.lines[$0]
      return line.benchmark == work.benchmark && line.metric.name == metric
        && line.scenario.parameters.contains(work.params)
    }
    return results.series(lines, change, base)
  }
}
