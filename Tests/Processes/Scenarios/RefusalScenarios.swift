import Dispatch
import Glibc
import Operations
import TestSupport

/// What the system refuses, one thing at a time: descriptors, `/proc`, thread keys. And code of users that blocks, or
/// answers for ever, where the library asks it. Every scenario must end with 0; its test says what it may print.
enum RefusalScenarios {
  /// The library's own backends: what these know of their threads comes from the system.
  static let backends: [TestBackend] = [.stealing, .threadPool, .dispatch]

  static let all: [String: @Sendable () -> Void] = {
    var all: [String: @Sendable () -> Void] = [:]
    for backend in backends {
      all["refused-descriptors-\(backend)"] = { blockedBodies(backend, refusing: takeAllDescriptors) }
      all["refused-proc-\(backend)"] = { blockedBodies(backend, refusing: hideProc) }
      all["refused-keys-\(backend)"] = { withoutKeys(backend) }
      all["diagnosis-of-a-deadlock-\(backend)"] = { diagnosisOfADeadlock(backend) }
      all["blocked-questions-\(backend)"] = { blockedQuestions(backend) }
      all["ready-posts-itself-\(backend)"] = { readyPostsItself(backend) }
      all["finished-posts-itself-\(backend)"] = { finishedPostsItself(backend) }
      all["each-posts-the-other-\(backend)"] = { eachPostsTheOther(backend) }
    }
    all["dump-of-a-deadlock"] = { dumpOfADeadlock() }
    all["dump-beside-ends"] = { dumpBesideEnds() }
    return all
  }()

  // MARK: - Descriptors and /proc

  private static func takeAllDescriptors() {
    var limit = rlimit(rlim_cur: 64, rlim_max: 64)
    FaultScenarios.expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, "no limit: \(errno)")
    while open("/dev/null", O_RDONLY) >= 0 {}
  }

  private static func hideProc() {
    var template = Array("/tmp/operations-XXXXXX".utf8CString)
    FaultScenarios.expect(mkdtemp(&template) != nil, "no folder: \(errno)")
    let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard chroot(folder) == 0 else {
      rmdir(folder)
      print("not permitted")
      exit(0)
    }
    chdir("/")
  }

  /// Dispatch itself opens descriptors when its first timer and its first threads begin, and ends the process where it
  /// gets none.
  private static func openDispatch() {
    for _ in 0..<4 {
      let fired = DispatchSemaphore(value: 0)
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { fired.signal() }
      fired.wait()
    }
  }

  /// Two bodies block in `read`; the third would release them, and has no worker.
  private static func blockedBodies(_ backend: TestBackend, refusing refuse: () -> Void) {
    FaultScenarios.attempt {
      var (first, second): ([Int32], [Int32]) = ([0, 0], [0, 0])
      FaultScenarios.expect(pipe(&first) == 0 && pipe(&second) == 0, "no pipe")
      let (readers, writers) = ([first[0], second[0]], [first[1], second[1]])
      try backend.withQueue { queue in
        queue.maxConcurrentOperationCount = 3
        if backend.name == TestBackend.dispatch.name { openDispatch() }
        refuse()
        let begun = CountdownLatch(2)
        for reader in readers {
          queue.addOperation {
            begun.countDown()
            var byte: UInt8 = 0
            _ = read(reader, &byte, 1)
          }
        }
        if backend.compensatesBlockedBodies { try begun.wait("the bodies to begin") }
        queue.addOperation {
          for writer in writers {
            var byte: UInt8 = 0
            _ = write(writer, &byte, 1)
          }
        }
        try queue.drainInTime(seconds: 20)
      }
    }
  }

  // MARK: - Keys

  /// Every key belongs to somebody else, who never set a value: no destructor may be called.
  private static func withoutKeys(_ backend: TestBackend) {
    var key = pthread_key_t()
    while pthread_key_create(&key, { _ in _exit(3) }) == 0 {}
    FaultScenarios.attempt {
      for _ in 0..<20 {
        try backend.withQueue { queue in
          try onThreads(4, "threads that add, run and end") { _ in
            for _ in 0..<200 {
              let (first, second) = (BlockOperation {}, BlockOperation {})
              second.addDependency(first)
              queue.addOperations([first, second], waitUntilFinished: true)
            }
          }
          try queue.drainInTime()
        }
      }
      // What threads do when they end.
      usleep(50_000)
    }
  }

  // MARK: - Questions

  /// An operation whose properties take a lock.
  private final class Locked: Operation, @unchecked Sendable {
    // Invariant: constant, and thread-safe itself.
    private let isHeld: Monitor<Bool>
    init(_ isHeld: Monitor<Bool>) { self.isHeld = isHeld }
    private func look() { _ = isHeld.wait(seconds: 1_000, until: { !$0 }) }
    override var isFinished: Bool {
      look()
      return super.isFinished
    }
    override var isCancelled: Bool {
      look()
      return super.isCancelled
    }
    override var dependencies: [Operation] {
      look()
      return super.dependencies
    }
    override var name: String? {
      get {
        look()
        return super.name
      }
      set { super.name = newValue }
    }
  }

  /// A pending operation whose dependency's properties take a lock. The lock is held for ever from now on.
  private static func makeDeadlock(_ instance: any Backend) -> (queue: OperationQueue, operation: Operation) {
    let queue = OperationQueue(backend: instance)
    let isHeld = Monitor(false)
    let (waiting, locked, behind) = (BlockOperation {}, Locked(isHeld), Locked(isHeld))
    waiting.addDependency(locked)
    locked.addDependency(behind)
    queue.isSuspended = true
    queue.addOperation(waiting)
    queue.addOperation(Locked(isHeld))
    queue.addBarrierBlock {}
    queue.addOperation {}
    isHeld.with { $0 = true }
    return (queue, waiting)
  }

  private static func diagnosisOfADeadlock(_ backend: TestBackend) {
    FaultScenarios.attempt {
      let (queue, operation) = makeDeadlock(backend.leftRunning())
      try inTime("whyNotStarted()", seconds: 10) { _ = operation.whyNotStarted().description }
      try inTime("diagnosis()", seconds: 10) { _ = queue.diagnosis().description }
      try inTime("dependencyCycles()", seconds: 10) { _ = queue.dependencyCycles() }
      exit(0)
    }
  }

  private static func dumpOfADeadlock() {
    let (queue, _) = makeDeadlock(TestBackend.stealing.leftRunning())
    queue.name = "in a deadlock"
    let later = (0..<8).map { number in
      let queue = OperationQueue()
      queue.name = "later \(number)"
      return queue
    }
    kill(getpid(), SIGUSR1)
    // Written on a thread of the library's; nobody tells when.
    usleep(500_000)
    print("goes on")
    withExtendedLifetime(later) {}
    exit(0)
  }

  /// The end of the queue makes a queue.
  private final class Chained: OperationQueue, @unchecked Sendable {
    deinit { _ = OperationQueue() }
  }

  private static func dumpBesideEnds() {
    FaultScenarios.attempt {
      try onThreads(4, "queues whose end makes a queue") { _ in
        for _ in 0..<2_000 { _ = Chained() }
      }
      // Making a queue must not look at all the others.
      var kept: [OperationQueue] = []
      for _ in 0..<50_000 { kept.append(OperationQueue()) }
      kept.removeAll()
    }
  }

  /// The asynchronous pattern by hand, whose `isFinished` may block.
  private final class ByHand: Operation, @unchecked Sendable {
    // Invariant: the flags are in a monitor, the gate is thread-safe itself.
    private let flags = Monitor((executing: false, finished: false))
    private let gate: Gate?
    init(_ gate: Gate? = nil) { self.gate = gate }
    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { flags.value.executing }
    override var isFinished: Bool {
      if flags.value.executing == false, flags.value.finished { gate?.pass(seconds: 1_000) }
      return flags.value.finished
    }
    override func start() {
      flags.with { $0 = (false, true) }
      willChangeValue(forKey: "isFinished")
      didChangeValue(forKey: "isFinished")
    }
  }

  /// Three hundred `isFinished` block; an operation beside them must still be seen to finish.
  private static func blockedQuestions(_ backend: TestBackend) {
    FaultScenarios.attempt {
      let instance = backend.leftRunning()
      let (crowd, queue) = (OperationQueue(backend: instance), OperationQueue(backend: instance))
      let gate = Gate()
      for _ in 0..<300 { crowd.addOperation(ByHand(gate)) }
      usleep(1_500_000)
      let beside = ByHand()
      queue.addOperation(beside)
      try beside.finishInTime(seconds: 20)
      let text = queue.diagnosis().description
      FaultScenarios.expect(text.contains("have not returned"), text)
      gate.open()
      try crowd.drainInTime()
      exit(0)
    }
  }

  private final class NeverReady: Operation, @unchecked Sendable {
    // Invariant: thread-safe itself.
    let opens = Gate()
    override var isReady: Bool {
      willChangeValue(forKey: "isReady")
      didChangeValue(forKey: "isReady")
      return super.isReady && opens.isOpen
    }
  }

  private static func readyPostsItself(_ backend: TestBackend) {
    let operation = NeverReady()
    operation.name = "never ready"
    staysIdle(backend, operation, until: operation.opens)
  }

  /// Adding the operation returns, nothing uses a CPU, and a post after the gate was opened still lets it run.
  private static func staysIdle(_ backend: TestBackend, _ operation: Operation, until gate: Gate) {
    FaultScenarios.attempt {
      try backend.withQueue { queue in
        try inTime("addOperation", seconds: 10) { queue.addOperation(operation) }
        try idleInTime()
        gate.open()
        operation.didChangeValue(forKey: "isReady")
        try queue.drainInTime(seconds: 20)
      }
    }
  }

  private final class NeverFinished: Operation, @unchecked Sendable {
    // Invariant: thread-safe themselves.
    let closes = Gate()
    let started = Gate()
    override var isAsynchronous: Bool { true }
    override var isFinished: Bool {
      willChangeValue(forKey: "isFinished")
      didChangeValue(forKey: "isFinished")
      return closes.isOpen
    }
    override func start() { started.open() }
  }

  private static func finishedPostsItself(_ backend: TestBackend) {
    FaultScenarios.attempt {
      try backend.withQueue { queue in
        let operation = NeverFinished()
        operation.name = "never finished"
        queue.addOperation(operation)
        try operation.started.wait("the start")
        operation.didChangeValue(forKey: "isFinished")
        try idleInTime()
        operation.closes.open()
        operation.didChangeValue(forKey: "isFinished")
        try queue.drainInTime(seconds: 20)
      }
    }
  }

  /// Reading one property posts the other.
  private final class Crossing: Operation, @unchecked Sendable {
    // Invariant: thread-safe itself.
    let opens = Gate()
    override var isReady: Bool {
      didChangeValue(forKey: "isFinished")
      return super.isReady && opens.isOpen
    }
    override var isFinished: Bool {
      didChangeValue(forKey: "isReady")
      return super.isFinished
    }
  }

  private static func eachPostsTheOther(_ backend: TestBackend) {
    let operation = Crossing()
    operation.name = "crossing"
    staysIdle(backend, operation, until: operation.opens)
  }

  /// The process uses hardly any CPU time any more.
  private static func idleInTime() throws {
    try eventually("the process to be idle", seconds: 10) {
      let before = clock()
      usleep(100_000)
      return clock() - before < 50_000
    }
  }
}
