import HarnessResults
import HarnessWords
import Simulation
import Subjects
import VirtualScheduling

/// Reads the options of `simulate`.
enum SimulateOptions {
  static var backends: [String] { SimulatedBackend.names }

  /// The names in a list with commas, some of them with sizes in parentheses.
  static func names(in list: String) -> [String] { SubjectVariant.names(in: list) }

  /// Times such as 10us, in nanoseconds, in the given order, each once.
  static func works(_ list: String) throws -> [Double] {
    var all: [Double] = []
    for text in list.split(separator: ",", omittingEmptySubsequences: false) {
      guard let time = TimeText.nanoseconds(text), 1...1e9 ~= time else {
        throw Complaint(.usage, "--work takes times from 1ns to 1s, such as 10us or 500ns,1ms; not '\(list)'")
      }
      if !all.contains(time) { all.append(time) }
    }
    return all
  }

  /// - Parameters:
  ///   - group: what the command line says; nil for what the model says of its machine.
  ///   - socket: the same of sockets.
  static func topology(group: Int?, socket: Int?, of machine: CostModel.Machine) throws -> VirtualTopology {
    let group = group ?? (socket == nil ? machine.group : nil)
    let socket = socket ?? (group == machine.group ? machine.socket : nil)
    let perSocket = socket ?? group.map { _ in 1 << 32 } ?? 1 << 32
    let perGroup = group ?? perSocket
    guard perSocket >= perGroup, group == nil || socket == nil || perSocket % perGroup == 0 else {
      throw Complaint(.usage, "--socket \(perSocket) has no whole number of groups of \(perGroup) workers")
    }
    return VirtualTopology(
      workersPerGroup: perGroup, workersPerSocket: socket == nil ? perGroup * (1 << 20) : perSocket)
  }

  /// What `--dry-run` says.
  static func description(of plan: SimulationPlan) -> String {
    let granularities =
      plan.sweeps
      ? "a sweep of at most 33 granularities"
      : plan.works.map { NumberFormat("ns", $0).text($0) }.joined(separator: ", ")
    return """
      graphs: \(plan.graphs.map(\.description).joined(separator: ", "))
      work of a task: \(granularities)
      pools: \(plan.backends.map(\.name).joined(separator: ", "))
      workers: \(plan.workers.map(String.init).joined(separator: ", "))
      model: \(plan.model.name)
      \(plan.sweeps ? "at most " : "")\(Count.of(plan.runCount, "run")), seeds from \(plan.seeds[0])

      """
  }
}
