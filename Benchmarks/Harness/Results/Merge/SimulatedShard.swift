import FoundationEssentials
import HarnessPlanning
import HarnessWords

/// A graph with a number of workers: what shards of a simulation share out.
struct SimulatedCell: Hashable, Sendable, CustomStringConvertible {
  let graph: String
  let workers: Int

  var description: String { "\(graph) with \(Count.of(workers, "worker"))" }
}

/// The files of one shard of a simulation as `merge` reads them.
package struct SimulatedShard: Sendable {
  package let path: String
  package let shard: Shard
  /// `X.env.json` as it is.
  let environment: JSONValue
  let header: [String]
  let rows: [SimulatedCell: [[String]]]

  /// What shards are shuffled for.
  package static let purpose = "simulation"

  /// Whether the file has simulated rows: its first column says so.
  package static func isSimulated(_ path: String) -> Bool {
    FileManager.default.contents(atPath: path)?.starts(with: "kind,".utf8) == true
  }

  /// Throws one line when the files are not those of a shard, or are not whole.
  package init(path: String) throws {
    let beside = RunRecord.path(csv: path)
    var reader = CSVReader(try ResultSet.bytes(path), source: path)
    let header = try reader.next()?.fields ?? []
    let places = ["graph", "sizes", "workers"].compactMap { header.firstIndex(of: $0) }
    guard header.first == "kind", places.count == 3 else {
      throw Complaint(.badInput, "\(path) has no simulated rows, and other shards have: merge takes shards of one kind")
    }
    guard let data = FileManager.default.contents(atPath: beside) else {
      throw Complaint(.noInput, "\(path) has no \(beside) beside it, which says what shard it is")
    }
    guard let environment = try? JSONDecoder().decode(JSONValue.self, from: data),
      environment["kind"]?.text == "simulated"
    else { throw Complaint(.badInput, "\(beside) does not describe a simulation") }
    guard environment["schema"]?.double == 1 else {
      throw Complaint(.badInput, "\(beside) has another schema than 1, the one that this opbench reads")
    }
    let shard = try Self.shard(environment, path: path)
    var rows: [SimulatedCell: [[String]]] = [:]
    var found = 0
    while let record = try reader.next() {
      guard record.fields.count == header.count, let workers = Int(record.fields[places[2]]) else {
        throw Complaint(.badInput, "\(path):\(record.line): this is no row of a simulation")
      }
      let (name, sizes) = (record.fields[places[0]], record.fields[places[1]])
      let cell = SimulatedCell(graph: sizes.isEmpty ? name : "\(name)(\(sizes))", workers: workers)
      rows[cell, default: []].append(record.fields)
      found += 1
    }
    guard let said = environment["rows"]?.whole, said == found else {
      throw Complaint(
        .badInput,
        "\(path) has \(Count.of(found, "row")), and \(beside) has another number: the file was cut off or changed")
    }
    (self.path, self.shard, self.environment, self.header, self.rows) = (path, shard, environment, header, rows)
    let own = Set(try cells(of: shard))
    if let strange = rows.keys.first(where: { !own.contains($0) }) {
      throw Complaint(.badInput, "\(path) has rows of \(strange), which is not in shard \(shard) of its plan")
    }
    if let lost = own.first(where: { rows[$0] == nil }) {
      throw Complaint(.badInput, "\(path) has no rows of \(lost), which is in shard \(shard) of its plan")
    }
  }

  /// The shard whose facts these are, of a file with that name.
  static func shard(_ environment: JSONValue, path: String) throws -> Shard {
    guard let number = environment["shard"]?["number"]?.whole, let count = environment["shard"]?["count"]?.whole,
      let shard = Shard(number: number, of: count)
    else { throw Complaint(.badInput, "\(path) is no shard: only what simulate --shard K/N wrote can be merged") }
    return shard
  }

  /// All cells of the plan, in its order.
  static func cells(_ environment: JSONValue, path: String) throws -> [SimulatedCell] {
    guard case .array(let graphs)? = environment["graphs"], case .array(let workers)? = environment["workers"],
      !graphs.isEmpty, !workers.isEmpty
    else { throw Complaint(.badInput, "\(RunRecord.path(csv: path)) names no graphs or no worker counts") }
    return graphs.flatMap { graph in
      workers.map { SimulatedCell(graph: graph.text ?? "", workers: $0.whole ?? 0) }
    }
  }

  /// Throws one line when the shard is not of a campaign with these facts, whose file has the name `other`.
  func check(_ common: JSONValue, path other: String, besides own: Set<String>) throws(Complaint) {
    func refuse(_ what: String) -> Complaint { Complaint(.badInput, "\(path) does not belong to \(other): \(what)") }
    if let count = common["shard"]?["count"]?.whole, count != shard.count {
      throw refuse("it is shard \(shard), the other is shard \(common["shard"]?["number"]?.whole ?? 0)/\(count)")
    }
    let keys = Set(environment.fields.keys).union(common.fields.keys).subtracting(own)
    if let key = keys.sorted().first(where: { environment[$0] != common[$0] }) {
      throw refuse("it has another '\(key)' in its .env.json")
    }
  }

  private func cells(of shard: Shard) throws -> [SimulatedCell] {
    guard case .array(let seeds)? = environment["seeds"], let seed = seeds.first?.unsigned else {
      throw Complaint(.badInput, "\(RunRecord.path(csv: path)) names no seeds")
    }
    let all = try Self.cells(environment, path: path)
    return shard.share(of: all.count, seed: seed, purpose: Self.purpose).map { all[$0] }
  }
}

extension JSONValue {
  fileprivate var whole: Int? { if case .integer(let value) = self { Int(value) } else { nil } }

  fileprivate var unsigned: UInt64? {
    switch self {
    case .integer(let value): UInt64(exactly: value)
    case .large(let value): value
    default: nil
    }
  }

  var strings: [String] { if case .array(let values) = self { values.compactMap(\.text) } else { [] } }
}
