import Glibc
import Operations
import Synchronization
import TestSupport

/// How many signals arrived; here, because a handler captures nothing.
private let caught = Atomic<Int>(0)

/// Unusual conditions under which everything must work: signals that interrupt waits, a single CPU, one worker and a
/// thousand.
enum ConditionScenarios {
  static let all: [String: @Sendable () -> Void] = {
    var all: [String: @Sendable () -> Void] = ["fault-one-cpu-default": { oneCPU(nil) }]
    for backend in allBackends {
      all["fault-signals-\(backend)"] = { signalsInWaits(backend) }
      all["fault-one-cpu-\(backend)"] = { oneCPU(backend) }
    }
    for backend in [TestBackend.stealing, .threadPool] {
      for workers in [1, 1_000] { all["fault-workers-\(workers)-\(backend)"] = { pool(backend, workers: workers) } }
    }
    return all
  }()

  private static func expect(_ condition: Bool, _ what: @autoclosure () -> String, line: Int = #line) {
    FaultScenarios.expect(condition, what(), line: line)
  }

  // MARK: - Signals

  private static let rounds = 20
  private static let signalsPerRound = 500

  /// Signals interrupt the system calls of threads in `waitUntilFinished` and `waitUntilAllOperationsAreFinished`; the
  /// waits go on, and end when the operations have finished.
  private static func signalsInWaits(_ backend: TestBackend) {
    // Without SA_RESTART, so that a system call returns with EINTR.
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in _ = caught.wrappingAdd(1, ordering: .relaxed) }
    action.sa_flags = 0
    expect(sigaction(SIGUSR2, &action, nil) == 0, "no handler: error \(errno)")
    FaultScenarios.attempt {
      try backend.withQueue { queue in for _ in 0..<rounds { try signalledRound(queue) } }
    }
    expect(caught.load(ordering: .relaxed) > rounds, "\(caught.load(ordering: .relaxed)) signals arrived")
  }

  private static func signalledRound(_ queue: OperationQueue) throws {
    let release = Gate()
    let operation = BlockOperation { release.pass() }
    let waiters = Monitor<[UInt]>([])
    let early = Counter()
    let ended = CountdownLatch(4)
    queue.addOperation(operation)
    for index in 0..<4 {
      startThread {
        waiters.with { $0.append(currentThread()) }
        if index < 2 { operation.waitUntilFinished() } else { queue.waitUntilAllOperationsAreFinished() }
        if !operation.isFinished { early.increment() }
        // The thread must live as long as it is signalled.
        ended.countDown()
        ended.pass()
      }
    }
    guard waiters.wait(until: { $0.count == 4 }) else { return expect(false, "gave up waiting for the waiters") }
    let threads = waiters.value
    for index in 0..<signalsPerRound {
      pthread_kill(pthread_t(threads[index % 4]), SIGUSR2)
      if index % 50 == 0 { sched_yield() }
      // A signal may come as the operation ends, too.
      if index == signalsPerRound - 20 {
        expect(ended.remaining == 4, "\(4 - ended.remaining) waits ended before the operation")
        release.open()
      }
    }
    try ended.wait("the waits to end")
    expect(early.value == 0, "\(early.value) waits ended before the operation had finished")
  }

  // MARK: - CPUs and workers

  /// - Parameter backend: nil for that of `OperationQueue()`.
  private static func oneCPU(_ backend: TestBackend?) {
    expect(CPUMask.confineToOneCPU(), "the process cannot be confined to one CPU")
    FaultScenarios.attempt {
      guard let backend else {
        let queue = OperationQueue()
        expect(queue.backend.workerCount == 1, "\(queue.backend.workerCount) workers on one CPU")
        return try variety(queue, OperationQueue())
      }
      for workers in [1, 2] { try backend.withQueues(workers: workers) { try variety($0, $1) } }
    }
  }

  private static func pool(_ backend: TestBackend, workers: Int) {
    FaultScenarios.attempt {
      let before = ProcessFootprint.now.threads
      try backend.withQueues(workers: workers) { queue, other in
        try variety(queue, other)
        expect(queue.backend.workerCount == workers, "\(queue.backend.workerCount) workers")
        // As many bodies as there are workers, all at the same time.
        let all = Rendezvous(workers)
        let met = Counter()
        for _ in 0..<workers { queue.addOperation { if all.arrive() { met.increment() } } }
        try queue.drainInTime()
        expect(met.value == workers, "only \(met.value) of \(workers) bodies ran at the same time")
      }
      try eventually("the threads to end") { ProcessFootprint.now.threads <= before }
    }
  }

  /// A little of everything.
  private static func variety(_ queue: OperationQueue, _ other: OperationQueue) throws {
    let ran = Counter()
    for _ in 0..<5_000 { queue.addOperation { ran.increment() } }
    // Waits inside bodies, more than there are workers.
    for _ in 0..<20 {
      queue.addOperation {
        let inner = BlockOperation { ran.increment() }
        other.addOperation(inner)
        inner.waitUntilFinished()
        expect(inner.isFinished, "the inner operation has not finished")
      }
    }
    queue.addBarrierBlock { expect(ran.value == 5_020, "the barrier is too early: \(ran.value)") }
    // A chain over both queues, one at a time in the second.
    other.maxConcurrentOperationCount = 1
    let meter = ConcurrencyMeter()
    var last: Operation?
    for index in 0..<1_000 {
      let operation = BlockOperation { meter.measure {} }
      if let last { operation.addDependency(last) }
      last = operation
      (index % 2 == 0 ? queue : other).addOperation(operation)
    }
    try last?.finishInTime()
    try queue.drainInTime()
    try other.drainInTime()
    expect(ran.value == 5_020 && meter.total == 1_000 && meter.maximum == 1, "\(ran.value) and \(meter.total) ran")
  }
}

/// The calls with a set of CPUs, which Swift does not import.
enum CPUMask {
  private typealias Get = @convention(c) (pid_t, Int, UnsafeMutableRawPointer) -> Int32
  private typealias Set = @convention(c) (pid_t, Int, UnsafeRawPointer) -> Int32

  static func get(_ thread: pid_t, _ bytes: Int, _ mask: UnsafeMutableRawPointer) -> Int32 {
    unsafeBitCast(dlsym(nil, "sched_getaffinity")!, to: Get.self)(thread, bytes, mask)
  }

  /// Confines the calling thread, and threads that it starts.
  static func confineToOneCPU() -> Bool {
    let set = unsafeBitCast(dlsym(nil, "sched_setaffinity")!, to: Set.self)
    var mask = [UInt](repeating: 0, count: 128)
    let bytes = mask.count * MemoryLayout<UInt>.size
    guard get(0, bytes, &mask) == 0, let word = mask.firstIndex(where: { $0 != 0 }) else { return false }
    var lowestBit = [UInt](repeating: 0, count: mask.count)
    lowestBit[word] = mask[word] & (0 &- mask[word])
    return set(0, bytes, lowestBit) == 0
  }
}
