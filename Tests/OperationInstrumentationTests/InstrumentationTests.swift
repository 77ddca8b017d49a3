import InMemoryLogging
import InMemoryTracing
import Logging
import MetricsTestKit
import OperationComposition
import OperationInstrumentation
import Operations
import ServiceLifecycle
import ServiceLifecycleTestKit
import TestSupport
import Testing
import Tracing

@Suite("Instrumentation")
struct InstrumentationTests {
  struct Refused: Error {}

  /// Sees every event after the observers before it.
  struct Last: OperationObserver {
    let finished = Counter()
    func received(_ event: OperationEvent) { if event.kind == .finished { finished.increment() } }
  }

  /// Adds an operation that is cancelled before its start, and returns when the queue has told of all operations' ends.
  private func addCancelled(to queue: OperationQueue, _ last: Last, total: Int) async throws {
    queue.isSuspended = true
    queue.addTask {}
    queue.cancelAllOperations()
    queue.isSuspended = false
    await queue.drained()
    try await AsynchronousTest.eventually("the events") { last.finished.value >= total }
  }

  @Test("metrics count and time the operations")
  func metrics() async throws {
    try await AsynchronousTest.run {
      let (metrics, last) = (TestMetrics(), Last())
      let observer = OperationMetrics(label: "uploads", dimensions: [("host", "a")], factory: metrics)
      let queue = ObservedOperationQueue(observers: [observer, last])
      let (began, gate) = (AsyncGate(), AsyncGate())
      queue.maxConcurrentOperationCount = 1
      queue.addTask {
        began.open()
        await gate.pass()
      }
      for _ in 0..<4 { queue.addTask {} }
      queue.addTask { () async throws -> Void in throw Refused() }
      await began.pass()
      let host = ("host", "a")
      @Sendable func gauge(_ name: String) throws -> Double? {
        try metrics.expectMeter("uploads.\(name)", [host]).lastValue
      }
      try await AsynchronousTest.eventually("the gauges") {
        let (waiting, running) = (try? gauge("waiting"), try? gauge("running"))
        return waiting == 5 && running == 1
      }
      #expect(try gauge("workers") == Double(queue.backend.workerCount))
      gate.open()
      await queue.drained()
      try await addCancelled(to: queue, last, total: 7)
      #expect(metrics.counterTotal(label: "uploads.added") == 7)
      for (outcome, count) in [("succeeded", 5), ("failed", 1), ("cancelled", 1)] as [(String, Int64)] {
        #expect(metrics.counterTotal(label: "uploads.finished", dimensions: [host, ("outcome", outcome)]) == count)
      }
      #expect(try gauge("waiting") == 0)
      #expect(try gauge("running") == 0)
      let (waited, ran) = (
        try metrics.expectTimer("uploads.waited", [host]), try metrics.expectTimer("uploads.ran", [host])
      )
      #expect(waited.values.count == 6 && ran.values.count == 6)
      #expect(waited.values.allSatisfy { $0 >= 0 } && ran.values.allSatisfy { $0 >= 0 })
    }
  }

  @Test("a line of log for each operation")
  func log() async throws {
    try await AsynchronousTest.run {
      let (handler, last) = (InMemoryLogHandler(), Last())
      var logger = Logger(label: "uploads") { _ in handler }
      logger.logLevel = .debug
      let queue = ObservedOperationQueue(observers: [OperationLogger(logger, level: .debug), last])
      queue.name = "uploads"
      queue.addTask(name: "first") {}
      // The thread that tells of the start may be late with the end, and then the queue is empty before.
      try await AsynchronousTest.eventually("the events") { last.finished.value >= 1 }
      try await addCancelled(to: queue, last, total: 2)
      queue.addTask(name: "third") { () async throws -> Void in throw Refused() }
      try await AsynchronousTest.eventually("the events") { last.finished.value >= 3 }
      var entries = handler.entries
      let failed = entries.removeLast()
      #expect("\(failed.message)" == "operation failed" && failed.level == .error)
      #expect(failed.metadata["operation"] == "third" && failed.metadata["error"] == "Refused()")
      #expect(entries.map { "\($0.message)" } == ["operation finished", "operation cancelled"])
      #expect(entries.first?.metadata["operation"] == "first" && entries.first?.metadata["queue"] == "uploads")
      #expect(entries.first?.metadata["ran_ns"] != nil && entries.last?.metadata["ran_ns"] == nil)
      #expect(entries.last?.metadata["operation"] == nil && entries.last?.metadata["waited_ns"] != nil)
    }
  }

  @Test("a body runs in a span below the one in which it was added")
  func spans() async throws {
    try await AsynchronousTest.run {
      let (tracer, queue) = (InMemoryTracer(), OperationQueue())
      try await tracer.withSpan("request") { _ in
        let load = queue.addTask(inSpan: "load", tracer: tracer) { 1 }
        let value = try await load.value
        #expect(value == 1 && load.name == "load")
        await #expect(throws: Refused.self) {
          try await queue.addTask(inSpan: "fails", tracer: tracer) { () async throws -> Int in throw Refused() }.value
        }
      }
      let spans = tracer.finishedSpans
      #expect(spans.map(\.operationName) == ["load", "fails", "request"])
      #expect(spans[0].parentSpanID == spans[2].spanID && spans[1].parentSpanID == spans[2].spanID)
      #expect(spans[0].attributes["operation.waited_ns"] != nil)
      #expect(spans[0].errors.isEmpty && spans[1].errors.count == 1)
    }
  }

  @Test("a graceful shutdown waits for the operations, or cancels them", arguments: [false, true])
  func shutdown(cancels: Bool) async throws {
    let (queue, started, gate, ended) = (OperationQueue(), AsyncGate(), AsyncGate(), Counter())
    let seen = Counter()
    queue.addTask {
      started.open()
      await gate.pass()
      if Task.isCancelled { seen.increment() }
      ended.increment()
    }
    let service = OperationQueueService(queue, remainder: cancels ? .isCancelled : .finishes)
    await testGracefulShutdown { trigger in
      await withTaskGroup(of: Void.self) { group in
        group.addTask { try? await service.run() }
        await started.pass()
        trigger.triggerGracefulShutdown()
        if cancels { while queue.operations.contains(where: { !$0.isCancelled }) { await Task.yield() } }
        gate.open()
      }
    }
    #expect(ended.value == 1 && seen.value == (cancels ? 1 : 0) && queue.operationCount == 0)
  }

  @Test("a service that is cancelled ends also where nothing may start")
  func cancelledWithoutPlaces() async throws {
    let (queue, ran) = (OperationQueue(), Counter())
    queue.maxConcurrentOperationCount = 0
    queue.limits[below: .high] = 0
    queue.isSuspended = true
    for _ in 1...5 { queue.addTask { ran.increment() } }
    let task = Task { try await OperationQueueService(queue).run() }
    task.cancel()
    try await task.value
    #expect(ran.value == 0 && queue.operationCount == 0)
  }

  @Test("a service that is cancelled cancels its operations, and waits for them")
  func cancelledService() async throws {
    let (queue, started, ended) = (OperationQueue(), AsyncGate(), Counter())
    queue.addTask {
      started.open()
      while !Task.isCancelled { await Task.yield() }
      ended.increment()
    }
    let task = Task { try await OperationQueueService(queue).run() }
    await started.pass()
    task.cancel()
    try await task.value
    #expect(ended.value == 1 && queue.operationCount == 0)
  }
}
