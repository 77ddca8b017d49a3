import Operations
import TestSupport
import Testing

/// Row 50: the ready-made asynchronous base class and its closure form; rows 7, 8 and 12 as they apply to it.
@Suite("Asynchronous operations")
struct AsynchronousOperationTests {
  private final class Download: AsynchronousOperation, @unchecked Sendable {
    let started = Gate()
    override func main() { started.open() }
  }

  @Test("row 50: a subclass overrides main() and finishes from another thread", arguments: allBackends)
  func subclass(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let download = Download()
      let dependent = CountingOperation()
      dependent.addDependency(download)
      #expect(download.isAsynchronous && !download.isExecuting && download.isReady)
      queue.addOperations([download, dependent], waitUntilFinished: false)
      try download.started.wait("the download to start")
      giveOthersAChance()
      #expect(download.isExecuting && !download.isFinished && dependent.starts.value == 0)
      startThread { download.finish() }
      try queue.drainInTime()
      #expect(download.isFinished && !download.isExecuting && dependent.mains.value == 1)
    }
  }

  @Test("row 50: the closure gets the operation and may finish it at once or later", arguments: allBackends)
  func closure(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let operations = (0..<200).map { index in
        AsynchronousOperation { operation in
          if index.isMultiple(of: 2) { operation.finish() } else { startThread { operation.finish() } }
        }
      }
      queue.addOperations(operations, waitUntilFinished: false)
      try queue.drainInTime("200 asynchronous operations")
      #expect(operations.allSatisfy { $0.isFinished && !$0.isExecuting })
    }
  }

  @Test("row 50: started by hand", arguments: allBackends)
  func byHand(backend: TestBackend) throws {
    let download = Download()
    try backend.onWorker { download.start() }
    #expect(download.isExecuting && download.started.isOpen)
    download.finish()
    try download.finishInTime()
    #expect(download.isFinished)
  }

  @Test("row 50: finish() races with the return of main()", arguments: allBackends)
  func finishRacesWithMain(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [1, -1] {
        queue.maxConcurrentOperationCount = limit
        let finisher = Monitor<[AsynchronousOperation]>([])
        let ended = Gate()
        startThread {
          var finished = 0
          while finished < 1_000 {
            guard finisher.wait(until: { !$0.isEmpty }) else { return }
            let batch = finisher.with { waiting in
              defer { waiting = [] }
              return waiting
            }
            for operation in batch { operation.finish() }
            finished += batch.count
          }
          ended.open()
        }
        let completions = Counter()
        for _ in 0..<1_000 {
          let operation = AsynchronousOperation { operation in finisher.with { $0.append(operation) } }
          operation.completionBlock = { completions.increment() }
          queue.addOperation(operation)
        }
        try ended.wait("the thread that finishes")
        try queue.drainInTime()
        try completions.wait(for: 1_000, "the completion blocks")
        giveOthersAChance()
        #expect(completions.value == 1_000)
      }
    }
  }

  @Test("rows 7 and 50: cancelled before it starts, it skips main() and finishes by itself", arguments: allBackends)
  func cancelledBefore(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let download = Download()
      download.addDependency(Operation())
      let dependent = CountingOperation()
      dependent.addDependency(download)
      queue.addOperations([download, dependent], waitUntilFinished: false)
      download.cancel()
      try queue.drainInTime()
      #expect(download.isFinished && !download.started.isOpen && dependent.mains.value == 1)
      let alone = Download()
      alone.cancel()
      alone.start()
      #expect(alone.isFinished && !alone.started.isOpen)
    }
  }

  @Test("rows 8 and 50: cancelled while it runs, it goes on until finish()", arguments: allBackends)
  func cancelledWhileRunning(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let download = Download()
      queue.addOperation(download)
      try download.started.wait("the download to start")
      download.cancel()
      queue.cancelAllOperations()
      giveOthersAChance()
      #expect(download.isCancelled && download.isExecuting && !download.isFinished)
      #expect(queue.operations == [download])
      download.finish()
      try queue.drainInTime()
      #expect(download.isFinished && download.isCancelled)
    }
  }

  @Test("rows 12 and 50: nobody but the queue and the closure holds it", arguments: allBackends)
  func lifetime(backend: TestBackend) throws {
    final class Tracked: AsynchronousOperation, @unchecked Sendable {
      let token: LifetimeTracker.Token
      init(_ tracker: LifetimeTracker) {
        token = tracker.token()
        super.init()
      }
      override func main() { startThread { self.finish() } }
    }
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for _ in 0..<100 {
        queue.addOperation(Tracked(tracker))
        let token = tracker.token()
        queue.addOperation(
          AsynchronousOperation { operation in
            withExtendedLifetime(token) {}
            startThread { operation.finish() }
          })
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("the asynchronous operations and their closures")
    }
  }

  @Test("rows 12 and 50: captured by its own closure and kept, it does not leak", arguments: allBackends)
  func selfCapture(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for _ in 0..<10 {
        let holder = Monitor<AsynchronousOperation?>(nil)
        let token = tracker.token()
        let operation = AsynchronousOperation { operation in
          withExtendedLifetime((token, holder)) {}
          operation.finish()
        }
        holder.with { $0 = operation }
        queue.addOperation(operation)
      }
      try queue.drainInTime()
      try tracker.waitUntilAllReleased("asynchronous operations captured by their own closures")
    }
  }

  /// Two sides may end the operation. A flag of the class lets the first one do it, and keeps the second one out.
  private final class FinishOnce: AsynchronousOperation, @unchecked Sendable {
    private let ended = Monitor(false)
    override func main() { startThread { self.end() } }
    override func cancel() {
      super.cancel()
      end()
    }
    func end() {
      let isFirst = ended.with { done in
        defer { done = true }
        return !done
      }
      if isFirst { finish() }
    }
  }

  /// Only `cancel()` ends the work.
  private final class UntilCancelled: AsynchronousOperation, @unchecked Sendable {
    override func main() {}
    override func cancel() {
      super.cancel()
      if !isFinished { finish() }
    }
  }

  @Test("row 50: finish() of a class beside the library's own skip does nothing", arguments: allBackends, [1, -1])
  func finishBesideTheSkip(backend: TestBackend, limit: Int) throws {
    try backend.withQueue { queue in
      queue.maxConcurrentOperationCount = limit
      for round in 0..<200 {
        let operations = (0..<10).map { _ in FinishOnce() }
        queue.addOperations(operations, waitUntilFinished: false)
        if round % 2 == 0 { queue.cancelAllOperations() } else { for operation in operations { operation.cancel() } }
        try queue.drainInTime("operations that are finished from two sides")
        #expect(operations.allSatisfy { $0.isFinished })
      }
    }
  }

  @Test("row 50: cancelled before its start, finish() may be called at any time", arguments: allBackends)
  func finishAfterTheSkip(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let waiting = (0..<20).map { _ in UntilCancelled() }
      queue.addOperations(waiting, waitUntilFinished: false)
      for operation in waiting { operation.cancel() }
      #expect(queue.operationCount == 20)
      queue.isSuspended = false
      try queue.drainInTime()
      for operation in waiting {
        // A second cancel(), a deadline.
        operation.cancel()
        operation.finish()
        #expect(operation.isFinished && operation.isCancelled)
      }
      // In no queue: not finished before somebody starts the operation.
      let alone = UntilCancelled()
      alone.cancel()
      #expect(!alone.isFinished && alone.isCancelled)
      queue.addOperation(alone)
      try queue.drainInTime()
      #expect(alone.isFinished)
    }
  }
}
