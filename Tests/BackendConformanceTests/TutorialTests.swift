import Operations
import TestSupport
import Testing

/// Row 54: what the published tutorials on operations build, built here. The image loader has a file of its own.
@Suite("Tutorials")
struct TutorialTests {
  /// The base class most tutorials begin with: state as an enumeration whose cases name the key to post.
  private class StateOperation: Operation, @unchecked Sendable {
    enum State: String {
      case ready, executing, finished
      var keyPath: String { "is" + rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
    }

    private let storage = Monitor(State.ready)

    var state: State {
      get { storage.value }
      set {
        let oldValue = state
        willChangeValue(forKey: newValue.keyPath)
        willChangeValue(forKey: oldValue.keyPath)
        storage.with { $0 = newValue }
        didChangeValue(forKey: oldValue.keyPath)
        didChangeValue(forKey: newValue.keyPath)
      }
    }

    override var isReady: Bool { super.isReady && state == .ready }
    override var isExecuting: Bool { state == .executing }
    override var isFinished: Bool { state == .finished }
    override var isAsynchronous: Bool { true }

    override func start() {
      if isCancelled {
        state = .finished
        return
      }
      state = .executing
      main()
    }
  }

  private final class Download: StateOperation, @unchecked Sendable {
    let page: String
    let data = Monitor<String?>(nil)

    init(_ page: String) { self.page = page }

    override func main() {
      startThread { [self] in
        if !isCancelled { data.with { $0 = "contents of \(page)" } }
        state = .finished
      }
    }
  }

  @Test("row 54: the state-enum asynchronous subclass", arguments: allBackends)
  func stateEnumeration(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [1, 3, -1] {
        queue.maxConcurrentOperationCount = limit
        let completed = Counter()
        let downloads = (0..<100).map { Download("page \($0)") }
        for (index, download) in downloads.enumerated() {
          download.completionBlock = { completed.increment() }
          if index.isMultiple(of: 10) && index > 0 { download.addDependency(downloads[index - 1]) }
        }
        queue.addOperations(downloads, waitUntilFinished: false)
        try queue.drainInTime("100 downloads")
        #expect(downloads.allSatisfy { $0.state == .finished && $0.data.value == "contents of \($0.page)" })
        try completed.wait(for: 100, "the completion blocks")
      }
    }
  }

  @Test("row 54: two downloads and a step that composes them", arguments: allBackends)
  func compose(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (left, right) = (Download("left"), Download("right"))
      let result = Monitor("")
      let compose = BlockOperation {
        let text = [left, right].compactMap(\.data.value).joined(separator: " + ")
        result.with { $0 = text }
      }
      compose.addDependency(left)
      compose.addDependency(right)
      queue.addOperation(compose)
      queue.addOperation(right)
      queue.addOperation(left)
      try queue.drainInTime()
      #expect(result.value == "contents of left + contents of right")
    }
  }

  @Test("row 54: the composing step still runs, and sees it, when one download was cancelled", arguments: allBackends)
  func composeWithCancelledDownload(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let (left, right) = (Download("left"), Download("right"))
      let missing = EventLog<Bool>()
      let compose = BlockOperation { missing.append(left.isCancelled && left.data.value == nil) }
      compose.addDependency(left)
      compose.addDependency(right)
      queue.isSuspended = true
      queue.addOperations([left, right, compose], waitUntilFinished: false)
      left.cancel()
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(missing.events == [true] && right.data.value != nil)
    }
  }

  /// The Concurrency Programming Guide's manual execution: true when it dealt with the operation.
  private static func perform(_ operation: Operation) -> Bool {
    if operation.isReady && !operation.isCancelled {
      if !operation.isAsynchronous {
        operation.start()
      } else {
        startThread { operation.start() }
      }
      return true
    } else if operation.isCancelled {
      // Not started, but to be finished: start() of a cancelled operation moves it there.
      operation.start()
      return true
    }
    return false
  }

  @Test("row 54: performOperation, the manual runner without a queue", arguments: allBackends)
  func manualRunner(backend: TestBackend) throws {
    let callers = EventLog<UInt>()
    let done = try backend.onWorker {
      let synchronous = CountingOperation { _ in callers.append(currentThread()) }
      let asynchronous = Download("page")
      let cancelled = CountingOperation()
      cancelled.cancel()
      let dependent = CountingOperation()
      dependent.addDependency(asynchronous)
      dependent.addDependency(cancelled)
      var pending: [Operation] = [dependent, cancelled, asynchronous, synchronous]
      let everything = pending
      try eventually("the runner to get rid of everything") {
        pending.removeAll(where: Self.perform)
        return pending.isEmpty
      }
      for operation in everything { operation.waitUntilFinished() }
      return
        (
          synchronous.mains.value, cancelled.mains.value, dependent.mains.value, asynchronous.data.value,
          callers.events == [currentThread()]
        )
    }
    #expect(done == (1, 0, 1, "contents of page", true))
  }

  @Test("row 54: suspend, resume and cancel a running queue", arguments: allBackends)
  func controls(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = 1
      let step = (0..<3).map { _ in GatedOperation() }
      let log = EventLog<Int>()
      for (index, operation) in step.enumerated() { operation.completionBlock = { log.append(index) } }
      queue.addOperations(step, waitUntilFinished: false)
      try step[0].started.wait("step 0")
      queue.isSuspended = true
      step[0].release.open()
      try step[0].finishInTime()
      giveOthersAChance()
      #expect(!step[1].started.isOpen && queue.operationCount == 2)
      queue.isSuspended = false
      try step[1].started.wait("step 1 after the queue was resumed")
      queue.cancelAllOperations()
      #expect(step[1].isCancelled && step[1].isExecuting)
      step[1].release.open()
      try queue.drainInTime()
      #expect(!step[2].started.isOpen && step[2].isFinished)
      try log.wait(count: 3, "the completion blocks")
      #expect(Set(log.events) == [0, 1, 2])
    }
  }

  @Test("row 54: a group that is one operation with a queue of its own", arguments: allBackends)
  func group(backend: TestBackend) throws {
    final class Group: AsynchronousOperation, @unchecked Sendable {
      // Invariant: constant.
      private let inner: OperationQueue
      private let members: [Operation]
      init(_ members: [Operation], backend: any Backend) {
        inner = OperationQueue(backend: backend)
        self.members = members
        super.init()
      }
      override func main() {
        let last = BlockOperation { [self] in finish() }
        members.forEach(last.addDependency)
        inner.addOperations(members + [last], waitUntilFinished: false)
      }
      override func cancel() {
        super.cancel()
        inner.cancelAllOperations()
      }
    }
    try backend.withQueue { queue in
      let members = (0..<10).map { _ in CountingOperation() }
      let group = Group(members, backend: queue.backend)
      let after = CountingOperation { _ in for operation in members { precondition(operation.isFinished) } }
      after.addDependency(group)
      queue.addOperations([after, group], waitUntilFinished: false)
      try queue.drainInTime()
      #expect(members.allSatisfy { $0.mains.value == 1 } && after.mains.value == 1)
    }
  }
}
