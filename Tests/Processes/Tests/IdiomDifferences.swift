// Where Foundation's classes and these do different things with the same source, and why. A difference that no entry
// explains fails the comparison. So does an entry that explains none of the cases of the ordinary run.

/// One line of the programs `FoundationIdioms` and `OperationsIdioms`.
struct IdiomLine: Equatable {
  let seed: UInt64
  let fields: [String: String]
  let plan: String
  let log: String

  /// - Returns: nil where the line is none of a case.
  init?(_ text: Substring) {
    var parts: [String] = []
    for part in text.split(separator: "|", omittingEmptySubsequences: false) {
      let words = part.split(separator: " ")
      parts.append(words.joined(separator: " "))
    }
    guard parts.count >= 3, let seed = UInt64(parts[0]) else { return nil }
    self.seed = seed
    plan = parts[1]
    log = parts.dropFirst(2).joined(separator: " | ")
    var fields: [String: String] = [:]
    for pair in plan.split(separator: " ") {
      let sides = pair.split(separator: "=")
      if sides.count == 2 { fields[String(sides[0])] = String(sides[1]) }
    }
    self.fields = fields
  }

  func has(_ field: String, _ values: String...) -> Bool { values.contains(fields[field] ?? "") }
  func logs(_ text: String) -> Bool {
    let words = text.split(separator: " ")
    let entries = log.split { " ;|".contains($0) }
    return entries.indices.contains { entries[$0...].starts(with: words) }
  }

  /// The class's own `isFinished` decides for Foundation.
  var keepsFinished: Bool { has("states", "finished", "both") }
  var isCancelledBefore: Bool { has("cancelled", "before", "beforeAll") && !has("cancel", "empty") }
}

struct IdiomDifference: Sendable {
  /// The rows of the contract, or what stands in the way of one.
  let reason: String
  let explains: @Sendable (_ foundation: IdiomLine, _ ours: IdiomLine) -> Bool
}

/// Wanted differences, each with its row. The first that explains a difference counts.
let wantedDifferences = [
  IdiomDifference(reason: "row 10: the completion block runs once; Foundation runs it twice for some classes") {
    $0.logs("completion: called called") && !$1.logs("called called")
  },
  IdiomDifference(reason: "row 7: a cancelled operation ends, also where its own condition for isReady never holds") {
    _, ours in ours.has("ready", "waits") && ours.isCancelledBefore
  },
  IdiomDifference(
    reason: "row 3: a cancelled operation is skipped and ends; Foundation waits for an isFinished that nobody sets"
  ) { _, ours in ours.isCancelledBefore && ours.keepsFinished && !ours.has("start", "own") },
  IdiomDifference(
    reason: "row 41.11: isExecuting is true for a started operation whose class does not override it"
  ) { _, ours in ours.has("start", "own") && ours.has("states", "inherited", "finished") },
]
