// These assertions hold for Foundation's classes and for ours: what Foundation does right must stay as it is.
import TestSupport
import Testing

#if FOUNDATION_OPERATIONS
  import Foundation
#else
  import Operations
#endif

/// Compiled against Foundation, the tests also run on it only when asked: its queue corrupts memory in some of them,
/// which would take every other test of the process along.
#if FOUNDATION_OPERATIONS
  let runsBehaviour = getenv("OPBENCH_TEST_FOUNDATION") != nil
#else
  let runsBehaviour = true
#endif

@Suite("A source file written for Foundation", .enabled(if: runsBehaviour))
struct BehaviourTests {
  private func drain(_ queue: OperationQueue, _ what: String = "the queue to drain") throws {
    try inTime(what) { queue.waitUntilAllOperationsAreFinished() }
  }

  @Test("start() runs main() on the caller; a second one does nothing; a cancelled one is skipped")
  func start() {
    let thread = EventLog<UInt>()
    let operation = BlockOperation { thread.append(currentThread()) }
    #expect(operation.isReady && !operation.isExecuting && !operation.isFinished && !operation.isAsynchronous)
    operation.start()
    operation.start()
    #expect(thread.events == [currentThread()] && operation.isFinished)
    let cancelled = BlockOperation { thread.append(0) }
    cancelled.cancel()
    #expect(cancelled.isCancelled && !cancelled.isFinished)
    cancelled.start()
    #expect(cancelled.isFinished && thread.count == 1)
  }

  @Test("the hand-written asynchronous base class, by key string")
  func asynchronousByString() throws {
    let queue = OperationQueue()
    for limit in [1, OperationQueue.defaultMaxConcurrentOperationCount] {
      queue.maxConcurrentOperationCount = limit
      let downloads = (0..<20).map { DownloadOperation("page \($0)") }
      for (earlier, later) in zip(downloads, downloads.dropFirst()) { later.addDependency(earlier) }
      queue.addOperations(downloads, waitUntilFinished: false)
      try drain(queue, "20 downloads")
      #expect(downloads.allSatisfy { $0.isFinished && !$0.isExecuting && $0.contents != nil })
    }
  }

  @Test("the hand-written asynchronous class, by key path")
  func asynchronousByKeyPath() throws {
    let queue = OperationQueue()
    let operations = (0..<20).map { _ in KeyPathOperation() }
    queue.addOperations(operations, waitUntilFinished: false)
    try drain(queue, "20 asynchronous operations")
    #expect(operations.allSatisfy { $0.isFinished })
  }

  @Test("two downloads and a step that composes them")
  func compose() throws {
    var pipeline = Pipeline()
    let (left, right) = (DownloadOperation("left"), DownloadOperation("right"))
    let result = EventLog<String>()
    let compose = BlockOperation { result.append("\(left.contents ?? "") and \(right.contents ?? "")") }
    pipeline.enqueue(compose, after: left, right)
    pipeline.enqueue(left)
    pipeline.enqueue(right)
    try drain(pipeline.queue)
    #expect(result.events == ["contents of left and contents of right"])
    #expect(pipeline.seen.count == 3 && pipeline.pending.count == 3)
  }

  @Test("everything overridden")
  func overrides() throws {
    let queue = OperationQueue()
    let dependency = BlockOperation {}
    let operation = EverythingOverridden()
    operation.addDependency(dependency)
    dependency.start()
    operation.removeDependency(dependency)
    let completed = Gate()
    operation.completionBlock = { completed.open() }
    operation.name = "named"
    #expect(operation.queuePriority == .high && operation.qualityOfService == .userInitiated)
    #expect(operation.name == "named")
    queue.addOperation(operation)
    try drain(queue)
    try completed.wait("the completion block")
    operation.cancel()
    #expect(operation.calls == ["addDependency", "removeDependency", "start", "main", "cancel"])
  }

  @Test("completion blocks run after the end, of cancelled operations too")
  func completionBlocks() throws {
    let queue = OperationQueue()
    let log = EventLog<Bool>()
    let operation = BlockOperation {}
    operation.completionBlock = { log.append(operation.isFinished) }
    let cancelled = BlockOperation {}
    cancelled.completionBlock = { log.append(cancelled.isFinished && cancelled.isCancelled) }
    cancelled.cancel()
    queue.addOperation(operation)
    queue.addOperation(cancelled)
    try log.wait(count: 2, "the completion blocks")
    #expect(log.events == [true, true])
  }

  @Test("suspension, priorities and one operation at a time")
  func priorities() throws {
    let queue = ImageQueue(suspended: true)
    let log = EventLog<String>()
    let priorities: [(String, Operation.QueuePriority)] = [
      ("very low", .veryLow), ("normal", .normal), ("very high", .veryHigh), ("low", .low), ("high", .high),
    ]
    for (name, priority) in priorities {
      let operation = BlockOperation { log.append(name) }
      operation.queuePriority = priority
      queue.addOperation(operation)
    }
    giveOthersAChance()
    #expect(log.events == [] && queue.operationCount == 5 && queue.operations.count == 5)
    queue.isSuspended = false
    try drain(queue)
    #expect(log.events == ["very high", "high", "normal", "low", "very low"])
    #expect(queue.name == "images" && queue.maxConcurrentOperationCount == 1 && queue.qualityOfService == .utility)
  }

  @Test("a queue subclass sees its calls; blocks go through addOperation")
  func queueSubclass() throws {
    let queue = ImageQueue()
    queue.addOperation {}
    queue.addOperations([BlockOperation {}], waitUntilFinished: false)
    queue.addBarrierBlock {}
    queue.cancelAllOperations()
    try drain(queue)
    #expect(queue.calls == ["block", "operation", "operations", "barrier", "cancel", "wait"])
  }

  @Test("cancelling one and all; dependents of a cancelled operation run")
  func cancelling() throws {
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    let (started, release) = (Gate(), Gate())
    let running = BlockOperation {
      started.open()
      release.pass()
    }
    let ran = Counter()
    let cancelled = BlockOperation { ran.increment() }
    let dependent = BlockOperation { ran.increment() }
    dependent.addDependency(cancelled)
    queue.addOperations([running, cancelled, dependent], waitUntilFinished: false)
    try started.wait("the first operation")
    cancelled.cancel()
    release.open()
    try drain(queue)
    #expect(ran.value == 1 && cancelled.isFinished)
    queue.isSuspended = true
    let all = (0..<10).map { _ in BlockOperation { ran.increment() } }
    queue.addOperations(all, waitUntilFinished: false)
    queue.cancelAllOperations()
    queue.isSuspended = false
    try drain(queue)
    #expect(ran.value == 1 && all.allSatisfy { $0.isCancelled && $0.isFinished })
  }

  @Test("several blocks in one operation, a waiting batch and a barrier")
  func blocksAndBarriers() throws {
    let queue = OperationQueue()
    let log = EventLog<Int>()
    let several = CountingBlockOperation(block: { log.append(1) })
    several.addExecutionBlock { log.append(2) }
    several.addExecutionBlock { log.append(3) }
    #expect(several.executionBlocks.count == 3 && several.added >= 2)
    try inTime("a waiting batch") { queue.addOperations([several], waitUntilFinished: true) }
    #expect(Set(log.events) == [1, 2, 3] && several.isFinished)
    for _ in 0..<10 { queue.addOperation { log.append(4) } }
    queue.addBarrierBlock { log.append(5) }
    for _ in 0..<10 { queue.addOperation { log.append(6) } }
    try drain(queue)
    #expect(log.events[13] == 5 && log.events[3..<13].allSatisfy { $0 == 4 } && log.count == 24)
  }

  @Test("subclasses of BlockOperation inherit its initializer, or declare their own")
  func blockSubclasses() throws {
    let queue = OperationQueue()
    let log = EventLog<Int>()
    let inherited = PlainBlockSubclass { log.append(1) }
    let prefixed = PrefixedBlockOperation { log.append(1) }
    let extended = PlainBlockSubclass(times: 2) { log.append(1) }
    let made = [{ @Sendable in log.append(1) }].map(BlockOperation.init(block:))
    let all: [Operation] = [inherited, prefixed, extended, BlockOperation(times: 2) { log.append(1) }] + made
    #expect(type(of: inherited) == PlainBlockSubclass.self && type(of: extended) == PlainBlockSubclass.self)
    #expect(type(of: made[0]) == BlockOperation.self && prefixed.prefix == "p")
    #expect(LabelledOperation(label: "page").name == "page")
    try inTime("a waiting batch") { queue.addOperations(all, waitUntilFinished: true) }
    #expect(log.count == 7 && all.allSatisfy(\.isFinished))
  }

  @Test("the current queue, progress, identity and an underlying queue")
  func theRest() throws {
    let queue = OperationQueue()
    let inside = EventLog<Bool>()
    queue.progress.totalUnitCount = 3
    for _ in 0..<3 { queue.addOperation { inside.append(OperationQueue.current === queue) } }
    try drain(queue)
    #expect(inside.events == [true, true, true])
    try eventually("the progress") { queue.progress.completedUnitCount == 3 }
    #expect(queue.progress.fractionCompleted == 1 && queue.progress.isFinished)
    #expect(OperationQueue.main === OperationQueue.main && OperationQueue.main.maxConcurrentOperationCount == 1)
    let (operation, another) = (Operation(), Operation())
    #expect(operation == operation && operation != another && Set([operation, another, operation]).count == 2)
    let serial = DispatchQueue(label: "serial")
    queue.underlyingQueue = serial
    #expect(queue.underlyingQueue === serial)
    queue.addOperation { dispatchPrecondition(condition: .onQueue(serial)) }
    try drain(queue)
  }
}
