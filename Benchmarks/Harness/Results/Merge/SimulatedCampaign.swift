import FoundationEssentials
import Glibc
import HarnessPlanning
import HarnessWords

/// Shards of one simulation: of one plan, one model and one commit, and no cell twice among them.
package struct SimulatedCampaign: Sendable {
  /// In the order of their numbers.
  package let files: [SimulatedShard]
  private let cells: [SimulatedCell]
  private let cut: Shard
  private let arguments: [String]
  /// The numbers of the shards of which a file is there that does not belong to the plan.
  private let refused: Set<Int>

  /// What differs between the shards of a simulation.
  private static let own: Set<String> = ["shard", "rows", "arguments"]

  /// Throws one line that names what does not belong together.
  /// - Parameters:
  ///   - plan: the file of the plan that was fixed when the campaign began. A shard that does not belong to it is left out.
  ///     Without a plan nobody knows which of two shards is the wrong one, so all are refused.
  ///   - say: gets a line for each shard that is left out.
  package init(_ found: [SimulatedShard], plan: String? = nil, say: (String) -> Void = { _ in }) throws {
    let sorted = found.sorted { ($0.shard.number, $0.path) < ($1.shard.number, $1.path) }
    let fixed = try plan.map { (environment: try Self.environment($0), path: $0) }
    guard let common = fixed ?? sorted.first.map({ ($0.environment, $0.path) }) else {
      throw Complaint(.badInput, "none of these files is a shard")
    }
    cells = try SimulatedShard.cells(common.environment, path: common.path)
    cut = try SimulatedShard.shard(common.environment, path: common.path)
    arguments = common.environment["arguments"]?.strings ?? []
    var (kept, refused): ([SimulatedShard], Set<Int>) = ([], [])
    var owners: [SimulatedCell: String] = [:]
    for file in sorted {
      do throws(Complaint) {
        try file.check(common.environment, path: common.path, besides: Self.own)
        if let first = kept.first, file.header != first.header {
          throw Complaint(.badInput, "\(file.path) does not belong to \(first.path): it has other columns")
        }
        if let cell = cells.first(where: { file.rows[$0] != nil && owners[$0] != nil }), let other = owners[cell] {
          throw Complaint(.badInput, "\(other) and \(file.path) both have \(cell): give one of them")
        }
        for cell in cells where file.rows[cell] != nil { owners[cell] = file.path }
        kept.append(file)
      } catch {
        guard plan != nil else { throw Complaint(.badInput, "\(error); nothing was merged") }
        say("\(error); its shard has to run again")
        refused.insert(file.shard.number)
      }
    }
    (files, self.refused) = (kept, refused)
  }

  private static func environment(_ path: String) throws -> JSONValue {
    guard let found = try? JSONDecoder().decode(JSONValue.self, from: Data(try ResultSet.bytes(path))),
      found["kind"]?.text == "simulated"
    else {
      throw Complaint(
        .badInput, "\(path) is not the plan of a simulated campaign, which its first shard writes with --plan")
    }
    return found
  }

  /// Throws one line when facts are not those of the fixed plan, as far as all shards share them.
  package static func check(facts: String, plan: String) throws {
    let fixed = try environment(plan)
    let own = try? JSONDecoder().decode(JSONValue.self, from: Data(facts.utf8))
    let keys = Set(fixed.fields.keys).union(own?.fields.keys ?? [:].keys).subtracting(Self.own)
    let count = own?["shard"]?["count"] == fixed["shard"]?["count"]
    guard let key = count ? keys.sorted().first(where: { fixed[$0] != own?[$0] }) : "shard" else { return }
    throw Complaint(
      .unavailable, "nothing is simulated here, because the plan of the campaign in \(plan) has another '\(key)'")
  }

  /// The shards without a file.
  package var missing: [Shard] {
    let there = Set(files.map(\.shard.number))
    return cut.all.filter { !there.contains($0.number) }
  }

  /// How many cells the plan has, and how many of them have no rows.
  package var cellCount: Int { cells.count }
  package var missingCellCount: Int { cells.count { cell in !files.contains { $0.rows[cell] != nil } } }

  /// The command that simulates a missing shard alone.
  /// - Parameter folder: where the file of the shard goes.
  package func command(_ shard: Shard, folder: String) -> String {
    MissingShard.command(
      arguments, shard, output: (folder.isEmpty ? "" : folder + "/") + MissingShard.name(shard))
      + (refused.contains(shard.number) ? " --overwrite" : "")
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
    guard !files.isEmpty else { throw Complaint(.badInput, "none of these files is a shard of the campaign") }
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
