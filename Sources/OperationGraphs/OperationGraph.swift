import CPlatform
import OperationExecutors
import OperationForks
import OperationJobs
import Primitives

/// A graph of closures that is made once and run often.
///
/// ```swift
/// import Operations
///
/// let graph = OperationGraph(of: Int.self) { graph in
///   let numbers = graph.add { Array(1...10) }
///   let sum = graph.add(numbers) { numbers in numbers.reduce(0, +) }
///   let product = graph.add(numbers) { numbers in numbers.reduce(1, *) }
///   return graph.add(sum, product) { sum, product in product / sum }
/// }
/// print(try graph.run(), try graph.run())
/// ```
///
/// *Nodes* are closures, blocking or asynchronous, that may throw and may return a value. A node that is given other
/// nodes gets their values. `after:` names nodes that come before without one. In each run a node runs once, after all
/// nodes before it have ended, on any thread of the backend, or on the thread that waits for the run.
///
/// *Where*: as for `join(_:_:)`: inside an operation on the threads of its backend, anywhere else on those of the
/// default backend. `Backend.run(_:)` chooses another one. A run counts as one operation where a queue has a limit, and
/// has the level of its operation. Nodes see the task-local values of the caller, and `OperationQueue.current`.
///
/// *Errors*: a node that comes after one that has thrown is skipped. `GraphFailureMode` says what becomes of the
/// others. When all have ended, the error of the node that was added first among those that threw is thrown.
///
/// *Cost*: a node takes 24 bytes and an edge 4, and for each run at a time a node takes 4 bytes more, beside closures
/// and values. A run that is not the first on its backend allocates nothing for nodes that do not suspend. Values live
/// until the end of their run.
///
/// Runs of one graph may overlap. `GraphOverlap` says what they know of each other.
public final class OperationGraph<Output: Sendable>: Sendable {
  private let runs: GraphRuns
  /// Where the value of the graph lies.
  private let output: UInt32

  /// Makes a graph whose runs give the value of one node.
  ///
  /// O(nodes and edges). Traps when the node is of another graph.
  ///
  /// - Parameters:
  ///   - type: the type of the value.
  ///   - overlapping: how runs go that are under way at the same time.
  ///   - order: which of several nodes that are ready runs first.
  ///   - build: adds nodes. Returns the node whose value is that of a run.
  public init<Failure: Error>(
    of type: Output.Type, overlapping: GraphOverlap = .anyOrder, order: GraphOrder = .added,
    _ build: (inout GraphBuilder) throws(Failure) -> GraphNode<Output>
  ) throws(Failure) {
    var builder = GraphBuilder()
    let node = try build(&builder)
    if node.graph != builder.number {
      forkMisuse("a node of another graph cannot give the value of this one")
    }
    output = node.offset
    runs = GraphRuns(GraphPlan(builder, order: order, overlapping: overlapping))
  }

  private init(_ plan: GraphPlan) {
    output = 0
    runs = GraphRuns(plan)
  }

  /// How many nodes the graph has.
  public var count: Int { runs.plan.count }

  /// Runs the graph, and returns its value. The calling thread runs nodes, too.
  ///
  /// Throws what a node threw. Traps when the backend has been shut down. When that happens during the run, the caller
  /// runs what is left, and an asynchronous node that begins traps, unless an operation is around the run: the shutdown
  /// waits for operations.
  ///
  /// - Parameter mode: what becomes of nodes that do not come after one that has thrown.
  @available(*, noasync, message: "blocks the thread; await the asynchronous method of this name")
  @discardableResult
  public func run(afterFailure mode: GraphFailureMode = .skipOthers) throws -> Output {
    let scope = ForkScope()
    defer { scope?.end() }
    let crew = Crew()
    let run = runs.take(crew.home?._withUnsafeGuaranteedRef { $0 } ?? DrivenBackends.forkHome)
    defer { runs.giveBack(run) }
    run.prepare(mode)
    run.run(for: crew)
    return try run.end(output, of: Output.self)
  }

  /// Runs the graph, and returns its value. The task is suspended meanwhile, and no thread is blocked.
  ///
  /// Throws what a node threw. When the task is cancelled, no further node begins but those that threads begin in that
  /// instant, at most one for each; asynchronous bodies are cancelled; and when these have ended the call throws
  /// `CancellationError`, if a node was skipped. Traps when the backend has been shut down.
  ///
  /// - Parameter mode: what becomes of nodes that do not come after one that has thrown.
  @discardableResult
  public nonisolated(nonsending) func run(afterFailure mode: GraphFailureMode = .skipOthers) async throws -> Output {
    let home = ForkScope.homeHere
    let backend = home.backend
    defer { withExtendedLifetime((backend, home)) {} }
    if runs.plan.count == 0 { return try GraphRun(runs.plan, home: home).end(output, of: Output.self) }
    let run = runs.take(home)
    defer { runs.giveBack(run) }
    run.prepare(mode)
    let operation = run.keepFrame()
    let crew = Crew(
      ofTaskOn: home, level: Job.level(ofTask: Task.currentPriority.rawValue), launch: run.launch)
    let waiter = FinishWaiter(host: operation == 0 ? DrivenBackends.host(ofTaskOn: backend) : nil)
    await withTaskCancellationHandler {
      await run.run(for: crew, waiter: waiter)
    } onCancel: {
      run.cancel()
    }
    crew.endTask()
    return try run.end(output, of: Output.self)
  }
}

extension OperationGraph where Output == Void {
  /// Makes a graph whose runs give no value.
  ///
  /// ```swift
  /// import Operations
  ///
  /// let graph = OperationGraph { graph in
  ///   let first = graph.add { print("first") }
  ///   for number in 1...3 { graph.add(after: [first]) { print(number) } }
  /// }
  /// try graph.run()
  /// ```
  ///
  /// O(nodes and edges).
  ///
  /// - Parameters:
  ///   - overlapping: how runs go that are under way at the same time.
  ///   - order: which of several nodes that are ready runs first.
  ///   - build: adds nodes.
  public convenience init<Failure: Error>(
    overlapping: GraphOverlap = .anyOrder, order: GraphOrder = .added,
    _ build: (inout GraphBuilder) throws(Failure) -> Void
  ) throws(Failure) {
    var builder = GraphBuilder()
    try build(&builder)
    self.init(GraphPlan(builder, order: order, overlapping: overlapping))
  }
}

/// How runs of one graph go that are under way at the same time.
public enum GraphOverlap: Sendable {
  /// They know nothing of each other.
  case anyOrder
  /// Each node runs in the order in which the runs began: in the next run not before it has ended in this one. So
  /// a chain is a pipeline, whose nodes may use what their own earlier runs have left. Each node costs an exchange
  /// more, and the beginning of a run O(nodes).
  case inOrder
}

/// What becomes of nodes that do not come after a node that has thrown.
public enum GraphFailureMode: Sendable {
  /// No further node begins.
  case skipOthers
  /// They run.
  case finishOthers
}

/// Which of several nodes that are ready runs first. A node never runs before what it comes after.
public enum GraphOrder: String, CaseIterable, Sendable {
  /// The one that was added first, on each thread. Costs nothing.
  case added
  /// The one on which the longest way hangs, by the costs that the nodes were given. The ready nodes are in one heap
  /// under a lock, so this order pays for nodes of some microseconds and more.
  case criticalPath = "critical-path"
  /// As `criticalPath`, by what the nodes took in earlier runs. Each node reads a clock twice, and each run begins with
  /// O(nodes and edges). An asynchronous body counts with the cost of 1 tick.
  case measured
}

/// The runs of one graph that nobody uses now.
final class GraphRuns: Sendable {
  let plan: GraphPlan
  private let spares = Locked<[GraphRun]>([])
  private static let mostSpares = 8

  init(_ plan: GraphPlan) { self.plan = plan }

  /// A run for a backend.
  func take(_ home: BackendHome) -> GraphRun {
    let spare = spares.withLock { () -> GraphRun? in
      guard let index = spares.state.lastIndex(where: { $0.homeNumber == home.number }) else { return nil }
      return spares.state.remove(at: index)
    }
    return spare ?? GraphRun(plan, home: home)
  }

  func giveBack(_ run: GraphRun) {
    // A backend of a user's may be gone, and another one may have its number.
    guard run.isOwn else { return }
    spares.withLock {
      if spares.state.count < Self.mostSpares { spares.state.append(run) }
    }
  }
}
