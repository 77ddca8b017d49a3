import HarnessWords
import Scheduling
import Subjects
import VirtualScheduling

/// A pool that can be simulated, by its name in results.
package struct SimulatedBackend: Hashable, Sendable {
  package let name: String
  package let strategy: VirtualStrategy

  /// Reads a name such as `stealing(own=lifo)`. Throws one line when there is no such pool or no such strategy.
  package init(_ name: String) throws {
    let variant: SubjectVariant
    do {
      variant = try SubjectVariant(name)
    } catch {
      throw Complaint(.usage, "--backend '\(name)': \(error)")
    }
    switch variant.subject {
    case StealingChoice.name: strategy = .stealing(try StealingStrategy(variant.strategy))
    case ThreadPoolChoice.name: strategy = .threadPool(try ThreadPoolStrategy(variant.strategy))
    default:
      let known = SubjectVariant.subjects
      throw Complaint(
        .usage, "'\(name)' cannot be simulated\(Suggestion.words(for: variant.subject, among: known)), with strategies")
    }
    self.name = variant.name
  }

  /// Reads a list with commas. A name that stands twice counts once.
  /// - Parameter withChanges: whether every single change of a pool without a strategy follows it.
  /// - Parameter forks: whether tasks are forks. If not, no change of how forks become visible is among the changes,
  ///   and a strategy may not have one.
  package static func list(
    _ names: [String], withChanges: Bool = false, forks: Bool = false
  ) throws -> [SimulatedBackend] {
    var all: [SimulatedBackend] = []
    for name in names.flatMap(SubjectVariant.names) {
      let changes = (withChanges ? SubjectVariant.changes(of: name) ?? [] : []).filter {
        forks || $0.decision != "forks"
      }
      for variant in [name] + changes.map({ "\(name)(\($0.text))" }) {
        let backend = try SimulatedBackend(variant)
        if !forks, backend.strategy.forks != .idle {
          throw Complaint(.usage, "'\(variant)' says how forks become visible, and there are none: add --forks")
        }
        if !all.contains(backend) { all.append(backend) }
      }
    }
    guard !all.isEmpty else {
      throw Complaint(.usage, "--backend needs a name: \(SubjectVariant.subjects.joined(separator: ", "))")
    }
    return all
  }
}
