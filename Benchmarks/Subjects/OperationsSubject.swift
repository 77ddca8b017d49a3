import HarnessWords
import OperationBackends

/// This library's operation queue on one of its backends. Only this file and `FoundationSubject` know an operation API,
/// so that no benchmark can treat the two differently.
public final class OperationsSubject<Choice: BackendChoice>: OperationSubject {
  public static var name: String { Choice.name }
  public static var summary: String { Choice.summary }
  public static var role: SubjectRole { Choice.role }
  public static var workersAreAdjustable: Bool { true }

  @usableFromInline let queue: OperationQueue

  /// A private backend, so that the work of other queues in the process is not measured.
  public init(workers: Int) {
    queue = OperationQueue(backend: Choice.makeBackend(workers: workers, fairnessInterval: Fairness.defaultInterval))
  }

  public init(workers: Int, fairnessInterval: Int) {
    queue = OperationQueue(backend: Choice.makeBackend(workers: workers, fairnessInterval: fairnessInterval))
  }

  public static var abilities: Abilities {
    [
      .threads, .cancellation, .operations, .barriers, .suspension, .fairness, .millions, .queues, .forks, .loops,
      .collections, .tasks, .hops, .limits, .dependenciesAtOnce, .recordedGraphs, .following,
    ]
  }

  private init(_ queue: OperationQueue) { self.queue = queue }

  public static func queues(_ count: Int, workers: Int) -> [OperationsSubject] {
    let first = OperationsSubject(workers: workers)
    let backend = first.queue.backend
    return [first] + (1..<max(1, count)).map { _ in OperationsSubject(OperationQueue(backend: backend)) }
  }

  @inlinable
  public func submit(_ body: @escaping @Sendable () -> Void) {
    Choice.beforeEach()
    queue.addOperation(body)
  }

  @inlinable public func drain() { queue.waitUntilAllOperationsAreFinished() }

  @inlinable
  public func forkFromOutside(_ first: @Sendable () -> Int, _ second: @Sendable () -> Int) -> (Int, Int) {
    queue.backend.run { join(first, second) }
  }

  /// Inside of an operation the backend of the operation helps.
  @inlinable @inline(__always)
  public static func fork<Value: Sendable, Failure: Error>(
    _ first: @Sendable () throws(Failure) -> Value, _ second: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> (Value, Value) {
    try join(first, second)
  }

  public func record(_ shape: RecordedShape, _ body: @escaping @Sendable (Int) -> Void) -> () -> Void {
    let graph = OperationGraph(order: shape.order) { graph in
      var nodes: [GraphNode<Void>] = []
      nodes.reserveCapacity(shape.inputs.count)
      for (task, inputs) in shape.inputs.enumerated() {
        nodes.append(graph.add(cost: shape.costs[task], after: inputs.lazy.map { nodes[$0] }) { body(task) })
      }
    }
    let backend = queue.backend
    return {
      do { try backend.run { try graph.run() } } catch { preconditionFailure("a graph without errors threw \(error)") }
    }
  }

  // Always inlined: the compiler makes the body of a loop a part of the loop, as the compilers of the peers do.
  @inlinable @inline(__always)
  public func perform(_ count: Int, _ body: @Sendable (Int) -> Void) {
    queue.backend.run { concurrentPerform(iterations: count) { body($0) } }
  }

  @inlinable @inline(__always)
  public func map(_ elements: [UInt64], _ transform: @Sendable (UInt64) -> UInt64) -> [UInt64] {
    // As `run` does, but without a closure around the loop: the compiler would not know any more what `transform` is.
    let scope = ForkScope(on: queue.backend)
    defer { scope?.end() }
    return elements.concurrentMap { transform($0) }
  }

  @inlinable public func sort(_ elements: inout [UInt64]) { queue.backend.run { elements.concurrentSort() } }

  public var taskExecutor: (any TaskExecutor)? { queue.backend.taskExecutor }
  public func makeActorExecutor() -> (any SerialExecutor)? { queue.backend.serialExecutor() }

  public func submitTask(_ body: @escaping @Sendable () async -> Void) {
    Choice.beforeEach()
    queue.addTask(body)
  }

  /// An operation for each body. The operations are awaited one after the other.
  public func runTasks(_ count: Int, limit: Int?, _ body: @escaping @Sendable (Int) async -> Void) async {
    let most = limit ?? OperationQueue.defaultMaxConcurrentOperationCount
    // Set once, and not in every round that is timed.
    if queue.maxConcurrentOperationCount != most { queue.maxConcurrentOperationCount = most }
    let operations = (0..<count).map { index in
      Choice.beforeEach()
      return queue.addTask { await body(index) }
    }
    for operation in operations { await operation.finished() }
  }

  public func runCancelled(
    _ count: Int, _ body: @escaping @Sendable (Int) async -> Void, whenBegun: @escaping @Sendable () async -> Void
  ) async {
    let operations = (0..<count).map { index in
      Choice.beforeEach()
      return queue.addTask { await body(index) }
    }
    await whenBegun()
    queue.cancelAllOperations()
    for operation in operations { await operation.finished() }
  }

  public func setPlaces(_ limit: Int, lessUrgent: Int) {
    queue.maxConcurrentOperationCount = limit
    queue.limits[below: .normal] = lessUrgent
  }

  public func submitTask(isUrgent: Bool, _ body: @escaping @Sendable () async -> Void) {
    Choice.beforeEach()
    queue.addTask(priority: isUrgent ? .normal : .low, body)
  }

  /// An operation that passes itself to its body.
  public final class Cancellable: Operation, @unchecked Sendable {
    // `body` is immutable, so sharing the operation is safe.
    private let body: @Sendable (Cancellable) -> Void

    init(_ body: @escaping @Sendable (Cancellable) -> Void) {
      self.body = body
      super.init()
    }

    public override func main() { body(self) }
  }

  public func submitCancellable(_ body: @escaping @Sendable (Cancellable) -> Void) -> Cancellable {
    Choice.beforeEach()
    let operation = Cancellable(body)
    queue.addOperation(operation)
    return operation
  }

  @inlinable public static func cancel(_ work: Cancellable) { work.cancel() }
  @inlinable public static func isCancelled(_ work: Cancellable) -> Bool { work.isCancelled }

  @inlinable
  public static func makeOperation(_ body: @escaping @Sendable () -> Void) -> Operation {
    Choice.beforeEach()
    return BlockOperation(block: body)
  }

  @inlinable
  public static func makeOperation(
    after dependencies: some Sequence<Operation>, _ body: @escaping @Sendable () -> Void
  ) -> Operation {
    Choice.beforeEach()
    return BlockOperation(dependencies: dependencies, block: body)
  }

  @inlinable
  public static func setPriority(_ level: PriorityLevel, of item: Operation) {
    switch level {
    case .veryLow: item.queuePriority = .veryLow
    case .low: item.queuePriority = .low
    case .normal: item.queuePriority = .normal
    case .high: item.queuePriority = .high
    case .veryHigh: item.queuePriority = .veryHigh
    }
  }

  @inlinable
  public static func addDependency(of item: Operation, on dependency: Operation) {
    item.addDependency(dependency)
  }

  @inlinable
  public static func setCompletion(_ block: consuming @escaping @Sendable () -> Void, of item: Operation) {
    item.completionBlock = consume block
  }

  @inlinable public static func isExecuting(_ item: Operation) -> Bool { item.isExecuting }
  @inlinable public static func isFinished(_ item: Operation) -> Bool { item.isFinished }
  @inlinable public static func isCancelled(_ item: Operation) -> Bool { item.isCancelled }
  @inlinable public static func cancel(_ item: Operation) { item.cancel() }
  @inlinable public static func start(_ item: Operation) { item.start() }
  @inlinable public static func wait(for item: Operation) { item.waitUntilFinished() }
  @inlinable public func add(_ item: Operation) { queue.addOperation(item) }

  @inlinable
  public func add(after dependencies: some Sequence<Operation>, _ body: @escaping @Sendable () -> Void) -> Operation {
    Choice.beforeEach()
    return queue.addOperation(dependencies: dependencies, body)
  }

  @inlinable
  public func add(contentsOf items: [Operation]) { queue.addOperations(items, waitUntilFinished: false) }

  @inlinable public func submitBarrier(_ body: @escaping @Sendable () -> Void) { queue.addBarrierBlock(body) }
  @inlinable public func cancelAll() { queue.cancelAllOperations() }
  @inlinable public func setLimit(_ count: Int) { queue.maxConcurrentOperationCount = count }
  @inlinable public func setSuspended(_ suspended: Bool) { queue.isSuspended = suspended }
  @inlinable public var remaining: Int { queue.operationCount }
}
