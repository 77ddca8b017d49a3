import OperationForks
import Primitives
import Synchronization

/// Adds the nodes of a graph: see ``OperationGraph``.
///
/// A node comes after nodes that exist. So a graph has no cycles, and needs no check for them.
public struct GraphBuilder: ~Copyable {
  /// The nodes so far.
  public var count: Int { steps.count }

  var steps = GraphSteps()
  /// The nodes that come before each node, the first node's first.
  var predecessors: [UInt32] = []
  var names: [UInt32: String] = [:]
  /// The asynchronous bodies.
  var tasks: [UInt32: GraphTaskBody] = [:]
  /// The costs that were given, up to the last one.
  var costs: [Float] = []
  /// Values that have something to release.
  var droppable: [GraphDrop] = []
  var valueBytes = 0
  var valueAlignment = 16
  @usableFromInline let number = Self.numbers.wrappingAdd(1, ordering: .relaxed).newValue

  private static let numbers = Atomic<UInt32>(0)

  /// Adds a node.
  ///
  /// ```swift
  /// let graph = OperationGraph(of: Int.self) { graph in
  ///   let numbers = graph.add { Array(1...10) }
  ///   let sum = graph.add(numbers) { numbers in numbers.reduce(0, +) }
  ///   return graph.add(numbers, sum) { numbers, sum in sum / numbers.count }
  /// }
  /// ```
  ///
  /// O(1) and O(nodes before it). Traps when a node is of another graph, and when a cost is negative or not finite.
  ///
  /// - Parameters:
  ///   - inputs: nodes whose values the body gets.
  ///   - name: for traces and for diagnosis.
  ///   - cost: how long the body takes, in any unit that is the same for all nodes; 1 if not given. Counts for
  ///     `GraphOrder.criticalPath`.
  ///   - others: nodes that come before, without their values.
  ///   - body: runs once in each run.
  /// - Returns: the node, for what comes after it.
  @inlinable
  @discardableResult
  public mutating func add<each Input: Sendable, Value: Sendable>(
    _ inputs: repeat GraphNode<each Input>, name: String? = nil, cost: Double? = nil,
    after others: [any AnyGraphNode] = [],
    _ body: @escaping @Sendable (repeat each Input) throws -> Value
  ) -> GraphNode<Value> {
    for input in repeat each inputs { come(after: input.withoutValue) }
    let offset = makePlace(for: Value.self)
    let nodes = (repeat each inputs)
    let index = append(
      { values in values.write(try body(repeat values.read(each nodes)), at: offset) }, name: name, cost: cost,
      after: others)
    return GraphNode(index: index, offset: offset, graph: number)
  }

  /// Adds a node behind nodes of one type, which may be many: no list of them is made.
  ///
  /// Everything else is as for ``add(_:name:cost:after:_:)``.
  @inlinable
  @discardableResult
  public mutating func add<each Input: Sendable, Value: Sendable, Others: Sequence, Other>(
    _ inputs: repeat GraphNode<each Input>, name: String? = nil, cost: Double? = nil, after others: Others,
    _ body: @escaping @Sendable (repeat each Input) throws -> Value
  ) -> GraphNode<Value> where Others.Element == GraphNode<Other> {
    for other in others { come(after: other.withoutValue) }
    return add(repeat each inputs, name: name, cost: cost, body)
  }

  /// Adds a node with an asynchronous body, which runs as a task on the backend of the run.
  ///
  /// The name is that of `OperationQueue.addTask`. Everything else is as for ``add(_:name:cost:after:_:)``. Cancelling
  /// the run cancels the task.
  @inlinable
  @discardableResult
  public mutating func addTask<each Input: Sendable, Value: Sendable>(
    _ inputs: repeat GraphNode<each Input>, name: String? = nil, cost: Double? = nil,
    after others: [any AnyGraphNode] = [],
    _ body: @escaping @Sendable (repeat each Input) async throws -> Value
  ) -> GraphNode<Value> {
    for input in repeat each inputs { come(after: input.withoutValue) }
    let offset = makePlace(for: Value.self)
    let nodes = (repeat each inputs)
    let index = appendTask(
      { values in values.write(try await body(repeat values.read(each nodes)), at: offset) }, name: name, cost: cost,
      after: others)
    return GraphNode(index: index, offset: offset, graph: number)
  }

  /// The next node that is added comes after this one.
  @usableFromInline
  mutating func come(after node: GraphNode<Void>) {
    if node.graph != number { forkMisuse("a node of another graph cannot come before one of this graph") }
    predecessors.append(node.index)
  }

  /// A place for the value of the next node.
  @usableFromInline
  mutating func makePlace<Value>(for type: Value.Type) -> UInt32 {
    let alignment = MemoryLayout<Value>.alignment
    if MemoryLayout<Value>.size == 0 { return 0 }
    valueAlignment = max(valueAlignment, alignment)
    let offset = (valueBytes + alignment - 1) & ~(alignment - 1)
    valueBytes = offset + MemoryLayout<Value>.size
    guard let place = UInt32(exactly: offset) else {
      forkMisuse("the values of a graph take more than 4 GiB")
    }
    if !_isPOD(type) {
      droppable.append(
        GraphDrop(node: UInt32(steps.count), place: place) { values, place in
          values.place(place, of: Value.self).deinitialize(count: 1)
        })
    }
    return place
  }

  @usableFromInline
  mutating func appendTask(
    _ body: @escaping GraphTaskBody, name: String?, cost: Double?, after others: [any AnyGraphNode]
  ) -> UInt32 {
    tasks[UInt32(steps.count)] = body
    return append({ _ in }, name: name, cost: cost, after: others)
  }

  @usableFromInline
  mutating func append(_ body: @escaping GraphBody, name: String?, cost: Double?, after others: [any AnyGraphNode])
    -> UInt32
  {
    for other in others { come(after: other.withoutValue) }
    guard steps.count < Int(GraphStep.mostNodes), predecessors.count < Int(UInt32.max) else {
      forkMisuse("a graph has at most \(GraphStep.mostNodes) nodes and \(UInt32.max) edges")
    }
    let index = UInt32(steps.count)
    if let name { names[index] = name }
    if let cost {
      if !cost.isFinite || cost < 0 {
        let culprit = name.map { "node \"\($0)\"" } ?? "node \(index)"
        forkMisuse("\(culprit) of a graph costs \(cost): a cost is a finite number that is not negative")
      }
      while costs.count < steps.count { costs.append(1) }
      costs.append(Float(cost))
    }
    let before = UInt32(predecessors.count) - (index == 0 ? 0 : steps.pointer[Int(index) - 1].end)
    let task = tasks[index] == nil ? 0 : GraphStep.isTask
    steps.append(GraphStep(body: body, before: before | task, end: UInt32(predecessors.count)))
    return index
  }
}

/// A value that has something to release.
struct GraphDrop: Sendable {
  let node: UInt32
  let place: UInt32
  private let release: @Sendable (GraphValues, UInt32) -> Void

  init(node: UInt32, place: UInt32, _ release: @escaping @Sendable (GraphValues, UInt32) -> Void) {
    (self.node, self.place, self.release) = (node, place, release)
  }

  func drop(in values: GraphValues) { release(values, place) }
}

/// What a graph keeps of a node: 24 bytes.
struct GraphStep: Sendable {
  /// Called in its place (`cplatform_call`), so the first member.
  let body: GraphBody
  /// The number of edges that lead to the node, and whether its body is asynchronous.
  let before: UInt32
  /// While the graph is built: the end of the node's part of the list of predecessors. Then: of the list of successors.
  var end: UInt32

  static let mostNodes: UInt32 = 1 << 29
  static let isTask: UInt32 = 1 << 29

  var predecessors: UInt32 { before & (Self.isTask - 1) }
  var isTask: Bool { before & Self.isTask != 0 }
}

/// The steps of a graph, in memory that the builder hands over to the plan.
struct GraphSteps: ~Copyable, @unchecked Sendable {
  // Sendable: has one owner, and changes no more in a plan.

  private(set) var pointer = UnsafeMutablePointer<GraphStep>.allocate(capacity: 16)
  private(set) var count = 0
  private var capacity = 16

  mutating func append(_ step: GraphStep) {
    if count == capacity {
      capacity *= 2
      let larger = UnsafeMutablePointer<GraphStep>.allocate(capacity: capacity)
      larger.moveInitialize(from: pointer, count: count)
      pointer.deallocate()
      pointer = larger
    }
    (pointer + count).initialize(to: step)
    count += 1
  }

  deinit {
    pointer.deinitialize(count: count)
    pointer.deallocate()
  }
}
