import Glibc
import Operations
import TestSupport
import Testing

/// Row 37: `threadPriority`.
@Suite("Thread priority")
struct ThreadPriorityTests {
  // Linux keeps a nice value for each thread: "process 0" is the calling thread.
  private static let process = __priority_which_t(PRIO_PROCESS.rawValue)

  /// The nice value of the calling thread.
  private static func niceness() -> Int32 {
    errno = 0
    return getpriority(process, 0)
  }

  @Test("row 37: 0.5 by default, and keeps what was set", arguments: allBackends)
  func value(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operation = CountingOperation()
      #expect(operation.threadPriority == 0.5)
      operation.threadPriority = 0.25
      #expect(operation.threadPriority == 0.25)
      queue.addOperation(operation)
      try queue.drainInTime()
      #expect(operation.mains.value == 1 && operation.threadPriority == 0.25)
    }
  }

  @Test("row 37: applied around main(), and restored for what the thread runs next", arguments: allBackends)
  func restored(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      queue.maxConcurrentOperationCount = 1
      let inherited = Monitor<Set<Int32>>([])
      queue.addOperation { inherited.with { _ = $0.insert(Self.niceness()) } }
      try queue.drainInTime()
      let low = EventLog<Int32>()
      let plain = EventLog<Int32>()
      for index in 0..<20 {
        let operation = BlockOperation { (index.isMultiple(of: 2) ? low : plain).append(Self.niceness()) }
        if index.isMultiple(of: 2) { operation.threadPriority = 0 }
        queue.addOperation(operation)
      }
      try queue.drainInTime()
      let normal = try #require(inherited.value.first)
      #expect(plain.events == Array(repeating: normal, count: 10))
      // Lowering is permitted to everybody, but only who may raise again can restore: otherwise it is ignored.
      #expect(low.events.allSatisfy { $0 > normal } || low.events.allSatisfy { $0 == normal })
      if getuid() == 0 && normal < 19 && Self.mayRaise() { #expect(low.events.allSatisfy { $0 > normal }) }
    }
  }

  // The sample backend is left out: a thread inherits the niceness of the one that starts it.
  @Test(
    "row 37: restored after a manual start and after asynchronous operations, too",
    arguments: [TestBackend.stealing, .threadPool, .dispatch, .deterministic])
  func restoredElsewhere(backend: TestBackend) throws {
    let niceness = try inTime("a manual start") {
      let before = Self.niceness()
      let operation = BlockOperation {}
      operation.threadPriority = 0
      operation.start()
      return (before, Self.niceness())
    }
    #expect(niceness.0 == niceness.1)
    try backend.withQueue(workers: 1) { queue in
      queue.maxConcurrentOperationCount = 1
      let operation = AsynchronousOperation { $0.finish() }
      operation.threadPriority = 0.1
      let after = EventLog<Int32>()
      queue.addOperation(operation)
      queue.addOperation { after.append(Self.niceness()) }
      try queue.drainInTime()
      #expect(after.events == [niceness.0])
    }
  }

  @Test(
    "rows 28 and 37: a spare thread started by an operation with a low priority does not inherit it",
    arguments: [TestBackend.stealing, .threadPool, .deterministic])
  func sparesDoNotInherit(backend: TestBackend) throws {
    let normal = try inTime("a plain thread") { Self.niceness() }
    try backend.withQueue(workers: 1) { queue in
      let awaited = AsynchronousOperation { _ in }
      let low = BlockOperation {
        queue.addOperation(awaited)
        awaited.waitUntilFinished()
      }
      low.threadPriority = 0
      queue.addOperation(low)
      try eventually("the awaited operation to start") { awaited.isExecuting }
      let plain = EventLog<Int32>()
      for _ in 0..<20 { queue.addOperation { plain.append(Self.niceness()) } }
      try plain.wait(count: 20, "operations beside the one that waits")
      awaited.finish()
      try queue.drainInTime()
      #expect(plain.events == Array(repeating: normal, count: 20))
    }
  }

  /// Whether this process may undo a lowered thread.
  private static func mayRaise() -> Bool {
    let outcome = try? inTime("a trial") {
      let before = niceness()
      guard setpriority(process, 0, before + 1) == 0 else { return false }
      return setpriority(process, 0, before) == 0
    }
    return outcome ?? false
  }
}
