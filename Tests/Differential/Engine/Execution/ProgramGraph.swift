import Operations
import TestSupport

/// The graph of the action `graph`.
struct ProgramGraph {
  /// What a run of the graph shows.
  struct Outcome: Sendable, Equatable {
    /// How often each node ran to its end.
    var runs: [Int]
    /// The nodes that got other values than a serial run gives.
    var wrong: Set<Int> = []
    var error: RandomGraph.Refused?
    /// The current queues that blocking nodes saw, each once, and the task-local names that nodes saw.
    var currents: Set<Int> = []
    var names: Set<UInt64> = []
  }

  private let seed: Int
  private let shape: RandomGraph
  private let failing: Set<Int>
  private let asynchronous: Set<Int>

  init(seed: Int) {
    self.seed = seed
    let shape = RandomGraph(seed: UInt64(seed), most: 24)
    self.shape = shape
    func every(_ step: Int) -> Set<Int> { Set(stride(from: seed % step, to: shape.before.count, by: step)) }
    failing = seed % 3 == 0 ? every(11) : []
    asynchronous = seed % 4 == 0 ? every(5) : []
  }

  /// What each run must show in a body whose queue is `current`.
  func expected(current: Int) -> Outcome {
    let (skipped, error) = shape.skipped(failing: failing)
    let ran = skipped.indices.filter { !skipped[$0] }
    return Outcome(
      runs: skipped.map { $0 ? 0 : 1 }, error: error,
      currents: ran.allSatisfy(asynchronous.contains) ? [] : [current],
      names: ran.isEmpty ? [] : [Program.nameAround(seed)])
  }

  /// Runs the graph on this thread, and where the body's forks would run.
  func run(current: @escaping @Sendable () -> Int) -> Outcome {
    let outcome = Monitor(Outcome(runs: Array(repeating: 0, count: shape.before.count)))
    // Not by the seed's remainder of three, which decides whether nodes fail.
    let order = GraphOrder.allCases[seed % 7 % GraphOrder.allCases.count]
    let graph = shape.graph(order: order, failing: failing, asynchronous: asynchronous) {
      [asynchronous] node, isRight in
      // An asynchronous node has no current queue.
      let seen = asynchronous.contains(node) ? nil : current()
      let name = ForkTree.name
      outcome.with {
        $0.runs[node] += 1
        if !isRight { $0.wrong.insert(node) }
        if let seen { $0.currents.insert(seen) }
        $0.names.insert(name)
      }
    }
    let result = ForkTree.$name.withValue(Program.nameAround(seed)) {
      Result { try graph.run(afterFailure: .finishOthers) }
    }
    if case .failure(let error) = result { outcome.with { $0.error = error as? RandomGraph.Refused } }
    return outcome.value
  }
}
