import CPlatform
import Synchronization

/// The threads of a pool, whatever hands them their jobs: how many may be started and how many are alive, who is told when the system has
/// none, and the monitor that looks for blocked ones.
package struct PoolThreads: ~Copyable, Sendable {
  /// Threads that compute at the same time.
  package let workerCount: Int
  /// More threads than this are not started, whatever blocks.
  package let limit: Int
  package let monitor: BlockingMonitor
  package let shortage: ThreadShortage
  private let poolName: String
  private let created = Atomic<Int>(0)
  /// As a futex for `join`.
  private let live = Atomic<UInt32>(0)

  /// How long a surplus thread sleeps before it ends, in nanoseconds.
  package static let surplusLifetime: Int64 = 1_000_000_000
  /// Jobs that a thread runs one from another before it looks at the queues: long enough that the look costs nothing, short enough that
  /// the others have their turn. A prime, so that it keeps no step with periodic work.
  package static let runLength = 61

  /// - Parameters:
  ///   - poolName: in messages: "the … pool".
  ///   - monitorName: of the monitor's thread.
  package init(poolName: String, monitorName: String, workerCount: Int, limit: Int) {
    self.poolName = poolName
    self.workerCount = workerCount
    self.limit = max(workerCount, limit)
    monitor = BlockingMonitor(name: monitorName)
    shortage = ThreadShortage(poolName: poolName)
    cplatform_watch_fork()
  }

  package var createdCount: Int { created.load(ordering: .relaxed) }
  package var isEmpty: Bool { live.load(ordering: .relaxed) == 0 }

  /// Traps in a forked child. Before any lock, which another thread of the parent may have held at the fork.
  @inline(__always)
  package func checkNotForked() {
    if cplatform_is_forked_child() { refuseForkedChild() }
  }

  @inline(never)
  private func refuseForkedChild() -> Never {
    fatalError("Operations: a \(poolName) pool was used in a forked child without exec: its threads are in the parent")
  }

  /// Starts a thread, which the caller has counted in its own books.
  /// - Parameters:
  ///   - undo: takes the thread out of those books: the system has none to give.
  ///   - retry: called later on threads that wait; gives false when the pool is gone, or needs no thread any more.
  ///   - body: the thread's life; `ended` is its last call.
  /// - Returns: false when the system has none.
  package borrowing func start(
    name: String, undo: () -> Void, retry: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    live.wrappingAdd(1, ordering: .relaxed)
    created.wrappingAdd(1, ordering: .relaxed)
    if PlatformThread.start(name: name, body) {
      shortage.end()
      return true
    }
    created.wrappingSubtract(1, ordering: .relaxed)
    undo()
    ended()
    shortage.begin(retry)
    return false
  }

  /// A thread's last call. Nothing of the pool is touched behind it: `join` may have returned.
  package borrowing func ended() {
    if live.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 { live.futexWake(.max) }
  }

  /// Returns when every thread has ended. Traps on a thread of the pool.
  package borrowing func join(isOwnThread: Bool) {
    if isOwnThread { fatalError("Operations: shutdown() inside a job of the pool would wait for itself") }
    while case let count = live.load(ordering: .acquiring), count > 0 { live.futexWait(while: count) }
  }
}
