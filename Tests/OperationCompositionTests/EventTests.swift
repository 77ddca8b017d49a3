import DeterministicOperations
import OperationComposition
import Operations
import Synchronization
import TestSupport
import Testing

@Suite("Events")
struct EventTests {
  struct Log: OperationObserver {
    let lines = EventLog<String>()
    let events = EventLog<OperationEvent>()

    func received(_ event: OperationEvent) {
      events.append(event)
      lines.append("\(event.operation.name ?? "-") \(event.kind)")
    }
  }

  @Test("the events of an operation come in their order", arguments: allBackends)
  func order(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, blocks: true) { backend in
      let (log, second) = (Log(), Log())
      let queue = ObservedOperationQueue(backend: backend, observers: [log, second])
      queue.maxConcurrentOperationCount = 1
      let task = queue.addTask(name: "task") { 1 }
      await task.finished()
      try log.lines.wait(count: 3, "the events")
      let block = BlockOperation {}
      block.name = "block"
      queue.addOperation(block)
      await queue.drained()
      try log.lines.wait(count: 6, "the events")
      queue.isSuspended = true
      let cancelled = queue.addTask(name: "cancelled") {}
      cancelled.cancel()
      queue.isSuspended = false
      // The finish is told behind the end of a wait, perhaps.
      try log.lines.wait(count: 9, "the events")
      queue.addOperation {}
      await queue.drained()
      try log.lines.wait(count: 12, "the events")
      #expect(
        log.lines.events == [
          "task added", "task started", "task finished", "block added", "block started", "block finished",
          "cancelled added", "cancelled cancelled", "cancelled finished", "- added", "- started", "- finished",
        ])
      try second.lines.wait(count: 12, "the events")
      // Events of one operation may come while those of another one are told.
      #expect(second.lines.events.sorted() == log.lines.events.sorted())
      for event in log.events.events {
        #expect(event.queue === queue)
        #expect((event.waited == nil) == (event.kind == .added || event.kind == .cancelled))
        #expect((event.ran == nil) == (event.kind != .finished || event.operation.isCancelled))
      }
    }
  }

  private struct Refused: Error {}

  @Test("an operation that failed is told of as failed", arguments: allBackends)
  func outcomes(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, blocks: true) { backend in
      let log = Log()
      let queue = ObservedOperationQueue(backend: backend, observers: [log])
      queue.maxConcurrentOperationCount = 1
      queue.addTask(name: "throws") { () async throws -> Int in throw Refused() }
      queue.addOperation(
        InvocationOperation(target: 1, method: { (_: Int) in { () throws -> Int in throw Refused() } }))
      queue.addTask(name: "returns") { 1 }
      let (began, mayEnd) = (AsyncGate(), AsyncGate())
      let stopped = queue.addTask(name: "stopped") { () async throws -> Void in
        began.open()
        await mayEnd.pass()
        try Task.checkCancellation()
      }
      queue.addOperation {}
      await began.pass()
      stopped.cancel()
      mayEnd.open()
      await queue.drained()
      try log.lines.wait(count: 16, "the events")
      // Events of one operation may come while those of another one are told.
      let outcomes = log.events.events.filter { $0.kind == .finished }.map { event in
        switch event.outcome {
        case .failed(let error): "\(event.operation.name ?? "-") failed \(error is Refused)"
        case .cancelled: "\(event.operation.name ?? "-") cancelled"
        case .succeeded: "\(event.operation.name ?? "-") succeeded"
        case nil: "none"
        }
      }
      #expect(
        outcomes.sorted() == [
          "- failed true", "- succeeded", "returns succeeded", "stopped cancelled", "throws failed true",
        ])
      #expect(log.events.events.allSatisfy { ($0.outcome == nil) == ($0.kind != .finished) })
    }
  }

  /// Posts each change while it holds the lock that its properties take.
  private final class PostsUnderALock: Operation, @unchecked Sendable {
    // Sendable: the flags are touched under the lock, and by the thread that holds it.
    private let lock = OwnLock()
    private var (executing, finished) = (false, false)

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.read { executing } }
    override var isFinished: Bool { lock.read { finished } }

    override func start() {
      change("isExecuting") { executing = true }
      change("isExecuting") { executing = false }
      change("isFinished") { finished = true }
    }

    private func change(_ key: String, _ body: () -> Void) {
      lock.hold {
        willChangeValue(forKey: key)
        body()
        didChangeValue(forKey: key)
      }
    }
  }

  /// A lock that ends the test in the place of a deadlock.
  private final class OwnLock: Sendable {
    private let owner = Mutex<UInt>(0)

    func hold(_ body: () -> Void) {
      owner.withLock { $0 = currentThread() }
      body()
      owner.withLock { $0 = 0 }
    }

    func read<Value>(_ body: () -> Value) -> Value {
      if owner.withLock({ $0 }) == currentThread() { Issue.record("a property was read under the lock of a change") }
      return body()
    }
  }

  @Test("an operation that posts under a lock of its own is followed, and none of its properties is read there")
  func postsUnderALock() throws {
    let log = Log()
    let queue = ObservedOperationQueue(backend: TestBackend.stealing.leftRunning(), observers: [log])
    queue.addOperation(PostsUnderALock())
    try log.lines.wait(count: 3, "the events")
    #expect(log.lines.events == ["- added", "- started", "- finished"])
    queue.waitUntilAllOperationsAreFinished()
  }

  @Test("a list of operations, and many of them", arguments: allBackends)
  func many(backend: TestBackend) throws {
    let log = Log()
    let queue = ObservedOperationQueue(backend: backend.leftRunning(), observers: [log])
    queue.addOperations((0..<1000).map { _ in BlockOperation {} }, waitUntilFinished: true)
    try log.lines.wait(count: 3000, "the events")
    #expect(log.events.events.count { $0.kind == .finished && $0.ran != nil } == 1000)
  }

  /// Cancels an operation while being told that it is about to be added.
  private struct CancelsAtOnce: OperationObserver {
    let log: Log

    func received(_ event: OperationEvent) {
      if event.kind == .added { event.operation.cancel() }
      log.received(event)
    }
  }

  @Test("an operation that an observer cancels at its adding is told of once", arguments: allBackends)
  func cancelledAtTheAdding(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, blocks: true) { backend in
      let log = Log()
      let queue = ObservedOperationQueue(backend: backend, observers: [CancelsAtOnce(log: log)])
      queue.addTask(name: "task") {}
      await queue.drained()
      try log.lines.wait(count: 3, "the events")
      #expect(log.lines.events == ["task added", "task cancelled", "task finished"])
      #expect(log.events.events.last?.isCancelled == true)
    }
  }

  /// Is slow with the start, and says whether it was told of two events at once.
  private struct SlowWithTheStart: OperationObserver {
    let log: Log
    let told = Counter()
    let mayGoOn = Counter()
    let atOnce = ConcurrencyMeter()

    func received(_ event: OperationEvent) {
      atOnce.enter()
      if event.kind == .started {
        told.increment()
        try? eventually("the cancellation") { mayGoOn.value > 0 }
      }
      log.received(event)
      atOnce.leave()
    }
  }

  @Test("who is told of the start is told of a cancellation afterwards", arguments: allBackends)
  func oneAfterTheOther(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, blocks: true) { backend in
      let observer = SlowWithTheStart(log: Log())
      let queue = ObservedOperationQueue(backend: backend, observers: [observer])
      let operation = BlockOperation {}
      operation.name = "block"
      queue.addOperation(operation)
      while observer.told.value == 0 { try await Task.sleep(for: .milliseconds(1)) }
      operation.cancel()
      observer.mayGoOn.increment()
      await queue.drained()
      try observer.log.lines.wait(count: 4, "the events")
      #expect(
        observer.log.lines.events == ["block added", "block started", "block cancelled", "block finished"]
          && observer.atOnce.maximum == 1)
    }
  }
}
