import DeterministicOperations
import Dispatch
import Glibc
import Operations
import Synchronization
import TestSupport

/// How many profiling signals arrived on other threads than the main thread; here, because a handler captures nothing.
private let samples = Atomic<Int>(0)

/// What a process is given from outside, and what its pools make of it: CPUs, priorities, signals, and bodies that end
/// their thread.
enum SurroundingsScenarios {
  @TaskLocal private static var number = 0

  /// The first list of forks is made, which looks among thread-local variables that an allocator may change meanwhile.
  private static func allocator() {
    let backend = StealingBackend(workers: 2)
    let (first, second) = $number.withValue(7) { backend.run { join({ number }, { number }) } }
    exit(first == 7 && second == 7 ? 0 : 1)
  }

  /// The first run of a graph of a task, before any list of forks is made.
  private static func awaitAGraph() {
    let graph = OperationGraph(of: Int.self) { graph in graph.add { number } }
    Task {
      let seen = try await $number.withValue(7) { try await graph.run() }
      exit(seen == 7 ? 0 : 1)
    }
    dispatchMain()
  }

  static let all: [String: @Sendable () -> Void] = {
    var all: [String: @Sendable () -> Void] = [
      "surroundings-workers": { workers() }, "surroundings-allocator": { allocator() },
      "surroundings-graph": { awaitAGraph() },
    ]
    for backend in [TestBackend.stealing, .threadPool, .dispatch] {
      all["surroundings-inherited-\(backend)"] = { inherited(backend.name) }
      all["surroundings-main-priority-\(backend)"] = { mainPriority(backend) }
      all["surroundings-mask-\(backend)"] = { mask(backend) }
      all["surroundings-profiler-\(backend)"] = { profiler(backend) }
      all["surroundings-crash-\(backend)"] = { crash(backend) }
      all["surroundings-pipe-\(backend)"] = { pipe(backend) }
    }
    for backend in [TestBackend.stealing, .threadPool] {
      all["surroundings-child-\(backend)"] = { child(backend) }
      all["surroundings-started-\(backend)"] = { childOfAStarter(backend) }
    }
    for backend in [TestBackend.stealing, .threadPool, .dispatch, .deterministic] {
      all["left-body-\(backend)"] = { leave(backend, fromCompletionBlock: false) }
      all["left-completion-block-\(backend)"] = { leave(backend, fromCompletionBlock: true) }
      all["left-fork-\(backend)"] = { leaveFromAFork(backend) }
      all["left-guest-\(backend)"] = { leaveAsAGuest(backend) }
    }
    all["left-body-main"] = {
      OperationQueue.main.addOperation(leaving())
      dispatchMain()
    }
    return all
  }()

  private static func expect(_ condition: Bool, _ what: @autoclosure () -> String, line: Int = #line) {
    FaultScenarios.expect(condition, what(), line: line)
  }

  private static func attempt(_ body: () throws -> Void) { FaultScenarios.attempt(body) }

  /// A backend with the default number of workers.
  private static func make(_ name: String) -> any Backend {
    switch name {
    case "stealing": StealingBackend()
    case "threadpool": ThreadPoolBackend()
    default: DispatchBackend()
    }
  }

  // MARK: - Inherited

  /// What a thread has from the thread that started it.
  private struct Inherited: Equatable, Sendable {
    let cpus: [UInt]
    let nice: Int32
    let policy: Int32

    /// - Parameter thread: 0 for the calling thread.
    init(of thread: pid_t) {
      var mask = [UInt](repeating: 0, count: 128)
      _ = CPUMask.get(thread, mask.count * MemoryLayout<UInt>.size, &mask)
      cpus = mask
      nice = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(thread))
      policy = sched_getscheduler(thread)
    }
  }

  /// The first user of a backend is pinned to one CPU, has another policy, and is nice. No thread of the backend is.
  private static func inherited(_ name: String) {
    let process = Inherited(of: 0)
    // Without a job the backend starts no thread.
    let workers = make(name).workerCount
    attempt {
      try inTime("the first user") {
        expect(CPUMask.confineToOneCPU(), "the thread cannot be confined to one CPU")
        var parameters = sched_param()
        expect(sched_setscheduler(0, batch, &parameters) == 0, "no other policy: error \(errno)")
        let ownNumber = ThreadNumber.ofThisThread
        // Not every process may make a thread less nice again.
        let niceThreads = canLowerNice()
        if niceThreads {
          expect(setpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(ownNumber), 19) == 0, "not nice")
        }
        let mine = Inherited(of: 0)
        expect(mine != process, "the first user is like every other thread")
        let backend = make(name)
        expect(backend.workerCount == workers, "\(backend.workerCount) workers, not \(workers)")
        let queue = OperationQueue(backend: backend)
        // More bodies than workers, all at the same time: threads that stand in for blocked ones are among them.
        let count = backend.workerCount + 3
        let all = Rendezvous(count)
        let inherited = EventLog<Inherited>()
        for _ in 0..<count {
          queue.addOperation {
            inherited.append(Inherited(of: 0))
            all.arrive()
          }
        }
        try queue.drainInTime()
        expect(inherited.events.count == count, "\(inherited.events.count) bodies ran")
        for thread in inherited.events { expect(thread == process, "a body's thread has \(thread), not \(process)") }
        // The library's other threads: the monitors and the threads that stand in.
        for number in ThreadNumber.all where number != ownNumber && number != getpid() {
          let name = ThreadNumber.name(number)
          guard
            ["op-", "steal-", "pool-"].contains(where: name.hasPrefix)
              || ["-watch", "-spare"].contains(where: name.hasSuffix)
          else { continue }
          let thread = Inherited(of: number)
          // The thread may have ended meanwhile.
          if ThreadNumber.all.contains(number) { expect(thread == process, "\(name) has \(thread), not \(process)") }
        }
      }
    }
  }

  /// SCHED_BATCH, which Swift does not import.
  private static let batch: Int32 = 3

  private static func canLowerNice() -> Bool {
    let number = id_t(ThreadNumber.ofThisThread)
    let which = __priority_which_t(PRIO_PROCESS.rawValue)
    let before = getpriority(which, number)
    return setpriority(which, number, before + 1) == 0 && setpriority(which, number, before) == 0
  }

  /// An operation that runs on the main thread with a priority of its own is the first user of a pool.
  private static func mainPriority(_ backend: TestBackend) {
    let before = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
    let operation = BlockOperation {
      attempt {
        try backend.withQueue { queue in
          queue.addOperation {
            let nice = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
            expect(nice == before, "the worker has nice value \(nice), not \(before)")
          }
          try queue.drainInTime()
        }
      }
    }
    operation.threadPriority = 0
    operation.start()
  }

  /// Prints how many workers each backend has for which the program names no number.
  private static func workers() {
    for backend in [StealingBackend.shared, ThreadPoolBackend.shared, DispatchBackend.shared] as [any Backend] {
      print("\(backend.name) \(backend.workerCount)")
    }
    print("named \(StealingBackend(workers: 5).workerCount)")
  }

  // MARK: - Signals

  private static func blockedSignals() -> Set<Int32> {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    // 32 and 33 are the C library's.
    return Set((1..<32).filter { sigismember(&mask, $0) == 1 })
  }

  /// A pool's threads block what libdispatch's workers block, except SIGABRT.
  private static func mask(_ backend: TestBackend) {
    let ofDispatch = Monitor<Set<Int32>?>(nil)
    DispatchQueue.global().async { ofDispatch.with { $0 = blockedSignals() } }
    expect(ofDispatch.wait { $0 != nil }, "gave up waiting for a worker of libdispatch")
    attempt {
      let here = try backend.onWorker { blockedSignals() }
      var expected = ofDispatch.value ?? []
      if backend.name != "dispatch" { expected.remove(SIGABRT) }
      expect(here == expected, "blocked are \(here.sorted()), and on a worker of libdispatch \(expected.sorted())")
    }
  }

  /// A body computes until a profiler that counts CPU time has seen it.
  private static func profiler(_ backend: TestBackend) {
    var action = sigaction()
    action.__sigaction_handler.sa_handler = { _ in samples.wrappingAdd(1, ordering: .relaxed) }
    action.sa_flags = SA_RESTART
    samples.store(0, ordering: .relaxed)
    expect(sigaction(SIGPROF, &action, nil) == 0, "no handler: error \(errno)")
    // Only the threads of the pool are left for the signal.
    var mine = sigset_t()
    sigemptyset(&mine)
    sigaddset(&mine, SIGPROF)
    pthread_sigmask(SIG_BLOCK, &mine, nil)
    let interval = timeval(tv_sec: 0, tv_usec: 1_000)
    var timer = itimerval(it_interval: interval, it_value: interval)
    expect(setitimer(__itimer_which_t(ITIMER_PROF.rawValue), &timer, nil) == 0, "no timer: error \(errno)")
    @Sendable func seen() -> Int { samples.load(ordering: .relaxed) }
    attempt {
      try backend.withQueue { queue in
        queue.addOperation {
          var used = timespec()
          repeat { clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used) } while seen() < 20 && used.tv_sec < 20
          expect(seen() >= 20, "a profiler has \(seen()) samples of 20 s of CPU time")
        }
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  /// One body computes, another one crashes.
  private static func crash(_ backend: TestBackend) {
    attempt {
      try backend.withQueue { queue in
        let (flag, begun) = (SpinFlag(), Gate())
        queue.addOperation {
          begun.open()
          computingBodyOfTheScenario(flag)
        }
        queue.addOperation {
          begun.pass()
          // The address is not known to the compiler.
          UnsafeMutablePointer<Int>(bitPattern: Int(getpid()) & 0x8 | 0x10)!.pointee = 1
        }
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  /// A body writes to a pipe that nobody reads.
  private static func pipe(_ backend: TestBackend) {
    var ends: [Int32] = [0, 0]
    expect(Glibc.pipe(&ends) == 0, "no pipe: error \(errno)")
    close(ends[0])
    let writer = ends[1]
    attempt {
      try backend.withQueue { queue in
        queue.addOperation {
          _ = Glibc.write(writer, "x", 1)
          print("the write returned")
        }
        queue.waitUntilAllOperationsAreFinished()
      }
    }
  }

  /// The first user blocks all signals, as a thread of Swift concurrency does. A child that an operation forks has the
  /// main thread's mask all the same.
  private static func child(_ backend: TestBackend) {
    blockOnlyOurs()
    attempt { try inTime("the first user") { try forkInAnOperation(of: backend) } }
  }

  /// A pool gets its first user while the main thread starts a thread: the C library blocks all signals of the main
  /// thread meanwhile, its own among them.
  private static func childOfAStarter(_ backend: TestBackend) {
    blockOnlyOurs()
    let blocked = Gate()
    let done = Monitor(false)
    startThread {
      attempt {
        blocked.pass()
        try forkInAnOperation(of: backend)
      }
      done.with { $0 = true }
    }
    // No function of the C library blocks the C library's own signals: the kernel is asked.
    typealias SetMask = @convention(c) (Int, Int, UnsafePointer<UInt64>, UnsafeMutablePointer<UInt64>?, Int) -> Int
    let call = unsafeBitCast(dlsym(nil, "syscall"), to: SetMask.self)
    var (all, before) = (UInt64.max, UInt64(0))
    expect(call(setMask, Int(SIG_SETMASK), &all, &before, 8) == 0, "no mask: error \(errno)")
    blocked.open()
    usleep(50_000)
    expect(call(setMask, Int(SIG_SETMASK), &before, nil, 8) == 0, "no mask: error \(errno)")
    expect(done.wait { $0 }, "gave up waiting for the first user")
  }

  /// The number of the call rt_sigprocmask.
  private static var setMask: Int {
    #if arch(arm64)
      135
    #else
      14
    #endif
  }

  /// The calling thread blocks SIGUSR2 and no other signal.
  private static func blockOnlyOurs() {
    var ours = sigset_t()
    sigemptyset(&ours)
    sigaddset(&ours, SIGUSR2)
    pthread_sigmask(SIG_SETMASK, &ours, nil)
  }

  /// The calling thread blocks all signals and adds an operation that forks.
  @Sendable private static func forkInAnOperation(of backend: TestBackend) throws {
    var all = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, nil)
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
    try backend.withQueue { queue in
      queue.addOperation {
        let child = fork()
        if child == 0 { _exit(isMaskOfProgram() ? 0 : 1) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) == -1 && errno == EINTR {}
        expect(status == 0, "the child ended with \(status)")
      }
      try queue.drainInTime()
    }
  }

  /// Whether the calling thread blocks SIGUSR2 alone.
  ///
  /// A child calls this: another thread of its parent may have held a lock of Swift's runtime, and nobody in the child
  /// gives that lock back. So nothing generic is used here, not even a range.
  private static func isMaskOfProgram() -> Bool {
    var mask = sigset_t()
    pthread_sigmask(SIG_SETMASK, nil, &mask)
    var signal: Int32 = 1
    while signal < 32 {
      if (sigismember(&mask, signal) == 1) != (signal == SIGUSR2) { return false }
      signal += 1
    }
    return true
  }

  // MARK: - Bodies that do not return

  private static func leaving() -> Operation {
    let operation = BlockOperation { pthread_exit(nil) }
    operation.name = "culprit"
    return operation
  }

  /// The fork runs on another thread than the operation.
  private static func leaveFromAFork(_ backend: TestBackend) {
    let queue = OperationQueue(backend: backend.leftRunning())
    let begun = Gate()
    let operation = BlockOperation {
      join(
        { begun.pass() },
        { () -> Void in
          begun.open()
          pthread_exit(nil)
        })
    }
    operation.name = "culprit"
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    _ = Gate().pass()
  }

  /// The thread is none of the pool's, and the first body ends it.
  private static func leaveAsAGuest(_ backend: TestBackend) {
    let pool = backend.leftRunning()
    let isDone = Gate()
    startThread {
      pool.run {
        join(
          { () -> Void in
            isDone.pass()
            pool.run { join({ pthread_exit(nil) }, {}) }
          }, { isDone.open() })
      }
    }
    _ = Gate().pass()
  }

  private static func leave(_ backend: TestBackend, fromCompletionBlock: Bool) {
    let queue = OperationQueue(backend: backend.leftRunning())
    let operation = fromCompletionBlock ? BlockOperation {} : leaving()
    if fromCompletionBlock { operation.completionBlock = { pthread_exit(nil) } }
    queue.addOperation(operation)
    queue.waitUntilAllOperationsAreFinished()
    _ = Gate().pass()
  }
}

/// A name for the crash report to show.
@inline(never)
private func computingBodyOfTheScenario(_ flag: SpinFlag) {
  flag.spin()
  withExtendedLifetime(flag) {}
}

/// The threads of this process by their numbers.
private enum ThreadNumber {
  static var all: [pid_t] {
    guard let folder = opendir("/proc/self/task") else { return [] }
    defer { closedir(folder) }
    var threads: [pid_t] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let number = pid_t(name) { threads.append(number) }
    }
    return threads
  }

  static func name(_ number: pid_t) -> String {
    guard let file = fopen("/proc/self/task/\(number)/comm", "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 64)
    let length = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<max(0, length - 1)], as: UTF8.self)
  }

  static var ofThisThread: pid_t {
    typealias Get = @convention(c) () -> pid_t
    return unsafeBitCast(dlsym(nil, "gettid")!, to: Get.self)()
  }
}
