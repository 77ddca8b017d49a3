import Glibc
import Operations
import TestSupport
import Testing

/// Row 28: waiting for operations and queues, from inside operations.
@Suite("Waiting")
struct WaitingTests {
  @Test(
    "row 28.1: Foundation: 1,000 operations that each add one to the same queue and wait for it",
    arguments: allBackends, [1, 2])
  func everyOperationAddsOneAndWaits(backend: TestBackend, workers: Int) throws {
    try backend.withQueue(workers: workers) { queue in
      let ran = Counter()
      for _ in 0..<1_000 {
        queue.addOperation {
          let inner = BlockOperation { ran.increment() }
          queue.addOperation(inner)
          inner.waitUntilFinished()
          if inner.isFinished { ran.increment() }
        }
      }
      try queue.drainInTime("1,000 operations that wait", seconds: 4 * patience)
      #expect(ran.value == 2_000)
    }
  }

  @Test("row 28.1: Foundation: 100 operations in one batch that each add one and wait", arguments: allBackends)
  func batchOfWaiters(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let ran = Counter()
      let outer = (0..<100).map { _ in
        BlockOperation {
          let inner = BlockOperation { ran.increment() }
          queue.addOperations([inner], waitUntilFinished: true)
          ran.increment()
        }
      }
      queue.addOperations(outer, waitUntilFinished: false)
      try queue.drainInTime(seconds: 2 * patience)
      #expect(ran.value == 200)
    }
  }

  @Test("rows 28.1 and 28.2: waits nested 100 deep", arguments: allBackends)
  func nestedWaits(backend: TestBackend) throws {
    /// Adds an operation that adds an operation …, each waiting for the next.
    @Sendable func descend(_ depth: Int, _ queue: OperationQueue, _ reached: Counter) {
      reached.increment()
      guard depth > 0 else { return }
      let next = BlockOperation { descend(depth - 1, queue, reached) }
      queue.addOperation(next)
      next.waitUntilFinished()
    }
    try backend.withQueue(workers: 2) { queue in
      let reached = Counter()
      queue.addOperation { descend(100, queue, reached) }
      try queue.drainInTime(seconds: 2 * patience)
      #expect(reached.value == 101)
    }
  }

  @Test("rows 28.1 and 28.2: a fork-join recursion on one worker", arguments: allBackends)
  func forkJoin(backend: TestBackend) throws {
    @Sendable func fibonacci(_ n: Int, _ queue: OperationQueue) -> Int {
      guard n > 1 else { return n }
      let left = Monitor(0)
      let operation = BlockOperation {
        let value = fibonacci(n - 1, queue)
        left.with { $0 = value }
      }
      queue.addOperation(operation)
      let right = fibonacci(n - 2, queue)
      operation.waitUntilFinished()
      return left.value + right
    }
    try backend.withQueue(workers: 1) { queue in
      let result = Monitor(0)
      queue.addOperation {
        let value = fibonacci(10, queue)
        result.with { $0 = value }
      }
      try queue.drainInTime(seconds: 2 * patience)
      #expect(result.value == 55)
    }
  }

  @Test("row 28: an operation waits for a whole other queue", arguments: allBackends)
  func waitForAnotherQueue(backend: TestBackend) throws {
    try backend.withQueues(workers: 1) { outer, _ in
      let ran = Counter()
      let shared = outer.backend
      for _ in 0..<20 {
        outer.addOperation {
          let inner = OperationQueue(backend: shared)
          for _ in 0..<10 { inner.addOperation { ran.increment() } }
          inner.addBarrierBlock { ran.increment() }
          inner.waitUntilAllOperationsAreFinished()
          if inner.operationCount == 0 { ran.increment() }
        }
      }
      try outer.drainInTime("operations that wait for queues", seconds: 2 * patience)
      #expect(ran.value == 20 * 12)
    }
  }

  @Test("row 28: an operation waits for one on another backend", arguments: allBackends, allBackends)
  func waitAcrossBackends(here: TestBackend, there: TestBackend) throws {
    try here.withQueue(workers: 1) { first in
      try there.withQueue(workers: 1) { second in
        let ran = Counter()
        for _ in 0..<20 {
          first.addOperation {
            let inner = BlockOperation {
              let innermost = BlockOperation { ran.increment() }
              first.addOperation(innermost)
              innermost.waitUntilFinished()
            }
            second.addOperation(inner)
            inner.waitUntilFinished()
            ran.increment()
          }
        }
        try first.drainInTime("operations that wait across backends", seconds: 2 * patience)
        #expect(ran.value == 40)
      }
    }
  }

  @Test("row 28: an operation waits for an asynchronous one that ends on another thread", arguments: allBackends)
  func waitForAsynchronous(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let done = Counter()
      for _ in 0..<50 {
        queue.addOperation {
          let inner = AsynchronousOperation { operation in startThread { operation.finish() } }
          queue.addOperation(inner)
          inner.waitUntilFinished()
          if inner.isFinished { done.increment() }
        }
      }
      try queue.drainInTime(seconds: 2 * patience)
      #expect(done.value == 50)
    }
  }

  @Test("row 28: an operation waits for one whose dependencies have not started", arguments: allBackends)
  func waitForAChain(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let order = EventLog<Int>()
      queue.addOperation {
        let chain = (0..<50).map { index in BlockOperation { order.append(index) } }
        for (earlier, later) in zip(chain, chain.dropFirst()) { later.addDependency(earlier) }
        queue.addOperations(chain.reversed(), waitUntilFinished: false)
        chain[49].waitUntilFinished()
        order.append(50)
      }
      try queue.drainInTime()
      #expect(order.events == Array(0...50))
    }
  }

  @Test("row 28.4: nothing else runs on top of a body that waits with a lock held", arguments: allBackends)
  func waitWithALockHeld(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let lock = UserLock()
      let others = Counter()
      queue.isSuspended = true
      queue.addOperation {
        lock.withLock {
          for _ in 0..<20 { queue.addOperation { lock.withLock { _ = others.increment() } } }
          let awaited = BlockOperation {}
          awaited.queuePriority = .veryLow
          queue.addOperation(awaited)
          awaited.waitUntilFinished()
        }
      }
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(lock.reentries == 0 && others.value == 20)
    }
  }

  @Test(
    "rows 24 and 28: waiting inside an operation does not start what a suspended queue holds",
    arguments: allBackends)
  func waitForSuspended(backend: TestBackend) throws {
    try backend.withQueues { here, there in
      there.isSuspended = true
      let awaited = CountingOperation()
      there.addOperation(awaited)
      let waiting = Gate()
      let woken = Gate()
      here.addOperation {
        waiting.open()
        awaited.waitUntilFinished()
        woken.open()
      }
      try waiting.wait("the waiting operation")
      giveOthersAChance()
      #expect(awaited.starts.value == 0 && !woken.isOpen)
      there.isSuspended = false
      try woken.wait("the waiting operation to go on")
      try here.drainInTime()
    }
  }

  @Test(
    "rows 25 and 28: waiting inside an operation does not exceed the limit of the other queue",
    arguments: allBackends)
  func waitForLimited(backend: TestBackend) throws {
    try backend.withQueues { here, there in
      there.maxConcurrentOperationCount = 1
      let holder = AsynchronousOperation { _ in }
      let awaited = CountingOperation()
      there.addOperations([holder, awaited], waitUntilFinished: false)
      try eventually("the holder of the place") { holder.isExecuting }
      let waiting = Gate()
      here.addOperation {
        waiting.open()
        awaited.waitUntilFinished()
      }
      try waiting.wait("the waiting operation")
      giveOthersAChance()
      #expect(awaited.starts.value == 0)
      holder.finish()
      try here.drainInTime()
      #expect(awaited.mains.value == 1)
    }
  }

  @Test("rows 26 and 28: waiting inside an operation does not overtake a barrier", arguments: allBackends)
  func waitBehindABarrier(backend: TestBackend) throws {
    try backend.withQueues { here, there in
      let holder = AsynchronousOperation { _ in }
      there.addOperation(holder)
      let barrier = Counter()
      there.addBarrierBlock { barrier.increment() }
      let early = EventLog<Int>()
      let awaited = CountingOperation { _ in early.append(barrier.value) }
      there.addOperation(awaited)
      let waiting = Gate()
      here.addOperation {
        waiting.open()
        awaited.waitUntilFinished()
      }
      try waiting.wait("the waiting operation")
      giveOthersAChance()
      #expect(awaited.starts.value == 0)
      try eventually("the holder") { holder.isExecuting }
      holder.finish()
      try here.drainInTime()
      #expect(early.events == [1])
    }
  }

  @Test("rows 10 and 28: what a waiting operation runs itself completes like any other", arguments: allBackends)
  func waitedForOperationCompletes(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let operations = (0..<50).map { _ in CountingOperation() }
      let dependents = operations.map { operation in
        let dependent = CountingOperation()
        dependent.addDependency(operation)
        return dependent
      }
      queue.addOperation {
        queue.addOperations(operations + dependents, waitUntilFinished: false)
        for operation in operations.reversed() { operation.waitUntilFinished() }
      }
      try queue.drainInTime()
      for operation in operations + dependents {
        try operation.completions.wait(for: 1, "the completion block")
        #expect(operation.starts.value == 1 && operation.mains.value == 1)
      }
    }
  }

  private enum Request {
    @TaskLocal static var number = 0
  }

  @Test(
    "row 28.7: what runs during a wait sees nothing that is the waiting operation's",
    arguments: allBackends.filter(\.replacesWaitingThreads))
  func nothingOfTheWaiterIsSeen(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let lock = RecursiveLock()
      let word = ThreadWord()
      let (values, words, sections, threads) = (Counter(), Counter(), Counter(), Counter())
      for round in 1...300 {
        queue.addOperation {
          let waiter = currentThread()
          let inner = BlockOperation {
            if Request.number != 0 { values.increment() }
            if word.value != 0 { words.increment() }
            if lock.isHeldHere { sections.increment() }
            if currentThread() == waiter { threads.increment() }
          }
          lock.lock()
          word.value = round
          Request.$number.withValue(round) {
            queue.addOperation(inner)
            inner.waitUntilFinished()
          }
          word.value = 0
          lock.unlock()
        }
      }
      try queue.drainInTime(seconds: 2 * patience)
      #expect(values.value == 0 && words.value == 0 && sections.value == 0 && threads.value == 0)
    }
  }

  @Test(
    "row 28.7: each level of nested waits has the whole of a stack",
    arguments: allBackends.filter(\.replacesWaitingThreads))
  func nestedWaitsDoNotShareAStack(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let threads = EventLog<UInt>()
      @Sendable func descend(_ depth: Int) {
        threads.append(currentThread())
        guard depth > 0 else { return }
        let next = BlockOperation { descend(depth - 1) }
        queue.addOperation(next)
        next.waitUntilFinished()
      }
      queue.addOperation { descend(50) }
      try queue.drainInTime(seconds: 2 * patience)
      #expect(Set(threads.events).count == 51)
    }
  }
}

/// A recursive lock of the C library.
private final class RecursiveLock: Sendable {
  // Invariant: the lock is made and destroyed with the object, and is its own guard.
  private nonisolated(unsafe) let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

  init() {
    var attributes = pthread_mutexattr_t()
    pthread_mutexattr_init(&attributes)
    pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_RECURSIVE))
    pthread_mutex_init(mutex, &attributes)
    pthread_mutexattr_destroy(&attributes)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  func lock() { pthread_mutex_lock(mutex) }
  func unlock() { pthread_mutex_unlock(mutex) }

  /// Whether the calling thread holds the lock already. Only for a body whose waiter holds the lock, so that no other
  /// thread can have given the lock up meanwhile.
  var isHeldHere: Bool {
    guard pthread_mutex_trylock(mutex) == 0 else { return false }
    pthread_mutex_unlock(mutex)
    return true
  }
}

/// A value for each thread.
private final class ThreadWord: Sendable {
  private let key: pthread_key_t

  init() {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    self.key = key
  }

  deinit { pthread_key_delete(key) }

  var value: Int {
    get { Int(bitPattern: pthread_getspecific(key)) }
    set { pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
  }
}
