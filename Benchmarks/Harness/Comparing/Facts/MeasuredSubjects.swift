import HarnessResults
import HarnessWords

/// The subjects that results name, in the order of the programs that measured; a subject that they do not know comes
/// last.
struct MeasuredSubjects {
  struct Subject: Encodable {
    let name: String
    /// Empty where no program says it.
    let role: String
    let summary: String
    let isReference: Bool
    /// Whether the subject is one of those that runs are about. Of subjects without a role, these are all but the
    /// reference.
    let isOurs: Bool
    /// Whether one could take the subject: some are measured only to compare with.
    let isChoice: Bool
    let wasMeasured: Bool
    /// The rows of the contract that its strategy gives up.
    let givesUp: [Int]
    let variant: Variant?
  }

  /// A strategy of its own, as its name says it: `pool(own=lifo;steal=half)`.
  struct Variant: Encodable {
    let base: String
    let text: String
    /// The decisions with their choices.
    let choices: [[String]]

    init?(_ name: String) {
      guard let opening = name.firstIndex(of: "("), name.last == ")", opening != name.startIndex else { return nil }
      base = String(name[..<opening])
      text = String(name[name.index(after: opening)...].dropLast())
      choices = text.split(separator: ";", omittingEmptySubsequences: false).map {
        $0.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      }
      guard !base.contains(")"), choices.allSatisfy({ $0.count == 2 && $0.allSatisfy { !$0.isEmpty } }) else {
        return nil
      }
    }

    /// What the change decides; empty where it changes several decisions.
    var decision: String { choices.count == 1 ? choices[0][0] : "" }
  }

  let all: [Subject]
  let reference: String?
  let places: [String: Int]

  init(_ records: [RunRecord], measured: Set<String>, reference asked: String?) {
    var known: [SubjectFacts] = []
    for facts in records.flatMap(\.subjects) where !known.contains(where: { $0.name == facts.name }) {
      known.append(facts)
    }
    let named = records.compactMap(\.reference)
    let reference = asked ?? named.first(where: measured.contains) ?? named.first
    let unknown = measured.subtracting(known.map(\.name)).sorted()
    self.reference = reference
    func subject(_ name: String, _ facts: SubjectFacts?) -> Subject {
      let role = facts?.role
      return Subject(
        name: name, role: role?.rawValue ?? "", summary: facts?.summary ?? "", isReference: name == reference,
        isOurs: role == .ours || (role == nil && name != reference),
        isChoice: ![.bare, .baseline, .control].contains(role), wasMeasured: measured.contains(name),
        givesUp: facts?.givesUp ?? [], variant: Variant(name))
    }
    all = known.map { subject($0.name, $0) } + unknown.map { subject($0, nil) }
    places = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.name, $0) })
  }

  subscript(name: String) -> Subject { all[places[name]!] }

  /// The reference in words; nil where nothing is compared.
  var referenceWords: String? {
    guard let reference else { return nil }
    guard let place = places[reference], !all[place].summary.isEmpty else { return reference }
    return all[place].summary
  }
}
