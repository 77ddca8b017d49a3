import Dispatch
import Glibc
import Operations
import TestSupport

import class Foundation.RunLoop

/// What needs the main queue to be served: by `dispatchMain()`, which leaves the main thread, and by the run loop,
/// which stays on it. Each ends the process: 0 when all checks held.
enum MainQueueScenarios {
  static let all: [String: @Sendable () -> Void] = [
    "main-queue-run-loop": { serve(onMainThread: true) },
    "main-queue-dispatch-main": { serve(onMainThread: false) },
    "main-queue-cancel-all": { cancelAll() },
    "main-queue-completion-block": { completionBlocks() },
    "main-queue-current": { current() },
    "main-queue-order": { order() },
    "main-queue-settings": { settings() },
    "main-queue-join": { joinOnTheMainThread() },
  ]

  private static func expect(_ condition: Bool, _ what: String, line: Int = #line) {
    guard !condition else { return }
    print("line \(line): \(what)")
    exit(1)
  }

  private static func waitInTime(_ what: String, _ isMet: () -> Bool) {
    expect((try? eventually(what, isMet)) != nil, "gave up waiting for \(what)")
  }

  /// The default backend helps the main thread. The fork that another thread took is not on the main queue.
  private static func joinOnTheMainThread() {
    let together = Rendezvous(2)
    let (isMain, isNil) = join(
      { () -> Bool in
        expect(together.arrive(), "the fork runs beside the main thread")
        return OperationQueue.current === OperationQueue.main
      },
      { () -> Bool in
        together.arrive()
        return OperationQueue.current == nil
      })
    expect(isMain, "in the first body the current queue is main")
    expect(isNil, "in the fork there is no current queue")
    exit(0)
  }

  /// Operations from several threads, each on the main queue, one at a time.
  private static func serve(onMainThread: Bool) {
    let mainThread = currentThread()
    let meter = ConcurrencyMeter()
    expect(OperationQueue.main === OperationQueue.main, "main is one object")
    // Dispatch hands out a new object for the main queue on each access: the label tells.
    expect(
      OperationQueue.main.underlyingQueue?.label == DispatchQueue.main.label, "its underlying queue is the main queue")
    expect(OperationQueue.main.maxConcurrentOperationCount == 1, "it runs one operation at a time")
    startThread {
      expect(
        (try? onThreads(4, "four threads") { _ in
          for _ in 0..<50 {
            OperationQueue.main.addOperation {
              meter.measure {
                dispatchPrecondition(condition: .onQueue(.main))
                MainActor.assumeIsolated {}
                expect(OperationQueue.current === OperationQueue.main, "current is main")
                if onMainThread { expect(currentThread() == mainThread, "on the main thread") }
              }
            }
          }
        }) != nil, "gave up waiting for the adding threads")
      let background = OperationQueue()
      let first = BlockOperation { expect(OperationQueue.current === background, "current is the background queue") }
      let second = BlockOperation { expect(first.isFinished, "the dependency in another queue has finished") }
      second.addDependency(first)
      OperationQueue.main.addOperation(second)
      background.addOperation(first)
      second.waitUntilFinished()
      OperationQueue.main.waitUntilAllOperationsAreFinished()
      expect(meter.total == 200 && meter.maximum == 1, "200 operations, one at a time")
      expect(OperationQueue.main.operations.isEmpty, "nothing is left")
      exit(0)
    }
    if onMainThread { while true { RunLoop.main.run() } } else { dispatchMain() }
  }

  private static func cancelAll() {
    let cancelled = (0..<20).map { _ in CountingOperation() }
    OperationQueue.main.addOperations(cancelled, waitUntilFinished: false)
    cancelled[5].addDependency(Operation())
    OperationQueue.main.cancelAllOperations()
    let after = CountingOperation()
    OperationQueue.main.addOperation(after)
    startThread {
      OperationQueue.main.waitUntilAllOperationsAreFinished()
      expect(cancelled.allSatisfy { $0.isCancelled && $0.isFinished && $0.mains.value == 0 }, "none ran")
      expect(after.mains.value == 1 && !after.isCancelled, "what was added after the call ran")
      waitInTime("the completion blocks") { cancelled.allSatisfy { $0.completions.value == 1 } }
      exit(0)
    }
    while true { RunLoop.main.run() }
  }

  /// Row 10: not on the main thread, whether the main queue or a manual start on the main thread ran the operation.
  private static func completionBlocks() {
    let mainThread = currentThread()
    let onMain = Counter()
    let elsewhere = Counter()
    let count: @Sendable () -> Void = {
      _ = currentThread() == mainThread ? onMain.increment() : elsewhere.increment()
    }
    let byHand = BlockOperation {}
    byHand.completionBlock = count
    byHand.start()
    let cancelled = BlockOperation {}
    cancelled.completionBlock = count
    cancelled.cancel()
    cancelled.start()
    let asynchronous = AsynchronousOperation { _ in }
    asynchronous.completionBlock = count
    asynchronous.start()
    asynchronous.finish()
    for _ in 0..<20 {
      let queued = BlockOperation {}
      queued.completionBlock = count
      OperationQueue.main.addOperation(queued)
    }
    startThread {
      waitInTime("23 completion blocks") { onMain.value + elsewhere.value == 23 }
      expect(onMain.value == 0, "\(onMain.value) completion blocks ran on the main thread")
      exit(0)
    }
    while true { RunLoop.main.run() }
  }

  /// Row 30, outside operations.
  private static func current() {
    expect(OperationQueue.current === OperationQueue.main, "current is main on the main thread")
    BlockOperation { expect(OperationQueue.current === OperationQueue.main, "and in an operation started there") }
      .start()
    let looked = Gate()
    startThread {
      expect(OperationQueue.current == nil, "current is nil on a plain thread")
      looked.open()
    }
    expect(looked.pass(), "gave up waiting for the plain thread")
  }

  /// Row 20 holds on the main queue too: it runs one at a time.
  private static func order() {
    let log = EventLog<String>()
    let low = BlockOperation { log.append("low") }
    low.queuePriority = .veryLow
    let high = BlockOperation { log.append("high") }
    high.queuePriority = .veryHigh
    let first = BlockOperation {
      OperationQueue.main.addOperation(low)
      for index in 0..<3 { OperationQueue.main.addOperation { log.append("normal \(index)") } }
      OperationQueue.main.addOperation(high)
    }
    OperationQueue.main.addOperation(first)
    startThread {
      OperationQueue.main.waitUntilAllOperationsAreFinished()
      expect(log.events == ["high", "normal 0", "normal 1", "normal 2", "low"], "in order, not \(log.events)")
      exit(0)
    }
    while true { RunLoop.main.run() }
  }

  /// Row 31: nobody stops the main queue, widens it, renames it or moves it elsewhere.
  private static func settings() {
    let main = OperationQueue.main
    let (name, told) = (main.name, Counter())
    let tokens = [
      main.observe(\.isSuspended) { _, _ in told.increment() },
      main.observe(\.maxConcurrentOperationCount) { _, _ in told.increment() },
    ]
    let other = DispatchQueue(label: "other")
    for set: () -> Void in [
      { main.isSuspended = true }, { main.maxConcurrentOperationCount = 0 }, { main.maxConcurrentOperationCount = 9 },
      { main.maxConcurrentOperationCount = -2 }, { main.name = "mine" }, { main.name = nil },
      { main.qualityOfService = .background }, { main.underlyingQueue = other }, { main.underlyingQueue = nil },
    ] {
      set()
      expect(!main.isSuspended, "the main queue is not suspended")
      expect(main.maxConcurrentOperationCount == 1, "the limit is \(main.maxConcurrentOperationCount)")
      expect(main.name == name, "the name is \(main.name ?? "none")")
      expect(main.qualityOfService == .userInteractive, "its quality of service is \(main.qualityOfService)")
      expect(main.underlyingQueue?.label == DispatchQueue.main.label, "its underlying queue is the main queue")
    }
    expect(told.value == 0, "\(told.value) changes were told")
    withExtendedLifetime(tokens) {}
    let mainThread = currentThread()
    let meter = ConcurrencyMeter()
    for _ in 0..<100 {
      main.addOperation { meter.measure { expect(currentThread() == mainThread, "on the main thread") } }
    }
    // With operations, too.
    main.underlyingQueue = other
    startThread {
      main.waitUntilAllOperationsAreFinished()
      expect(meter.total == 100 && meter.maximum == 1, "100 operations, one at a time")
      exit(0)
    }
    while true { RunLoop.main.run() }
  }
}
