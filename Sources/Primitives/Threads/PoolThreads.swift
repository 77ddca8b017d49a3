import CPlatform
import Synchronization

/// The threads of a pool, whatever hands them their jobs: how many may be started and how many are alive, what
/// happens when the system has no thread, and the monitor that looks for blocked threads.
package struct PoolThreads: ~Copyable, Sendable {
  package let workers: WorkerNumber
  /// The most threads that compute at the same time.
  package var workerCount: Int { workers.most }
  /// The most threads that are started, whatever blocks.
  package let limit: Int
  package let monitor: BlockingMonitor
  package let shortage: ThreadShortage
  private let poolName: String
  private let created = Atomic<Int>(0)
  private let started = Atomic<UInt64>(0)
  /// The number of threads that are alive; a futex for `join`.
  private let live = Atomic<UInt32>(0)
  /// Whether the monitor ends with the last thread.
  private let isEnding = Atomic<Bool>(false)
  /// The operations that have begun on the pool's threads and go on after that.
  package let begun = BegunOperations()

  /// How long a surplus thread sleeps before it ends, in nanoseconds.
  package static let surplusLifetime: Int64 = 1_000_000_000

  /// - Parameters:
  ///   - poolName: the pool's name in messages: "the … pool".
  ///   - monitorName: the name of the monitor's thread.
  package init(poolName: String, monitorName: String, workers: WorkerNumber, limit: Int) {
    self.poolName = poolName
    self.workers = workers
    self.limit = max(workers.most, limit)
    monitor = BlockingMonitor(name: monitorName)
    shortage = ThreadShortage(poolName: poolName)
    cplatform_watch_fork()
  }

  package var createdCount: Int { created.load(ordering: .relaxed) }
  /// How many threads have started: `createdCount` without those that the system refused. Only grows.
  package var startedCount: UInt64 { started.load(ordering: .relaxed) }
  package var isEmpty: Bool { live.load(ordering: .relaxed) == 0 }

  /// Traps in a forked child. Called before any lock is taken: another thread of the parent may have held the lock at
  /// the fork.
  @inline(__always)
  package func checkNotForked() {
    if cplatform_is_forked_child() { refuseForkedChild() }
  }

  @inline(never)
  private func refuseForkedChild() -> Never {
    fatalError("Operations: a \(poolName) pool was used in a forked child without exec: its threads are in the parent")
  }

  /// After the beginning of `shutdown()`: whether nothing is going on any more that may hand over jobs. An operation
  /// whose beginning has not been counted yet is inside of a job of a thread that is alive.
  package var isOver: Bool { live.load(ordering: .sequentiallyConsistent) == 0 && begun.isNone }

  package func refuseAfterShutdown() -> Never {
    fatalError(
      "Operations: a job was submitted to a \(poolName) pool after shutdown(); end what uses the pool first, also tasks that prefer "
        + "its taskExecutor and calls of actors on its serialExecutor()")
  }

  /// Starts a thread. The caller has counted the thread in its own books.
  /// - Parameters:
  ///   - undo: takes the thread out of the caller's books, when the system has no thread to give.
  ///   - retry: called later on threads that wait; returns false when the pool is gone, or needs no thread any more.
  ///   - body: the thread's life; `ended` is its last call.
  /// - Returns: false when the system has no thread to give.
  package borrowing func start(
    name: String, undo: () -> Void, retry: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    live.wrappingAdd(1, ordering: .relaxed)
    created.wrappingAdd(1, ordering: .relaxed)
    if PlatformThread.start(name: name, body) {
      started.wrappingAdd(1, ordering: .relaxed)
      shortage.end()
      return true
    }
    created.wrappingSubtract(1, ordering: .relaxed)
    undo()
    ended()
    shortage.begin(retry)
    return false
  }

  /// A thread's last call. Nothing of the pool is touched after it: `join` may have returned.
  package borrowing func ended() {
    guard live.wrappingSubtract(1, ordering: .sequentiallyConsistent).newValue == 0 else { return }
    if isEnding.load(ordering: .sequentiallyConsistent), begun.isNone { monitor.stop() }
    live.futexWake(.max)
  }

  /// The pool takes no further jobs from outside: the monitor ends with the last thread. Until then a body may block
  /// that waits for a queued job, and the monitor alone finds it.
  package borrowing func stopMonitorAtEnd() {
    isEnding.store(true, ordering: .sequentiallyConsistent)
    if live.load(ordering: .sequentiallyConsistent) == 0, begun.isNone { monitor.stop() }
  }

  /// Returns when every thread has ended, and every operation that has begun. Such an operation may have threads
  /// started again meanwhile, by what it hands over. Traps on a thread of the pool.
  package borrowing func join(isOwnThread: Bool) {
    if isOwnThread { fatalError("Operations: shutdown() inside a job of the pool would wait for itself") }
    var hasSaid = false
    while true {
      while case let count = live.load(ordering: .sequentiallyConsistent), count > 0 { live.futexWait(while: count) }
      // Without a thread nothing begins. What an operation hands over before its end has had its thread counted by
      // then.
      if begun.endsStay({ live.load(ordering: .sequentiallyConsistent) == 0 }) { break }
      if !begun.waitForAnEnd(nanoseconds: Self.surplusLifetime), !hasSaid, isEmpty, begun.count > 0 {
        hasSaid = true
        let line =
          "Operations: shutdown() of the \(poolName) pool waits for \(begun.count) operations that have begun and have not "
          + "finished; the diagnosis() of their queues names them"
        line.withCString { cplatform_print_error($0) }
      }
    }
    monitor.stop()
  }
}
