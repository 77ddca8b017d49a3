import HarnessPlanning
import HarnessWords

/// A shard of which the rows of some processes are missing, and the command that runs them.
package struct MissingShard: Sendable {
  package let shard: Shard
  /// The file that has the rest; nil when there is none.
  let file: ShardFile?
  /// The steps without rows.
  package let missing: [Plan.Step]
  /// How many steps the shard has.
  let of: Int
  /// Whether a file of the shard is there that does not belong to the campaign.
  let isRefused: Bool
  let plan: PlanRecord

  package var text: String {
    let blocks = Set(
      missing.map { step in if case .time(_, let block) = step { block } else { 0 } }.filter { $0 > 0 }
    ).sorted()
    let counts = missing.count { step in if case .count = step { true } else { false } }
    guard file != nil else { return "shard \(shard) is missing: \(Count.of(of, plan.stepNoun))" }
    var parts: [String] = []
    if !blocks.isEmpty {
      parts.append("\(blocks.count == 1 ? "block" : "blocks") " + blocks.map(String.init).joined(separator: ", "))
    }
    if counts > 0 { parts.append("\(Count.of(counts, "count")) of allocations") }
    return
      "shard \(shard) is not whole: \(missing.count) of \(Count.of(of, plan.stepNoun)) missing, in \(parts.joined(separator: " and "))"
  }

  /// The command of the campaign for this shard alone. It goes on behind what is there.
  /// - Parameters:
  ///   - arguments: the arguments of any shard, with the program first.
  ///   - folder: where a shard goes that has no file yet.
  package func command(_ arguments: [String], folder: String) -> String {
    let output = file?.path ?? (folder.isEmpty ? "" : folder + "/") + Self.name(shard)
    return Self.command(arguments, shard, output: output)
      + (file != nil ? " \(plan.flagToComplete)" : isRefused ? " --overwrite" : "")
  }

  /// The command of a campaign for one shard.
  static func command(_ arguments: [String], _ shard: Shard, output: String) -> String {
    (without(arguments) + ["--shard", "\(shard)", "--output", output]).map(quoted).joined(separator: " ")
  }

  /// The name of a shard's file in a campaign.
  package static func name(_ shard: Shard) -> String { "shard-\(shard.number)-of-\(shard.count).csv" }

  /// The arguments of the whole campaign: without the shard, and without where its rows go.
  static func without(_ arguments: [String]) -> [String] {
    var kept: [String] = []
    var skips = false
    for word in arguments {
      if skips {
        skips = false
      } else if word == "--shard" || word == "--output" {
        skips = true
      } else if word != "--resume", word != "--overwrite", !word.hasPrefix("--shard="), !word.hasPrefix("--output=") {
        kept.append(word)
      }
    }
    return kept
  }

  private static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.unicodeScalars.allSatisfy { scalar in
        scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || "-_./=,:@%+".unicodeScalars.contains(scalar)
      }
    return isPlain
      ? word : "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}
