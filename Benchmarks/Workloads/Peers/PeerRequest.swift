import HarnessMeasuring
import HarnessWords
import Subjects

/// A request in the form for a peer's program: `key=value` arguments, which need no library to read. Some benchmarks
/// also have a file, with what the other subjects run.
package struct PeerRequest {
  package let arguments: [String]
  package let file: PeerFile?
  /// What is measured, with its parameters, and what the benchmark reports.
  private let request: MeasureRequest
  private let parameters: Parameters
  private let metrics: Set<Metric>
  private let input: PeerInput

  /// Whether the program runs many problems for one value, of which opbench derives the readings.
  var isSweep: Bool { input.isSweep }
  /// See `PeerInput.search`.
  var search: (@Sendable ((PeerInput) throws -> [Reading]) throws -> [Reading])? { input.search }

  package init(_ request: MeasureRequest) throws {
    guard let parameters = Parameters(request.parameters),
      let workload = try Catalogue.workload(request.name, context: request.context, seed: request.seed)
    else { throw Complaint(.usage, "there is no \(request.name) with '\(request.parameters)'") }
    let input = try workload.peerInput(
      Setting(parameters: parameters, workers: request.workers, seed: request.seed, spin: request.spin))
    try self.init(request, parameters, input, Set(workload.metrics))
  }

  /// Makes one question of a search: this request with another input.
  func asking(_ input: PeerInput) throws -> PeerRequest { try PeerRequest(request, parameters, input, metrics) }

  private init(
    _ request: MeasureRequest, _ parameters: Parameters, _ input: PeerInput, _ metrics: Set<Metric>
  ) throws {
    var fields = [
      ("benchmark", "\(input.benchmark ?? request.name)"), ("workers", "\(request.workers)"),
      ("rounds_per_microsecond", "\(request.spin.roundsPerMicrosecond)"),
    ]
    switch request.mode {
    case .calibrate(let target, let limit, let leadIn):
      fields += [("mode", "calibrate"), ("target", "\(target)"), ("limit", "\(limit)"), ("lead_in", "\(leadIn)")]
    case .time(let repeats, let values, let leadIn, let budget, let more, _, let takesTurns):
      fields += [
        ("mode", "time"), ("repeats", "\(repeats)"), ("values", "\(values)"), ("lead_in", "\(leadIn)"),
        ("budget", "\(budget)"), ("more", "\(more)"),
      ]
      if takesTurns { fields.append(("turns", "1")) }
    case .trace: throw Complaint(.usage, "the operations of programs of other languages are not traced")
    case .count: throw Complaint(.usage, "allocations are not counted in the programs of other languages")
    }
    let strategy = try SubjectVariant(request.subject).strategy
    if !strategy.isEmpty { fields.append(("strategy", strategy)) }
    if let place = request.place { fields.append(("place", "\(place)")) }
    fields += parameters.pairs.map { ("param.\($0)", $1) }
    fields += input.fields.map { ($0.key, $0.value) }
    arguments = fields.map { "\($0)=\($1)" }
    file = input.file
    (self.request, self.parameters, self.input, self.metrics) = (request, parameters, input, metrics)
  }

  /// The lines that replace the program's lines, with the derived readings. Throws when the benchmark has no such
  /// metric.
  package func answer(_ lines: [String]) throws -> [String] {
    let answer = try derived(lines)
    for case .reading(_, let reading) in answer.lazy.compactMap(ResultLine.init) where !metrics.contains(reading.metric)
    {
      throw CheckFailed("the benchmark has no metric \(reading.metric.name) in \(reading.metric.unit)")
    }
    return answer
  }

  private func derived(_ lines: [String]) throws -> [String] {
    guard let derive = input.derive else { return lines }
    var byValue: [Int: [Reading]] = [:]
    var others: [String] = []
    for line in lines {
      if case .reading(let index, let reading) = ResultLine(line) {
        byValue[index, default: []].append(reading)
      } else {
        others.append(line)
      }
    }
    let derived = try byValue.sorted { $0.key < $1.key }.flatMap { index, readings in
      try derive(readings).map { ResultLine.reading(valueIndex: index, $0).text }
    }
    return derived + others
  }
}
