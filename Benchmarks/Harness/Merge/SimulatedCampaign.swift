import Glibc

/// Shards of one simulation: of one plan, one model and one commit, and no cell twice among them.
package struct SimulatedCampaign: Sendable {
  /// In the order of their numbers.
  package let files: [SimulatedShard]
  private let cells: [SimulatedCell]

  /// What differs between the shards of a simulation.
  private static let own: Set<String> = ["shard", "rows", "arguments"]

  /// Throws one line that names what does not belong together.
  package init(_ found: [SimulatedShard]) throws {
    files = found.sorted { ($0.shard.number, $0.path) < ($1.shard.number, $1.path) }
    let first = files[0]
    cells = try first.cells()
    var owners: [SimulatedCell: String] = [:]
    for file in files {
      func refuse(_ what: String) -> Complaint {
        Complaint(.badInput, "\(file.path) does not belong to \(first.path): \(what); nothing was merged")
      }
      guard file.shard.count == first.shard.count else {
        throw refuse("it is shard \(file.shard), the other is shard \(first.shard)")
      }
      let keys = Set(file.environment.fields.keys).union(first.environment.fields.keys).subtracting(Self.own)
      if let key = keys.sorted().first(where: { file.environment[$0] != first.environment[$0] }) {
        throw refuse("it has another '\(key)' in its .env.json")
      }
      guard file.header == first.header else { throw refuse("it has other columns") }
      for cell in cells where file.rows[cell] != nil {
        guard let other = owners.updateValue(file.path, forKey: cell) else { continue }
        throw Complaint(.badInput, "\(other) and \(file.path) both have \(cell): give one of them; nothing was merged")
      }
    }
  }

  /// The shards without a file.
  package var missing: [Shard] {
    let there = Set(files.map(\.shard))
    return files[0].shard.all.filter { !there.contains($0) }
  }

  /// How many cells the plan has, and how many of them have no rows.
  package var cellCount: Int { cells.count }
  package var missingCellCount: Int { cells.count { cell in !files.contains { $0.rows[cell] != nil } } }

  /// The command that simulates a missing shard alone.
  /// - Parameter folder: where the file of the shard goes.
  package func command(_ shard: Shard, folder: String) -> String {
    let arguments = files[0].environment["arguments"]?.strings ?? []
    return MissingShard.command(
      arguments, shard, output: (folder.isEmpty ? "" : folder + "/") + MissingShard.name(shard))
  }

  /// The rows of all shards in the order of the plan: what the simulation writes without shards.
  package var text: String {
    var text = CSV.line(files[0].header)
    for cell in cells {
      for file in files { for row in file.rows[cell] ?? [] { text += CSV.line(row) } }
    }
    return text
  }

  /// Writes the merged rows, and their environment beside them.
  package func write(_ csv: String, mayReplace: Bool) throws {
    guard csv.hasSuffix(".csv"), !csv.hasSuffix("/.csv"), csv != ".csv" else {
      throw Complaint(.usage, "--output takes the name of a file that ends in .csv, not '\(csv)'")
    }
    guard mayReplace || access(csv, F_OK) != 0 else {
      throw Complaint(.cannotCreate, "\(csv) holds a finished result: --overwrite replaces it")
    }
    var document = files[0].environment
    document["shard"] = nil
    document["arguments"] = .array(MissingShard.without(document["arguments"]?.strings ?? []).map(JSONValue.string))
    document["rows"] = .integer(Int64(files.reduce(0) { $0 + $1.rows.values.reduce(0) { $0 + $1.count } }))
    let beside = RunRecord.path(csv: csv)
    for name in [csv, beside] { try ResultFiles.checkWritable(name) }
    try ResultFiles.replace(beside, with: try document.document(), syncs: true)
    try ResultFiles.replace(csv, with: text, syncs: true)
  }
}
