import Dispatch
import HarnessMeasuring
import HarnessWords
import Operations
import Subjects
import Synchronization

/// The times of one run of a task graph: building, running and releasing the graph together, and running alone.
struct GraphTiming {
  var elapsed = Elapsed()
  var makespan: UInt64 = 0
}

/// The data that flows along the edges. Each task writes a word of its own that names the task and the run. Each
/// consumer checks the words of all its inputs, so that a task that starts too early is found.
final class GraphData: @unchecked Sendable {
  // A task's word and rounds are accessed by the task alone until the task finishes, and only read by the tasks that
  // depend on it.
  private let words: UnsafeMutablePointer<UInt64>
  private let rounds: UnsafeMutablePointer<Int>
  private let graph: TaskGraph
  private let spin: Spin
  let inputs: Adjacency
  private let wrong = Atomic<Int>(0)
  private var run: UInt64 = 0

  init(_ graph: TaskGraph, spin: Spin) {
    self.graph = graph
    self.spin = spin
    inputs = Adjacency(graph.inputs)
    rounds = .allocate(capacity: graph.count)
    rounds.initialize(repeating: 0, count: graph.count)
    words = .allocate(capacity: graph.count)
    words.initialize(repeating: 0, count: graph.count)
    scale(by: 1)
  }

  deinit {
    words.deallocate()
    rounds.deallocate()
  }

  private func word(_ task: Int) -> UInt64 { run << 32 | UInt64(task) }

  func begin() { run += 1 }

  /// Gives every task `factor` times its work, from the next run on.
  func scale(by factor: Double) {
    for (task, nanoseconds) in graph.nanoseconds.enumerated() {
      rounds[task] = spin.rounds(nanoseconds: nanoseconds * factor)
    }
  }

  /// The body of a task.
  func execute(_ task: Int) {
    for input in inputs[task] where words[input] != word(input) { wrong.wrappingAdd(1, ordering: .relaxed) }
    if words[task] == word(task) { wrong.wrappingAdd(1, ordering: .relaxed) }
    Spin.run(rounds: rounds[task])
    words[task] = word(task)
  }

  func check() throws {
    let incomplete = (0..<inputs.count).count { words[$0] != word($0) }
    let errors = wrong.load(ordering: .relaxed)
    guard incomplete == 0, errors == 0 else {
      throw CheckFailed(
        "\(incomplete) of \(inputs.count) tasks did not run, and \(errors) ran twice or before an input")
    }
  }
}

/// How an operation of a graph gets its dependencies: the parameter `dependencies`.
enum GraphDependencies: String {
  /// One call for each. Also without the parameter.
  case calls
  /// When the operation is made.
  case initializer
  /// When the operation is made and added to the queue, in one call. The graph begins while it is made.
  case adding

  static let key = "dependencies"

  init(_ parameters: Parameters) { self = parameters[Self.key].flatMap(Self.init(rawValue:)) ?? .calls }
}

/// Runs a graph as operations with dependencies.
final class LinkedOperations<S: OperationSubject> {
  private let graph: TaskGraph
  private let data: GraphData
  private let subject: S
  private let way: GraphDependencies
  private var items: [S.Item] = []
  /// The objects of `items`. Reading one of them here counts no reference.
  private let known: UnsafeMutablePointer<Unmanaged<S.Item>>

  init(_ graph: TaskGraph, _ setting: Setting) {
    self.graph = graph
    data = GraphData(graph, spin: setting.spin)
    subject = S(workers: setting.workers)
    way = GraphDependencies(setting.parameters)
    items.reserveCapacity(graph.count)
    known = .allocate(capacity: graph.count)
  }

  deinit { known.deallocate() }

  /// Gives every task `factor` times the work of the graph.
  func scale(by factor: Double) { data.scale(by: factor) }

  func run(_ timing: inout GraphTiming) throws {
    let inputs = data.inputs
    // The bodies count no reference, because that is no cost of a subject. This object keeps the data.
    let bodies = Unmanaged.passUnretained(data)
    // The array belongs to this function during the run, so that no exclusivity check is made on access.
    var items = exchange(&items, with: [])
    data.begin()
    let start = Counters.read()
    var added = way == .adding ? Clock.now() : 0
    let (known, way) = (known, way)
    for task in 0..<inputs.count {
      let item: S.Item
      switch way {
      case .calls:
        item = S.makeOperation { bodies._withUnsafeGuaranteedRef { $0.execute(task) } }
        for input in inputs[task] { known[input]._withUnsafeGuaranteedRef { S.addDependency(of: item, on: $0) } }
      case .initializer:
        item = S.makeOperation(after: inputs[task].lazy.map { known[$0].takeUnretainedValue() }) {
          bodies._withUnsafeGuaranteedRef { $0.execute(task) }
        }
      case .adding:
        item = subject.add(after: inputs[task].lazy.map { known[$0].takeUnretainedValue() }) {
          bodies._withUnsafeGuaranteedRef { $0.execute(task) }
        }
      }
      (known + task).initialize(to: Unmanaged.passUnretained(item))
      items.append(item)
    }
    if way != .adding {
      added = Clock.now()
      subject.add(contentsOf: items)
    }
    items.removeAll(keepingCapacity: true)
    subject.drain()
    timing.makespan += Clock.now() - added
    self.items = items
    timing.elapsed.add(since: start)
    try data.check()
    try checkEmpty(subject.remaining)
  }
}

/// Runs a graph that the subject keeps. The body of a task is as in the other ways.
final class KeptGraph<S: ClosureSubject> {
  private let shape: RecordedShape
  private let data: GraphData
  private let subject: S
  /// Nil where each run makes the graph anew.
  private let kept: (() -> Void)?

  init(_ graph: TaskGraph, _ setting: Setting, order: GraphOrder = .added, isKept: Bool = true) {
    shape = RecordedShape(inputs: graph.inputs, costs: graph.nanoseconds, order: order)
    data = GraphData(graph, spin: setting.spin)
    subject = S(workers: setting.workers)
    kept = isKept ? subject.record(shape, Self.body(data)) : nil
  }

  /// Gives every task `factor` times the work of the graph.
  func scale(by factor: Double) { data.scale(by: factor) }

  /// The body counts no reference, because that is no cost of a subject. This object keeps the data.
  private static func body(_ data: GraphData) -> @Sendable (Int) -> Void {
    let data = Unmanaged.passUnretained(data)
    return { task in data._withUnsafeGuaranteedRef { $0.execute(task) } }
  }

  private func time(_ run: () -> Void) -> UInt64 {
    let began = Clock.now()
    run()
    return Clock.now() - began
  }

  /// The graph is freed when this returns.
  @inline(never)
  private func makeAndRun(_ timing: inout GraphTiming) {
    timing.makespan += time(subject.record(shape, Self.body(data)))
  }

  func run(_ timing: inout GraphTiming) throws {
    data.begin()
    let start = Counters.read()
    if let kept { timing.makespan += time(kept) } else { makeAndRun(&timing) }
    timing.elapsed.add(since: start)
    try data.check()
  }
}

/// Runs a graph on a subject that has only closures, as a user would by hand: each task has a count of unfinished
/// inputs, and the input that brings the count to zero submits the task.
final class ClosureGraph<S: ClosureSubject>: @unchecked Sendable {
  // `unfinished` and `waiting` are atomic. The other properties do not change after `init`.
  private let graph: TaskGraph
  private let data: GraphData
  private let dependents: Adjacency
  private let sources: [Int]
  private let subject: S
  private let waiting: UnsafeMutablePointer<Atomic<Int>>
  private let unfinished = Atomic<Int>(0)
  private let done = DispatchSemaphore(value: 0)

  init(_ graph: TaskGraph, _ setting: Setting) {
    self.graph = graph
    data = GraphData(graph, spin: setting.spin)
    dependents = Adjacency(graph.dependents)
    sources = (0..<graph.count).filter { graph.inputs[$0].isEmpty }
    subject = S(workers: setting.workers)
    waiting = .allocate(capacity: graph.count)
    for task in 0..<graph.count { (waiting + task).initialize(to: Atomic(0)) }
  }

  deinit {
    waiting.deinitialize(count: graph.count)
    waiting.deallocate()
  }

  /// Gives every task `factor` times the work of the graph.
  func scale(by factor: Double) { data.scale(by: factor) }

  func run(_ timing: inout GraphTiming) throws {
    data.begin()
    let start = Counters.read()
    unfinished.store(graph.count, ordering: .relaxed)
    for task in 0..<graph.count { waiting[task].store(data.inputs[task].count, ordering: .relaxed) }
    let added = Clock.now()
    for task in sources { submit(task) }
    done.wait()
    timing.makespan += Clock.now() - added
    subject.drain()
    timing.elapsed.add(since: start)
    try data.check()
  }

  /// The body counts no reference, because that is no cost of a subject. `run` keeps this object.
  @inline(__always)
  private func submit(_ task: Int) {
    let graph = Unmanaged.passUnretained(self)
    subject.submit { graph._withUnsafeGuaranteedRef { $0.execute(task) } }
  }

  private func execute(_ task: Int) {
    data.execute(task)
    for dependent in dependents[task]
    where waiting[dependent].wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
      submit(dependent)
    }
    if unfinished.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done.signal() }
  }
}
