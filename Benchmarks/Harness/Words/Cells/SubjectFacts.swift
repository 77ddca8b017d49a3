/// The facts that a table and a page need of a subject. The facts are in `X.env.json`, so that the report needs no
/// other source.
package struct SubjectFacts: Codable, Hashable, Sendable {
  package let name: String
  package let role: SubjectRole
  /// What the subject is, in one line.
  package let summary: String
  /// The rows of the contract that the strategy of the subject gives up.
  package let givesUp: [Int]

  package init(_ name: String, role: SubjectRole, summary: String, givesUp: [Int] = []) {
    (self.name, self.role, self.summary, self.givesUp) = (name, role, summary, givesUp)
  }

  /// The summary, with what the strategy gives up.
  package var words: String { summary + (ContractRows.words(givesUp).map { "; \($0)" } ?? "") }
  /// The words behind those of the role.
  package var line: String { role.line(words) }
  /// Whether the subject stands beside others for comparison only. A run in which only such a subject has no number has
  /// not failed.
  package var isReference: Bool { role == .standingReference }
}

/// The role of a subject in a run. Results and `list --json` have the raw values.
public enum SubjectRole: String, Codable, Sendable {
  /// An operation queue of this library, or a program of the user's own benchmarks: the subjects that runs are about.
  case ours
  /// One of this library's executor backends without the operation layer. Its name is the name of its queue with a
  /// suffix.
  case bare
  /// A reference that runs in every run.
  case standingReference
  /// A reference that runs only when the user asks for it.
  case reference
  /// No scheduler at all: shows what the work itself costs.
  case baseline
  /// A scheduler of another language, in a program of its own. A peer runs only when the user asks for it.
  case peer
  /// A subject that only `validate` measures, to judge the laboratory.
  case control

  /// The words in front of the summary; nil when the summary says enough.
  private var words: String? {
    switch self {
    case .ours: nil
    case .bare: "without operations"
    case .standingReference: "reference, always"
    case .reference: "reference"
    case .baseline: "reference"
    case .peer: "other language"
    case .control: "control"
    }
  }

  public func line(_ summary: String) -> String { (words.map { "\($0): " } ?? "") + summary }
}
