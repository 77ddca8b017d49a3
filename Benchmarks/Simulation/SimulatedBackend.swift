import HarnessWords
import Scheduling
import Subjects
import VirtualScheduling

/// Which of the ready nodes of a graph that is run as a whole is the next one: the orders of `OperationGraph`.
package enum NodeOrder: String, CaseIterable, Sendable {
  case added
  /// The node on which the longest way hangs, by the work of the tasks. An order that is learned from earlier runs is
  /// this one here, since a task takes the same time in each run.
  case criticalPath = "critical-path"
  /// The node on which the longest way hangs, by the number of tasks: the critical path of who gives no costs.
  case longestChain = "longest-chain"
}

/// A pool that can be simulated, by its name in results.
package struct SimulatedBackend: Hashable, Sendable {
  package let name: String
  package let strategy: VirtualStrategy
  /// Where the tasks are nodes of a graph that is run as a whole.
  package let order: NodeOrder?

  private static let graph = "graph"
  private static let orders = NodeOrder.allCases.map { $0 == .added ? graph : "\(graph)(order=\($0.rawValue))" }
  /// The names without strategies.
  package static let names = SubjectVariant.subjects + [graph]

  /// A graph on the stealing pool. Each thread has nodes of its own, and runs the newest; or the order says, and all
  /// threads share one heap under a lock.
  private init(_ order: NodeOrder, name: String) {
    var stealing = StealingStrategy()
    stealing.ownEnd = .lifo
    var shared = ThreadPoolStrategy()
    shared.successor = .queued
    self.init(name, order == .added ? .stealing(stealing) : .threadPool(shared), order)
  }

  private init(_ name: String, _ strategy: VirtualStrategy, _ order: NodeOrder? = nil) {
    (self.name, self.strategy, self.order) = (name, strategy, order)
  }

  /// Reads a name such as `stealing(own=lifo)` or `graph(order=critical-path)`. Throws one line when there is no such
  /// pool or no such strategy.
  package init(_ name: String) throws {
    if name == Self.graph || name.hasPrefix(Self.graph + "(") {
      let text = name == "\(Self.graph)(order=\(NodeOrder.added.rawValue))" ? Self.graph : name
      guard let order = zip(NodeOrder.allCases, Self.orders).first(where: { $1 == text })?.0 else {
        throw Complaint(
          .usage, "--backend '\(name)': a graph has these orders: \(Self.orders.joined(separator: ", "))")
      }
      self.init(order, name: text)
      return
    }
    let variant: SubjectVariant
    do {
      variant = try SubjectVariant(name)
    } catch {
      throw Complaint(.usage, "--backend '\(name)': \(error)")
    }
    switch variant.subject {
    case StealingChoice.name: self.init(variant.name, .stealing(try StealingStrategy(variant.strategy)))
    case ThreadPoolChoice.name: self.init(variant.name, .threadPool(try ThreadPoolStrategy(variant.strategy)))
    default:
      let words = Suggestion.words(for: variant.subject, among: Self.names)
      throw Complaint(.usage, "'\(variant.subject)' cannot be simulated\(words), with strategies")
    }
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
      let changed = name == graph && withChanges ? Array(orders.dropFirst()) : changes.map { "\(name)(\($0.text))" }
      for variant in [name] + changed {
        let backend = try SimulatedBackend(variant)
        if forks, backend.order != nil {
          throw Complaint(.usage, "'\(variant)' has nodes, and --forks makes forks of all tasks: leave one out")
        }
        if !forks, backend.strategy.forks != .idle {
          throw Complaint(.usage, "'\(variant)' says how forks become visible, and there are none: add --forks")
        }
        if !all.contains(backend) { all.append(backend) }
      }
    }
    guard !all.isEmpty else {
      throw Complaint(.usage, "--backend needs a name: \(Self.names.joined(separator: ", "))")
    }
    return all
  }
}
