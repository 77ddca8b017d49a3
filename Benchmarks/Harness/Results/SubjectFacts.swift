/// What a table and a page need to know of a subject. It stands in `X.env.json`, so that the report knows it from nowhere
/// else.
package struct SubjectFacts: Codable, Hashable, Sendable {
  package let name: String
  package let role: SubjectRole
  /// What it is, in one line.
  package let summary: String

  package init(_ name: String, role: SubjectRole, summary: String) {
    self.name = name
    self.role = role
    self.summary = summary
  }

  /// The line with what its role adds to it.
  package var line: String { role.line(summary) }
  /// Whether it stands beside others for comparison only: a run in which it alone has no number has not failed.
  package var isReference: Bool { role == .standingReference }
}

/// What part a subject plays in a run. Results and `list --json` have the raw values.
public enum SubjectRole: String, Codable, Sendable {
  /// An operation queue of ours, or a program of benchmarks of one's own: what runs are about.
  case ours
  /// One of our executor backends without the operation layer. It has the name of its queue with something behind it.
  case bare
  /// Stands beside every run.
  case standingReference
  /// A reference that runs when it is asked for.
  case reference
  /// No scheduler at all: what the work itself costs, and nothing to choose.
  case baseline
  /// A scheduler of another language, in a program of its own that runs when it is asked for.
  case peer
  /// Only `validate` measures it, to judge the laboratory.
  case control

  /// What is said of it in front of the summary; nil where that says all.
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
