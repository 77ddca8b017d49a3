import HarnessWords
import Subjects

/// How a parent goes on after its children: the parameter `join`.
enum TreeJoin: String, CaseIterable {
  /// The parent forks its children with a call of the subject, and waits for them.
  case fork
  /// The parent leaves a frame behind that counts its unfinished children, on every subject.
  case counter
  /// An operation depends on the children.
  case dependency

  var needs: Abilities {
    switch self {
    case .fork: .forks
    case .counter: []
    case .dependency: .operations
    }
  }

  /// Nil when the parameters name none of these.
  init?(_ parameters: Parameters) { self.init(rawValue: parameters["join"] ?? "") }

  init(checked parameters: Parameters) throws {
    guard let join = TreeJoin(parameters) else {
      let names = TreeJoin.allCases.map(\.rawValue).joined(separator: ", ")
      throw Complaint(.usage, "join is one of \(names), not as in '\(parameters)'")
    }
    self = join
  }
}
