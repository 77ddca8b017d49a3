import FoundationEssentials
import HarnessMeasuring
import HarnessWords

/// The forms in which earlier versions of the laboratory wrote the facts of `X.env.json`. Only the decoders of the record
/// read these forms, so the rest of the program knows one form.
///
/// * Schemas 1 and 2 named a cell by a sentence, such as `overhead/add on stealing@2 (ops=10)`.
/// * They had the range of a number, and the rows that a strategy gives up, in the summary of the strategy.
/// * They had the facts of the machine beside those of the run. Schema 1 did not say the name of the machine.
/// * A simulation had a document of its own, with lists of graphs, strategies, worker counts and seeds.
enum EarlierForm {
  /// Cells, each as its fields or as a sentence.
  static func cells<Key>(_ fields: KeyedDecodingContainer<Key>, _ key: Key) throws -> [CellKey] {
    if let cells = try? fields.decode([CellKey].self, forKey: key) { return cells }
    return try fields.decode([String].self, forKey: key).map { sentence in
      guard let cell = cell(sentence) else { throw mistake(fields, key, "'\(sentence)' names no cell") }
      return cell
    }
  }

  /// Repeats, as a list or by the sentence of the cell.
  static func repeats<Key>(_ fields: KeyedDecodingContainer<Key>, _ key: Key) throws -> [RunOutcome.Repeats] {
    if let repeats = try? fields.decode([RunOutcome.Repeats].self, forKey: key) { return repeats }
    return try fields.decode([String: Int].self, forKey: key).sorted { $0.key < $1.key }.map { sentence, count in
      guard let cell = cell(sentence) else { throw mistake(fields, key, "'\(sentence)' names no cell") }
      return RunOutcome.Repeats(cell: cell, count: count)
    }
  }

  /// Where the time went, as a list or by words such as `calibrate overhead/add`. The first records did not say it.
  static func spent<Key>(_ fields: KeyedDecodingContainer<Key>, _ key: Key) throws -> [RunOutcome.Spent] {
    guard fields.contains(key) else { return [] }
    if let spent = try? fields.decode([RunOutcome.Spent].self, forKey: key) { return spent }
    return try fields.decode([String: SpentFigures].self, forKey: key).sorted { $0.key < $1.key }.map {
      words, figures in
      let parts = words.split(separator: " ", maxSplits: 1).map(String.init)
      return RunOutcome.Spent(
        step: parts.first ?? "", benchmark: parts.last ?? "", processes: figures.processes, seconds: figures.seconds,
        cpuSeconds: figures.cpuSeconds, estimatedSeconds: figures.estimatedSeconds)
    }
  }

  private struct SpentFigures: Decodable {
    let processes: Int
    let seconds: Double
    let cpuSeconds: Double
    let estimatedSeconds: Double
  }

  private static func mistake<Key>(
    _ fields: KeyedDecodingContainer<Key>, _ key: Key, _ words: String
  ) -> DecodingError {
    DecodingError.dataCorruptedError(forKey: key, in: fields, debugDescription: words)
  }

  /// The cell of a sentence. The name of a subject has no space.
  static func cell(_ sentence: String) -> CellKey? {
    guard let on = sentence.firstRange(of: " on "), let name = BenchmarkName(String(sentence[..<on.lowerBound])) else {
      return nil
    }
    let rest = sentence[on.upperBound...]
    let opening = rest.firstRange(of: " (")
    let arm = rest[..<(opening?.lowerBound ?? rest.endIndex)]
    guard let at = arm.lastIndex(of: "@"), let workers = Int(arm[arm.index(after: at)...]),
      let parameters = Parameters(opening.map { String(rest[$0.upperBound...].dropLast()) } ?? "")
    else { return nil }
    return CellKey(Scenario(name, parameters), Arm(subject: String(arm[..<at]), workers: workers))
  }

  /// The subject without the rows in its summary.
  static func subject(_ facts: SubjectFacts) -> SubjectFacts {
    let (summary, rows) = givenUp(facts.summary)
    return SubjectFacts(facts.name, role: facts.role, summary: summary, givesUp: rows)
  }

  /// The decision without the rows and the ranges in the summaries of its choices.
  static func decision(_ facts: StrategyFacts) -> StrategyFacts {
    let choices = facts.choices.map { choice in
      var (summary, rows) = givenUp(choice.summary)
      var range: ClosedRange<Int>?
      if let match = summary.firstMatch(of: /\ \(N from (\d+) to (\d+)\)$/), let low = Int(match.1),
        let high = Int(match.2), low <= high
      {
        range = low...high
        summary = String(summary[..<match.range.lowerBound])
      }
      return StrategyFacts.Choice(text: choice.text, summary: summary, range: range, givesUp: rows)
    }
    return StrategyFacts(name: facts.name, summary: facts.summary, usual: facts.usual, choices: choices)
  }

  /// A summary without its end such as `; gives up row 20 of the contract`, and the rows in that end.
  private static func givenUp(_ summary: String) -> (summary: String, rows: [Int]) {
    guard let match = summary.firstMatch(of: /; gives up rows? ([0-9, and]+) of the contract$/) else {
      return (summary, [])
    }
    let rows = match.1.split { !$0.isNumber }.compactMap { Int($0) }
    return (String(summary[..<match.range.lowerBound]), rows)
  }

  /// The machine of a run whose record has the facts of the machine beside those of the run; empty when some are lacking.
  static func machines(_ decoder: any Decoder) throws -> [MachineSitting] {
    struct Facts: Decodable {
      let host: String?
      let cpuModel: String?
      let cpusOnline: Int?
      let cpusAllowed: Int?
      let cpuQuota: Double?
      let kernel: String?
      let governor: String?
      let spin: Spin?
      let startedAt: String?
    }
    let facts = try Facts(from: decoder)
    guard let spin = facts.spin, let online = facts.cpusOnline, let allowed = facts.cpusAllowed,
      let kernel = facts.kernel, let governor = facts.governor
    else { return [] }
    return [
      MachineSitting(
        host: facts.host ?? "", cpuModel: facts.cpuModel, cpusOnline: online, cpusAllowed: allowed,
        cpuQuota: facts.cpuQuota, kernel: kernel, governor: governor, spin: spin, startedAt: facts.startedAt ?? "",
        endedAt: "")
    ]
  }

  /// The record of a simulation; nil when the document is not that of a simulation.
  static func simulation(_ decoder: any Decoder) throws -> RunRecord? {
    struct Kind: Decodable { let kind: String? }
    struct Facts: Decodable {
      let commit: String?
      let dirty: Bool?
      let arguments: [String]
      let graphs: [String]
      let backends: [String]
      let workers: [Int]
      let seeds: [UInt64]
      let works: [Double]?
      let rows: Int?
      let workersPerGroup: Int?
      let workersPerSocket: Int?
      let countsAdding: Bool
      let model: CostModel
    }
    guard try Kind(from: decoder).kind == "simulated" else { return nil }
    let facts = try Facts(from: decoder)
    let cells = facts.graphs.flatMap { graph in
      let (name, sizes) = (graph.prefix { $0 != "(" }, graph.drop { $0 != "(" }.dropFirst().dropLast())
      let scenario = Scenario(SimulationConditions.benchmark(String(name)), Parameters(String(sizes)) ?? [:])
      return facts.workers.flatMap { workers in
        facts.backends.map { CellKey(scenario, Arm(subject: $0, workers: workers)) }
      }
    }
    var record = RunRecord(
      runID: "", seed: facts.seeds.first ?? 0, effort: SimulationConditions.effort(seeds: facts.seeds.count),
      cells: cells)
    (record.commit, record.dirty, record.arguments) = (facts.commit, facts.dirty, facts.arguments)
    record.outcome.rowCount = facts.rows
    record.simulation = SimulationConditions(
      model: facts.model, works: facts.works, workersPerGroup: facts.workersPerGroup,
      workersPerSocket: facts.workersPerSocket, countsAdding: facts.countsAdding)
    return record
  }
}
