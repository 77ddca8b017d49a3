import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// A limit for a number of a result, or for the ratio of two: an entry of a list in JSON.
package struct Limit: Decodable, Sendable {
  /// What a ratio is over: what is absent is as in the cell of the limit.
  struct Base: Decodable {
    let benchmark: String?
    let params: String?
    let metric: String?
    let subject: String?
  }

  /// The number is a slope: what a step more costs between a small scenario and that of the limit. The metric over that
  /// of `each` is the number of steps.
  struct Slope: Decodable {
    /// The parameters of the small scenario.
    let from: String
    let each: String
  }

  /// A number of a result.
  struct Cell: Hashable {
    let benchmark: String
    let params: String
    let metric: String
    let subject: String
    /// Nil: the most workers with which the number was measured.
    let workers: Int?

    /// Another number of the same measurement.
    func with(metric: String) -> Cell {
      Cell(benchmark: benchmark, params: params, metric: metric, subject: subject, workers: workers)
    }
  }

  let label: String
  let benchmark: String
  /// The parameters of the scenario.
  let params: String
  /// The parameters that tell the numbers of one measurement apart, such as a level.
  let detail: String?
  let metric: String
  let subject: String
  /// The number of workers of the subject; nil: the most with which the number was measured. What a ratio is over has
  /// always the most.
  let workers: Int?
  let over: Base?
  let slope: Slope?
  /// The number that the limit allows at most.
  let most: Double
  /// Whether the number is counted, not measured: one block decides.
  let isExact: Bool?
  /// Whether the limit is for one over the number: for a number that should be large. In a ratio both are inverted.
  let isInverse: Bool?
  /// The largest share of the time that threads of the subject may have waited for a CPU in a block that counts; nil:
  /// every block counts.
  let mostWaiting: Double?
  /// Whether another run than that of the other limits measures the number.
  let isElsewhere: Bool?

  package static func read(path: String) throws -> [Limit] { try read(try ResultSet.bytes(path), path: path) }

  package static func read(_ content: Data, path: String) throws -> [Limit] {
    let limits = try JSONFile.content(
      content, path, as: [Limit].self,
      what: "a list of limits, each with label, benchmark, params, metric, subject and most")
    guard !limits.isEmpty else { throw Complaint(.badInput, "\(path) has no limit") }
    if let wrong = limits.first(where: { $0.over != nil && $0.slope != nil }) {
      throw Complaint(.badInput, "\(path): '\(wrong.label)' is a ratio or a slope, and cannot be both")
    }
    return limits
  }

  /// What `run --benchmark` measures the numbers with: those of one run.
  package static func benchmarks(_ limits: [Limit]) -> String {
    let names = limits.filter { !($0.isElsewhere ?? false) }.flatMap { limit in
      [limit.scenario] + (limit.over.map { ["\($0.benchmark ?? limit.benchmark) \($0.params ?? limit.params)"] } ?? [])
    }
    return Set(names).sorted().map { "^\($0.replacing(".", with: "[.]"))$" }.joined(separator: "|")
  }

  private var scenario: String { "\(benchmark) \(params)" }

  var cell: Cell { cell(params, metric) }

  private func cell(_ params: String, _ metric: String) -> Cell {
    let all = Parameters([params, detail ?? ""].filter { !$0.isEmpty }.joined(separator: ";"))
    return Cell(
      benchmark: benchmark, params: all?.description ?? params, metric: metric, subject: subject, workers: workers)
  }

  /// The number with its interval; nil where the result does not have the cells. Both numbers of a ratio come from one
  /// block.
  func estimate(_ numbers: (Cell) -> [Int: Double]) -> Estimate? {
    let own = changed(cell, numbers).filter { isQuiet($0.key, numbers) }
    if let over {
      let params = cell(over.params ?? params, metric).params
      let base = Cell(
        benchmark: over.benchmark ?? benchmark, params: params, metric: over.metric ?? metric,
        subject: over.subject ?? subject, workers: nil)
      return Pairing.ratio(Pairing.logarithms(of: own, over: changed(base, numbers)).values)
    }
    let values = slope.map { Array(slopes($0, own, numbers).values) } ?? Array(own.values)
    return values.isEmpty ? nil : Statistics.estimate(values)
  }

  /// The numbers of a cell as the limit takes them.
  private func changed(_ cell: Cell, _ numbers: (Cell) -> [Int: Double]) -> [Int: Double] {
    let values = numbers(cell)
    return isInverse == true ? values.mapValues { 1 / $0 } : values
  }

  /// Whether threads of the subject had their CPUs in a block.
  private func isQuiet(_ block: Int, _ numbers: (Cell) -> [Int: Double]) -> Bool {
    guard let mostWaiting else { return true }
    let waited = numbers(cell.with(metric: Metric.runDelayNsPerOp.name))[block]
    let took = numbers(cell.with(metric: Metric.nsPerOp.name))[block]
    guard let waited, let took else { return false }
    return waited <= mostWaiting * took
  }

  /// The slope in each block.
  private func slopes(_ slope: Slope, _ many: [Int: Double], _ numbers: (Cell) -> [Int: Double]) -> [Int: Double] {
    let few = numbers(cell(slope.from, metric))
    func steps(_ params: String, _ numbers: [Int: Double], _ all: (Cell) -> [Int: Double]) -> [Int: Double] {
      Pairing.logarithms(of: numbers, over: all(cell(params, slope.each)))
    }
    let (fewSteps, manySteps) = (steps(slope.from, few, numbers), steps(params, many, numbers))
    return manySteps.reduce(into: [:]) { slopes, place in
      guard let less = fewSteps[place.key] else { return }
      let more = exp(place.value) - exp(less)
      if more > 0 { slopes[place.key] = (many[place.key]! - few[place.key]!) / more }
    }
  }
}
