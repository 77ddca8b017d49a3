import HarnessMeasuring
import HarnessWords
import Subjects

/// A graph with one source, which waits for an operation that is in no queue. Only a cancellation starts the graph.
final class HeldGraph<S: OperationSubject> {
  private let graph: TaskGraph
  private let subject: S
  private let body: Body

  enum Cancelled: String {
    /// Cancel only the source. Everything behind the source then runs.
    case head
    /// Cancel everything, with `cancelAllOperations`.
    case all
  }

  /// The state that the operations share.
  private final class Body: @unchecked Sendable {
    // `outOfOrder` is written only when something has gone wrong.
    let flags: RunFlags
    private let inputs: [[Int]]
    private var outOfOrder = 0

    init(_ graph: TaskGraph) {
      flags = RunFlags(count: graph.count)
      inputs = graph.inputs
    }

    /// With `needsInputs`, only the source may have not run.
    func execute(_ task: Int, needsInputs: Bool) {
      if needsInputs, !inputs[task].allSatisfy({ $0 == 0 || flags.hasRun($0) }) { outOfOrder += 1 }
      flags.slot(task).mark()
    }

    func checkOrder() throws {
      guard outOfOrder == 0 else { throw CheckFailed("\(outOfOrder) operations ran before one they depend on") }
    }
  }

  init(_ graph: TaskGraph, workers: Int) {
    self.graph = graph
    subject = S(workers: workers)
    body = Body(graph)
  }

  /// Adds the graph, cancels, and waits until the queue is empty. Gives the time from the call on, and the number of
  /// bodies that ran.
  func run(_ cancelled: Cancelled) throws -> (nanoseconds: UInt64, executed: Int) {
    let gate = S.makeOperation {}
    let items = makeItems(gate, cancelled)
    subject.add(contentsOf: items)
    guard subject.remaining == graph.count, body.flags.ran == 0 else {
      throw CheckFailed("only \(subject.remaining) of \(graph.count) operations are pending before the cancellation")
    }
    let start = Clock.now()
    switch cancelled {
    case .head: S.cancel(items[0])
    case .all: subject.cancelAll()
    }
    subject.drain()
    let nanoseconds = Clock.now() - start
    try checkEmpty(subject.remaining)
    try body.checkOrder()
    return (nanoseconds, try check(items, cancelled))
  }

  private func makeItems(_ gate: S.Item, _ cancelled: Cancelled) -> [S.Item] {
    var items: [S.Item] = []
    items.reserveCapacity(graph.count)
    let body = body
    for task in 0..<graph.count {
      let item = S.makeOperation { body.execute(task, needsInputs: cancelled == .head) }
      for input in graph.inputs[task] { S.addDependency(of: item, on: items[input]) }
      if task == 0 { S.addDependency(of: item, on: gate) }
      items.append(item)
    }
    return items
  }

  /// Checks that all operations have finished, that none ran twice, and that every operation that did not run was
  /// cancelled. When the head is cancelled, the head alone did not run. When all are cancelled, an operation that its
  /// predecessors' cancellation released may have run before the cancellation reached the operation.
  private func check(_ items: [S.Item], _ cancelled: Cancelled) throws -> Int {
    let executed = body.flags.ran
    for (task, item) in items.enumerated() {
      let times = body.flags.take(task)
      let isRight = times == 0 ? S.isCancelled(item) : times == 1 && (cancelled == .all || task > 0)
      guard S.isFinished(item), isRight else {
        throw CheckFailed(
          "operation \(task) of \(items.count) ran \(times) times, is \(S.isFinished(item) ? "" : "not ")finished and "
            + "\(S.isCancelled(item) ? "" : "not ")cancelled")
      }
    }
    return executed
  }
}

/// A benchmark that cancels a graph of operations that all depend on a first one.
protocol HeldGraphWorkload: Workload {
  func graph(_ setting: Setting) throws -> TaskGraph
}

extension HeldGraphWorkload {
  var metrics: [Metric] { [.nsPerCancel, .executed] }
  var needs: Abilities { .operations }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let graph = try graph(setting)
    guard let cancelled = setting.parameters["cancel"].flatMap(HeldGraph<S>.Cancelled.init(rawValue:)) else {
      throw Complaint(.usage, "parameter 'cancel' is head or all, unlike in '\(setting.parameters)'")
    }
    let held = HeldGraph<S>(graph, workers: setting.workers)
    return Trial(operationsPerRepeat: graph.count) { repeats in
      var total: UInt64 = 0
      var executed = 0
      for _ in 0..<repeats {
        let result = try held.run(cancelled)
        total += result.nanoseconds
        executed += result.executed
      }
      let count = graph.count * repeats
      return Value([
        Reading(.nsPerCancel, Double(total) / Double(count), count: count),
        Reading(.executed, Double(executed) / Double(repeats), count: count),
      ])
    }
  }
}
