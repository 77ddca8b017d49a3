import CPlatform
import Dispatch
import DispatchBackend
import Glibc
import OperationBackends
import Primitives
import StealingBackend
import TestSupport
import ThreadPoolBackend

/// What happens on the pools' own threads when threads, stack or luck run out.
enum ThreadScenarios {
  static let all: [String: @Sendable () -> Void] = {
    var all: [String: @Sendable () -> Void] = [:]
    for backend in [TestBackend.stealing, .threadPool, .dispatch] {
      all["refused-threads-\(backend)"] = { refusedThreads(backend, waits: true) }
      all["refused-threads-silent-\(backend)"] = { refusedThreads(backend, waits: false) }
      all["crash-handlers-\(backend)"] = { crashHandlers(backend) }
      all["fault-\(backend)"] = { fault(backend) }
      all["deep-help-\(backend)"] = { deepHelp(backend) }
      all["thread-limit-\(backend)"] = { threadLimit(backend.name) }
      all["help-at-the-limit-\(backend)"] = { helpAtTheLimit(backend.name) }
      all["running-threads-\(backend)"] = { runningThreads(backend.name) }
      all["idle-behind-joins-\(backend)"] = { idleBehindJoins(backend) }
    }
    for backend in [TestBackend.stealing, .threadPool] {
      all["fork-mask-\(backend)"] = { forkMask(backend) }
      all["refused-threads-nested-\(backend)"] = { nestedWaitsWithoutThreads(backend) }
    }
    all["waiting-callouts"] = { waitingCallouts() }
    all["barrier-before-main"] = { barrierBeforeMain() }
    all["dump"] = { dump() }
    all["reuse"] = { reuse() }
    all["shutdown-in-a-job-stealing"] = { shutDownInAJob(StealingBackend(workers: 1)) { $0.shutdown() } }
    all["shutdown-in-a-job-threadpool"] = { shutDownInAJob(ThreadPoolBackend(workers: 1)) { $0.shutdown() } }
    all["shutdown-of-the-shared-stealing"] = { StealingBackend.shared.shutdown() }
    all["shutdown-of-the-shared-threadpool"] = { ThreadPoolBackend.shared.shutdown() }
    return all
  }()

  private static func onQueue(_ backend: TestBackend, workers: Int = 2, _ body: (OperationQueue) throws -> Void) {
    do { try backend.withQueue(workers: workers, body) } catch {
      print("\(error)")
      exit(1)
    }
  }

  private static func barrierBeforeMain() {
    // No fork has been made yet, so nothing else has asked the kernel for barriers.
    FaultScenarios.expect(cplatform_barrier_on_all_threads(), "the kernel was not asked for barriers")
  }

  // MARK: - Children

  /// A child that is forked inside an operation, and that may become another program, has the program's signal mask.
  private static func forkMask(_ backend: TestBackend) {
    var ours = sigset_t()
    sigemptyset(&ours)
    sigaddset(&ours, SIGUSR2)
    pthread_sigmask(SIG_SETMASK, &ours, nil)
    // Swift does not let one call fork.
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
    onQueue(backend) { queue in
      queue.addOperation {
        var here = sigset_t()
        pthread_sigmask(SIG_SETMASK, nil, &here)
        FaultScenarios.expect(sigismember(&here, SIGTERM) == 1, "the pool's thread does not block SIGTERM")
        let child = fork()
        if child == 0 {
          pthread_sigmask(SIG_SETMASK, nil, &here)
          _exit(sigismember(&here, SIGTERM) == 0 && sigismember(&here, SIGUSR2) == 1 ? 0 : 1)
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1 && errno == EINTR {}
        FaultScenarios.expect(status == 0, "the child ended with \(status)")
      }
      try queue.drainInTime()
    }
  }

  // MARK: - Joins

  /// Joins of every length, on a worker and on a guest; then the process uses no CPU.
  private static func idleBehindJoins(_ backend: TestBackend) {
    @Sendable func fibonacci(_ n: Int) -> Int {
      guard n > 1 else { return n }
      let (left, right) = join({ fibonacci(n - 1) }, { fibonacci(n - 2) })
      return left + right
    }
    onQueue(backend) { queue in
      for n in [0, 5, 10, 20, 5, 5, 5, 5, 10] {
        queue.backend.run { join({ fibonacci(n) }, { fibonacci(n) }) }
        queue.addOperation { _ = fibonacci(n) }
        try queue.drainInTime()
      }
      // Threads look for work for a moment before they sleep, and the monitor looks until nothing is queued.
      try eventually("no thread to use its CPU") {
        let before = clock()
        usleep(200_000)
        return clock() - before < CLOCKS_PER_SEC / 1_000
      }
    }
  }

  // MARK: - Memory

  private final class Derived: BlockOperation, @unchecked Sendable {}

  /// Prints how many places in memory 100 operations had, one after another. What is freed between two operations is
  /// taken by other objects of the same size.
  private static func reuse() {
    let queue = OperationQueue(backend: ImmediateBackend())
    var places: Set<UInt> = []
    var others: [Operation] = []
    for _ in 0..<100 {
      queue.isSuspended = true
      queue.addOperation {}
      places.insert(UInt(bitPattern: Unmanaged.passUnretained(queue.operations[0]).toOpaque()))
      queue.isSuspended = false
      others.append(Derived {})
    }
    print("places \(places.count) of \(others.count)")
  }

  // MARK: - Refused

  /// No room for another thread's stack, until the limit is raised 20 ms later.
  private static func refusedThreads(_ backend: TestBackend, waits: Bool) {
    let refused = Gate()
    startThread {
      refused.pass()
      usleep(20_000)
      limitAddressSpace(to: nil)
    }
    giveOthersAChance()
    onQueue(backend) { queue in
      limitAddressSpace(to: addressSpace() + 4 << 20)
      refused.open()
      let done = Gate()
      queue.addOperation { done.open() }
      if waits { queue.waitUntilAllOperationsAreFinished() }
      try done.wait("the operation, once there is a thread")
      print("ran")
    }
  }

  /// No further thread for good: waits inside of waits, deeper than there are threads.
  private static func nestedWaitsWithoutThreads(_ backend: TestBackend) {
    onQueue(backend) { queue in
      let ended = Counter()
      @Sendable func descend(_ depth: Int) {
        if depth > 0 {
          let next = BlockOperation { descend(depth - 1) }
          queue.addOperation(next)
          next.waitUntilFinished()
        }
        ended.increment()
      }
      queue.addOperation {
        limitAddressSpace(to: addressSpace() + 4 << 20)
        descend(20)
        limitAddressSpace(to: nil)
      }
      queue.waitUntilAllOperationsAreFinished()
      print("ended \(ended.value)")
    }
  }

  private static func addressSpace() -> UInt {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return 0 }
    let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self).split(separator: " ")
    return (UInt(fields[0]) ?? 0) * UInt(getpagesize())
  }

  private static func limitAddressSpace(to bytes: UInt?) {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    limit.rlim_cur = bytes ?? limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
  }

  // MARK: - Crashes

  private static let signals = [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, SIGSYS]

  /// Every signal that a fault raises reaches the program's handler on a pool's thread; others stay away from there.
  private static func crashHandlers(_ backend: TestBackend) {
    for signal in signals { Glibc.signal(signal) { number in ThreadScenarios.write("handled \(number)\n") } }
    onQueue(backend) { queue in
      queue.addOperation { for signal in signals { pthread_kill(pthread_self(), signal) } }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// A real fault in a body: the program's handler has the last word.
  private static func fault(_ backend: TestBackend) {
    Glibc.signal(SIGSEGV) { _ in
      ThreadScenarios.write("the handler ran\n")
      _exit(7)
    }
    onQueue(backend) { queue in
      queue.addOperation {
        let address = Int(getpid()) & 0x8
        UnsafeMutablePointer<Int>(bitPattern: address | 0x10)!.pointee = 1
      }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  private static func write(_ text: String) {
    var bytes = Array(text.utf8)
    _ = Glibc.write(STDOUT_FILENO, &bytes, bytes.count)
  }

  // MARK: - Stack and threads

  /// 150 bodies, each of which takes 96 KB of stack, adds the next one and waits for it.
  private static func deepHelp(_ backend: TestBackend) {
    onQueue(backend) { queue in
      nest(150, frame: 96 * 1024, on: queue)
      try queue.drainInTime("nested operations with large frames")
      print("returned")
    }
  }

  private static func nest(_ depth: Int, frame: Int, on queue: OperationQueue) {
    guard depth > 0 else { return }
    queue.addOperation {
      withUnsafeTemporaryAllocation(byteCount: max(1, frame), alignment: 16) { memory in
        memory[0] = 1
        memory[memory.count - 1] = 1
        let inner = BlockOperation { nest(depth - 1, frame: frame, on: queue) }
        queue.addOperation(inner)
        inner.waitUntilFinished()
        // The frame lives until here.
        withExtendedLifetime(memory[0] + memory[memory.count - 1]) {}
      }
    }
  }

  private static func small(_ name: String, limit: Int) -> any Backend {
    switch name {
    case "stealing": StealingBackend(workers: WorkerNumber(2), threadLimit: limit)
    case "threadpool": ThreadPoolBackend(workers: WorkerNumber(2), threadLimit: limit)
    default: DispatchBackend(workers: WorkerNumber(2), threadLimit: limit)
    }
  }

  /// More bodies block silently than there may be threads: one line says so, and everything runs when one comes back.
  private static func threadLimit(_ name: String) {
    let queue = OperationQueue(backend: small(name, limit: 6))
    let release = Gate()
    let entered = Counter()
    for _ in 0..<20 {
      queue.addOperation {
        entered.increment()
        release.pass()
      }
    }
    guard (try? entered.wait(for: 6, "as many bodies as there may be threads")) != nil else { exit(1) }
    giveOthersAChance()
    print("entered \(entered.value)")
    release.open()
    queue.waitUntilAllOperationsAreFinished()
    print("ran \(entered.value)")
  }

  /// What the pool tells others of its threads: while two bodies run, and when it has ended behind bodies that block,
  /// announced and silently.
  private static func runningThreads(_ name: String) {
    let backend = small(name, limit: 200)
    let queue = OperationQueue(backend: backend)
    let both = CountdownLatch(2)
    let mayEnd = SpinFlag()
    for _ in 0..<2 {
      queue.addOperation {
        both.countDown()
        mayEnd.spin()
      }
    }
    FaultScenarios.expect((try? both.wait("two bodies")) != nil, "two bodies do not run at once")
    print(RunningThreads.ofProcess.sums.threads, RunningThreads.ofProcess.sums.pools)
    mayEnd.set()
    for round in 0..<60 {
      queue.addOperation { usleep(round % 3 == 0 ? 4_000 : 50) }
      queue.addOperation {
        let inner = BlockOperation { usleep(100) }
        queue.addOperation(inner)
        inner.waitUntilFinished()
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    (backend as? StealingBackend)?.shutdown()
    (backend as? ThreadPoolBackend)?.shutdown()
    // Dispatch's threads end their callouts behind the last operation.
    let deadline = ContinuousClock.now + .seconds(patience)
    while RunningThreads.ofProcess.sums != .init(threads: 0, pools: 0), ContinuousClock.now < deadline { usleep(1_000) }
    print(RunningThreads.ofProcess.sums.threads, RunningThreads.ofProcess.sums.pools)
  }

  /// What the dispatch backend tells others on a serial queue, while one of its callouts has the thread.
  private static func waitingCallouts() {
    let queue = OperationQueue(backend: DispatchBackend(queue: DispatchQueue(label: "serial")))
    let begun = CountdownLatch(1)
    let mayEnd = SpinFlag()
    for index in 0..<8 {
      queue.addOperation {
        guard index == 0 else { return }
        begun.countDown()
        mayEnd.spin()
      }
    }
    FaultScenarios.expect((try? begun.wait("a body")) != nil, "no body runs")
    print(RunningThreads.ofProcess.sums.threads, RunningThreads.ofProcess.sums.pools)
    mayEnd.set()
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Each operation adds one and waits for it, far deeper than helping goes by itself: at the limit of threads it goes
  /// on.
  private static func helpAtTheLimit(_ name: String) {
    let queue = OperationQueue(backend: small(name, limit: 3))
    let ran = Counter()
    @Sendable func nest(_ depth: Int) {
      ran.increment()
      guard depth > 1 else { return }
      let inner = BlockOperation { nest(depth - 1) }
      queue.addOperation(inner)
      inner.waitUntilFinished()
    }
    queue.addOperation { nest(600) }
    queue.waitUntilAllOperationsAreFinished()
    print("ran \(ran.value)")
  }

  /// Two queues that do not go on, and a signal that asks why.
  private static func dump() {
    let (first, second) = (OperationQueue(backend: .stealing), OperationQueue(backend: .threadPool))
    first.name = "first"
    first.isSuspended = true
    first.addOperation {}
    second.name = "second"
    let (ring, rest) = (BlockOperation {}, BlockOperation {})
    ring.addDependency(rest)
    rest.addDependency(ring)
    second.addOperations([ring, rest], waitUntilFinished: false)
    kill(getpid(), SIGUSR1)
    // Written on a thread of the library's; nobody tells when.
    usleep(500_000)
    print("goes on")
  }

  // MARK: - Shutdown

  private static func shutDownInAJob<Pool: Backend>(_ pool: Pool, _ shutDown: @escaping @Sendable (Pool) -> Void) {
    let queue = OperationQueue(backend: pool)
    queue.addOperation { shutDown(pool) }
    queue.waitUntilAllOperationsAreFinished()
  }
}
