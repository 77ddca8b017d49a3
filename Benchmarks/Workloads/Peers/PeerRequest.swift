import Harness

/// A request as a peer's program takes it: `key=value` arguments, which need no library to read, and for benchmarks on graphs
/// a file with the very graph that the other subjects run.
public struct PeerRequest: Sendable {
  public let arguments: [String]
  /// A line per task: its nanoseconds, and the indices of the tasks it depends on, all of which stand before it.
  public let graph: String?

  public init(_ request: MeasureRequest) throws {
    guard let parameters = Parameters(request.parameters) else {
      throw Complaint(.usage, "'\(request.parameters)' are no parameters")
    }
    var fields = [
      ("benchmark", "\(request.name)"), ("workers", "\(request.workers)"),
      ("rounds_per_microsecond", "\(request.spin.roundsPerMicrosecond)"),
    ]
    switch request.mode {
    case .calibrate(let target, let limit):
      fields += [("mode", "calibrate"), ("target", "\(target)"), ("limit", "\(limit)")]
    case .time(let repeats, let values, let warmups):
      fields += [("mode", "time"), ("repeats", "\(repeats)"), ("values", "\(values)"), ("warmups", "\(warmups)")]
    case .count: throw Complaint(.usage, "allocations are not counted in the programs of other languages")
    }
    fields += parameters.pairs.map { ("param.\($0)", $1) }
    let setting = Setting(
      parameters: parameters, workers: request.workers, seed: request.seed, spin: request.spin)
    if let graph = try Self.graph(request.name, setting) {
      fields.append(("bound_ns", "\(graph.lowerBound(workers: request.workers))"))
      self.graph = Self.text(graph)
    } else {
      graph = nil
    }
    arguments = fields.map { "\($0)=\($1)" }
  }

  private static func graph(_ name: BenchmarkName, _ setting: Setting) throws -> TaskGraph? {
    let patterns = GraphPatterns()
    return name == patterns.name ? try patterns.graph(setting) : nil
  }

  static func text(_ graph: TaskGraph) -> String {
    zip(graph.nanoseconds, graph.inputs).map { nanoseconds, inputs in
      (["\(nanoseconds)"] + inputs.map(String.init)).joined(separator: " ") + "\n"
    }.joined()
  }
}
