import HarnessStatistics
import HarnessWords

/// A task graph that a user names, for a simulation: a pattern, a made graph, or a workflow in a file.
///
/// `stencil_1d(width=64;steps=16)` names a graph with its sizes. A size that ends in `p` is for each worker:
/// `width=4p`. The work of a task is given apart, so that one graph serves every granularity.
package struct GraphChoice: Hashable, Sendable, CustomStringConvertible {
  /// What can be said of a kind of graph: its keys, in their order, with their usual values.
  private struct Kind {
    let name: String
    let summary: String
    let defaults: [(key: String, value: String)]
  }

  private static let kinds: [Kind] =
    GraphPattern.allCases.map { pattern in
      Kind(
        name: pattern.rawValue, summary: "a pattern of Task Bench",
        defaults: [("width", pattern == .allToAll ? "256" : "4096"), ("steps", "32"), ("imbalance", "0")]
          + (pattern.hasRadix ? [("radix", "5")] : []))
    } + [
      Kind(
        name: "splitting", summary: "a binary tree whose leaves alone have work, as of a loop that splits itself",
        defaults: [("depth", "14")]),
      Kind(
        name: "random", summary: "a seeded random graph in layers, with uneven work",
        defaults: [("tasks", "16384"), ("layers", "32"), ("inputs", "3"), ("imbalance", "1")]),
      Kind(name: "generated", summary: "the workflow that dependencies/replay generates from the seed", defaults: []),
    ]

  /// The names of the graphs that need no file, each with what it is.
  package static var names: [(name: String, summary: String)] { kinds.map { ($0.name, $0.summary) } }

  private let kind: String
  package let values: Parameters
  private let workflow: Workflow?

  /// Reads a name. Throws one line when there is no such graph, when a size is wrong, and when a file is wrong.
  package init(_ text: String, seed: UInt64) throws {
    if text.hasSuffix(".json") {
      let read = try WfFormat.read(path: text)
      guard read.totalSeconds > 0 else {
        throw Complaint(.badInput, "\(text): no task takes any time, so there is nothing to simulate")
      }
      (kind, values, workflow) = (read.name, [:], read)
      return
    }
    let name = String(text.prefix { $0 != "(" })
    guard let known = Self.kinds.first(where: { $0.name == name }) else {
      throw Complaint(
        .usage,
        "there is no graph '\(name)'\(Suggestion.words(for: name, among: Self.kinds.map(\.name))); "
          + "a WfFormat file ends in .json")
    }
    var values: Parameters = [:]
    for (key, value) in known.defaults { values[key] = value }
    for (key, value) in try Self.given(text.dropFirst(name.count), of: text) {
      guard known.defaults.contains(where: { $0.key == key }) else {
        let keys = known.defaults.map(\.key).joined(separator: ", ")
        throw Complaint(.usage, "graph \(name) has no '\(key)': \(keys.isEmpty ? "it has no sizes" : "it has \(keys)")")
      }
      values[key] = value
    }
    kind = name
    self.values = values
    workflow = name == "generated" ? try Workflow.generated(seed: seed) : nil
    for (key, value) in values.pairs { try Self.check(key, value, of: name) }
  }

  /// The pairs between the parentheses.
  private static func given(_ text: Substring, of whole: String) throws -> [(key: String, value: String)] {
    if text.isEmpty { return [] }
    let inner = text.dropFirst().dropLast()
    var keys: Set<Substring> = []
    for key in inner.split(separator: ";").map({ $0.prefix { $0 != "=" } }) where !keys.insert(key).inserted {
      throw Complaint(.usage, "'\(whole)' has '\(key)' twice: each size is given once")
    }
    guard text.hasPrefix("("), text.hasSuffix(")"), let pairs = Parameters(String(inner)) else {
      throw Complaint(.usage, "'\(whole)' is no graph: sizes stand as in stencil_1d(width=64;steps=16)")
    }
    return pairs.pairs
  }

  /// The most tasks and edges that a graph may have here: what a few GiB hold.
  private static let most = 8_000_000

  private static func check(_ key: String, _ value: String, of name: String) throws {
    if key == "imbalance" {
      guard let share = Double(value), 0...2 ~= share else {
        throw Complaint(.usage, "graph \(name): imbalance=\(value) is out of range: it is from 0 to 2")
      }
      return
    }
    let largest = ["depth": 22, "radix": 1_024, "inputs": 1_024][key] ?? most
    guard let size = Int(value.hasSuffix("p") ? String(value.dropLast()) : value), 1...largest ~= size else {
      throw Complaint(
        .usage,
        "graph \(name): \(key)=\(value) is out of range: it is a count from 1 to \(largest), or one for each "
          + "worker, such as \(key)=4p")
    }
  }

  /// What a user should know of the graph's file: sentences that begin with its name.
  package var remarks: [String] { workflow?.remarks.map { "\(kind): \($0)" } ?? [] }

  /// The name in results.
  package var name: String { kind }

  /// The sizes in results.
  package var sizes: String { values.description }

  package var description: String { values.isEmpty ? kind : "\(kind)(\(values))" }

  /// Graphs with the same name and sizes are the same.
  package static func == (left: GraphChoice, right: GraphChoice) -> Bool { left.description == right.description }
  package func hash(into hasher: inout Hasher) { hasher.combine(description) }

  /// The graph whose tasks have `nanoseconds` of work on average.
  package func graph(workers: Int, nanoseconds: Double, seed: UInt64) throws -> TaskGraph {
    if let workflow {
      return workflow.graph(scale: nanoseconds / 1e9 * Double(workflow.tasks.count) / workflow.totalSeconds)
    }
    func size(_ key: String) throws -> Int {
      let text = values[key] ?? ""
      return text.hasSuffix("p") ? (Int(text.dropLast()) ?? 0) * workers : Int(text) ?? 0
    }
    let imbalance = values.number("imbalance") ?? 0
    let graph: TaskGraph
    switch kind {
    case "splitting": graph = .splitting(depth: try size("depth"))
    case "random":
      try checkSize(try size("tasks") * (1 + size("inputs")), workers)
      graph = .layers(
        tasks: try size("tasks"), layers: try size("layers"), inputs: try size("inputs"), imbalance: imbalance,
        seed: seed)
    default:
      let pattern = GraphPattern(rawValue: kind)!
      let shape = PatternShape(
        pattern: pattern, width: try size("width"), steps: try size("steps"), radix: try size("radix"), seed: seed)
      try checkSize(shape.width * shape.steps * shape.reads, workers)
      graph = shape.graph(work: 1, imbalance: imbalance)
    }
    // As in the benchmarks, the work of uneven tasks is what the seed says, and its mean is near that of even ones.
    let mean = kind == "splitting" ? graph.totalWork / Double(graph.count) : 1
    return TaskGraph(inputs: graph.inputs, nanoseconds: graph.nanoseconds.map { $0 / mean * nanoseconds })
  }

  private func checkSize(_ elements: Int, _ workers: Int) throws {
    guard elements <= Self.most else {
      throw Complaint(
        .usage,
        "graph \(self) with \(Count.of(workers, "worker")) would have \(elements) tasks and edges; "
          + "it may have \(Self.most)")
    }
  }
}

extension PatternShape {
  /// About how many points a task reads, itself included.
  fileprivate var reads: Int {
    switch pattern {
    case .trivial: 1
    case .allToAll: width
    case .nearest, .spread, .randomNearest: 1 + radix
    default: 3
    }
  }
}

extension TaskGraph {
  /// A binary tree of `depth` levels of splits. A split has no work and makes two tasks ready. A leaf has work.
  package static func splitting(depth: Int) -> TaskGraph {
    let inner = 1 << depth - 1
    let count = 2 * inner + 1
    return TaskGraph(
      inputs: (0..<count).map { $0 == 0 ? [] : [($0 - 1) / 2] }, nanoseconds: (0..<count).map { $0 < inner ? 0 : 1 })
  }

  /// A random graph in layers. Each task reads `inputs` random tasks of the layer before, some of them twice, which
  /// counts once. The work of a task is `1 + (U - 0.5) * imbalance`.
  package static func layers(tasks: Int, layers: Int, inputs: Int, imbalance: Double, seed: UInt64) -> TaskGraph {
    var random = SeededGenerator(seed: seed, purpose: "random-layers")
    var all: [[Int]] = []
    var previous = 0..<0
    for layer in 0..<min(layers, tasks) {
      let current = tasks * layer / min(layers, tasks)..<tasks * (layer + 1) / min(layers, tasks)
      for _ in current {
        let chosen = previous.isEmpty ? [] : (0..<inputs).map { _ in Int.random(in: previous, using: &random) }
        all.append(Set(chosen).sorted())
      }
      previous = current
    }
    return TaskGraph(
      inputs: all, nanoseconds: all.map { _ in 1 + (Double.random(in: 0..<1, using: &random) - 0.5) * imbalance })
  }
}
