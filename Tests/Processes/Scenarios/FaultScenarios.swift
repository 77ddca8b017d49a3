import Glibc
import Operations
import TestSupport

/// What a program meets at the edges: bodies that never end or crash, an end in the midst of work, and memory that is
/// refused. Every scenario ends by itself; its test says how.
enum FaultScenarios {
  static let all: [String: @Sendable () -> Void] = {
    var all: [String: @Sendable () -> Void] = [:]
    for backend in allBackends {
      all["fault-memory-pending-\(backend)"] = { withoutMemory(backend, pending: true) }
      all["fault-memory-flowing-\(backend)"] = { withoutMemory(backend, pending: false) }
      all["fault-body-traps-\(backend)"] = { bodyTraps(backend) }
      all["fault-endless-sleep-\(backend)"] = { endless(backend) { while true { pause() } } }
      all["fault-exit-\(backend)"] = { exitInTheMidst(backend, fromBody: false) }
      all["fault-exit-from-body-\(backend)"] = { exitInTheMidst(backend, fromBody: true) }
    }
    // Dispatch gives the CPUs that there are, and one that computes for ever has one of them for ever.
    for backend in compensatingBackends { all["fault-endless-spin-\(backend)"] = { endless(backend, spin) } }
    return all.merging(ConditionScenarios.all) { first, _ in first }
  }()

  /// Ends the process when the body throws.
  static func attempt(_ body: () throws -> Void) {
    do { try body() } catch {
      print("\(error)")
      exit(1)
    }
  }

  static func expect(_ condition: Bool, _ what: @autoclosure () -> String, line: Int = #line) {
    guard !condition else { return }
    print("line \(line): \(what())")
    exit(1)
  }

  // MARK: - Memory

  /// The runtime builds its message "failed to allocate" in memory that it asks for, and reads address 0 when that is
  /// refused as well: then the message comes from here.
  private static func reportBadAccessWithoutMemory() {
    signal(SIGSEGV) { _ in
      if malloc(64) == nil || malloc(256) == nil || malloc(4_096) == nil {
        let message: StaticString = "failed to allocate, nor a message that says so\n"
        _ = write(STDERR_FILENO, message.utf8Start, message.utf8CodeUnitCount)
      }
      // Back to the access, which ends the process now.
      signal(SIGSEGV, SIG_DFL)
    }
  }

  /// The address space may grow by 16 MB; a million operations that all wait need more.
  private static func withoutMemory(_ backend: TestBackend, pending: Bool) {
    attempt {
      try backend.withQueue { queue in
        // The threads and what else is made once.
        queue.isSuspended = true
        queue.isSuspended = false
        for _ in 0..<1_000 { queue.addOperation {} }
        try queue.drainInTime()
        let space = ProcessFootprint.addressSpaceBytes + 16 << 20
        var limit = rlimit(rlim_cur: rlim_t(space), rlim_max: rlim_t(space))
        expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0, "no limit: error \(errno)")
        reportBadAccessWithoutMemory()
        queue.isSuspended = pending
        for _ in 0..<(pending ? 1_000_000 : backend.manyReady) { queue.addOperation(BlockOperation {}) }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        expect(queue.operationCount == 0, "\(queue.operationCount) operations are left")
        // Ends at once: a thread to wait in for the shutdown needs memory too.
        exit(0)
      }
    }
  }

  // MARK: - Bodies

  /// Beside bodies that compute, wait and sleep.
  private static func bodyTraps(_ backend: TestBackend) {
    attempt {
      try backend.withQueue(workers: 4) { queue in
        let closed = Gate()
        let begun = CountdownLatch(2)
        queue.addOperation {
          begun.countDown()
          spin()
        }
        queue.addOperation {
          begun.countDown()
          closed.pass()
        }
        // With one CPU Dispatch has only one thread for them.
        if backend.compensatesBlockedBodies { try begun.wait("the bodies to begin") }
        startThread { queue.waitUntilAllOperationsAreFinished() }
        queue.addOperation { fatalError("the culprit's last words") }
        try Gate().wait("the end of the process")
      }
    }
  }

  private static func spin() { while true { sched_yield() } }

  /// One body never returns; all others are waited for.
  private static func endless(_ backend: TestBackend, _ body: @escaping @Sendable () -> Void) {
    attempt {
      try backend.withBackend { instance in
        let busy = OperationQueue(backend: instance)
        let begun = Gate()
        busy.addOperation {
          begun.open()
          body()
        }
        try begun.wait("the endless body to begin")
        let queue = OperationQueue(backend: instance)
        let ran = Counter()
        var last: Operation?
        for _ in 0..<1_000 {
          let operation = BlockOperation { ran.increment() }
          if let last { operation.addDependency(last) }
          last = operation
          queue.addOperation(operation)
          busy.addOperation { ran.increment() }
        }
        try last?.finishInTime()
        try queue.drainInTime()
        try eventually("those behind the endless one") { busy.operationCount == 1 }
        expect(ran.value == 2_000, "\(ran.value) ran")
        // The endless one cannot be waited for, nor a pool be shut down that runs it.
        exit(0)
      }
    }
  }

  // MARK: - The end of the process

  /// Work is running, blocked, pending, suspended and still being added when the process ends with 7.
  private static func exitInTheMidst(_ backend: TestBackend, fromBody: Bool) {
    attempt {
      try backend.withBackend { instance in
        let running = OperationQueue(backend: instance)
        let begun = CountdownLatch(100)
        for _ in 0..<2 {
          startThread {
            while true {
              running.addOperation { begun.countDown() }
              if running.operationCount > 10_000 { usleep(1_000) }
            }
          }
        }
        startThread { running.waitUntilAllOperationsAreFinished() }
        let suspended = OperationQueue(backend: instance)
        suspended.isSuspended = true
        for _ in 0..<1_000 { suspended.addOperation {} }
        startThread { suspended.waitUntilAllOperationsAreFinished() }
        try begun.wait("work to be under way")
        guard fromBody else { exit(7) }
        OperationQueue(backend: instance).addOperation { exit(7) }
        try Gate().wait("the end of the process")
      }
    }
  }
}
