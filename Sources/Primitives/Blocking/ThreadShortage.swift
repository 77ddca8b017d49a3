import CPlatform
import Synchronization

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A pool that wants a thread and gets none. The pool prints one line, and no further line until there is a thread
/// again. Threads that wait try again for the pool.
package struct ThreadShortage: ~Copyable, Sendable {
  private let poolName: String
  /// The system refused the last thread.
  private let refused = Atomic<Bool>(false)
  /// The pool has as many threads as it may.
  private let full = Atomic<Bool>(false)

  /// When the line about the limit was last printed, by the monotonic clock; 0 for never.
  private let saidFull = Atomic<UInt64>(0)
  private static let silence: UInt64 = 10_000_000_000

  /// How many threads a pool may have, blocked threads included.
  package static let threadLimit = 4096

  /// How often a submit tries again when nobody else does, and how long the submit waits between two tries, in
  /// microseconds.
  private static let tries = 100
  private static let pause: UInt32 = 1_000

  package init(poolName: String) { self.poolName = poolName }

  package var isRefused: Bool { refused.load(ordering: .relaxed) }
  package var isFull: Bool { full.load(ordering: .relaxed) }

  /// Called when the system has no thread to give.
  /// - Parameter retry: called on threads that wait; returns false when the pool is gone.
  package func begin(_ retry: @escaping @Sendable () -> Bool) {
    guard !refused.exchange(true, ordering: .acquiringAndReleasing) else { return }
    say("the system refuses a thread for the \(poolName) pool; operations wait, and it is tried again")
    RefusedPools.shared.add(retry)
  }

  /// Called when a thread was started, or when no thread is wanted any more.
  package func end() {
    if refused.load(ordering: .relaxed) { refused.store(false, ordering: .relaxed) }
  }

  /// Called when there are `limit` threads, and a job wants another thread.
  package func reachLimit(_ limit: Int) {
    guard !full.exchange(true, ordering: .acquiringAndReleasing) else { return }
    // A pool at its limit leaves the limit and reaches it again and again.
    let now = cplatform_now_ns()
    let last = saidFull.exchange(now, ordering: .relaxed)
    guard last == 0 || now - last > Self.silence else { return }
    say(
      "the \(poolName) pool has \(limit) threads and all of them are blocked; operations wait until one comes back"
        + " (OperationQueue.diagnosis() tells what they wait for)")
  }

  /// Called when a thread found nothing to do.
  package func leaveLimit() {
    if full.load(ordering: .relaxed) { full.store(false, ordering: .relaxed) }
  }

  /// Calls `attempt` until `attempt` succeeds, for about 100 ms. Only where no timer could try again.
  package static func insist(_ attempt: () -> Bool) {
    for _ in 0..<tries {
      usleep(pause)
      if attempt() { return }
    }
  }

  private func say(_ line: String) { "Operations: \(line)".withCString { cplatform_print_error($0) } }
}

/// The pools that were refused a thread: every wait of the library tries again for them now and then.
package final class RefusedPools: @unchecked Sendable {
  // Sendable: `retries` is touched under `lock`.
  package static let shared = RefusedPools()

  private let lock = FutexLock()
  private var retries: [@Sendable () -> Bool] = []
  private let count = Atomic<Int>(0)

  /// How often a wait tries again, in nanoseconds; -1 for never, while no pool lacks a thread.
  package var retryInterval: Int64 { count.load(ordering: .acquiring) > 0 ? 10_000_000 : -1 }

  fileprivate func add(_ retry: @escaping @Sendable () -> Bool) {
    lock.withLock { retries.append(retry) }
    count.wrappingAdd(1, ordering: .acquiringAndReleasing)
  }

  /// Tries once for each pool. A pool that got its thread, wants no thread any more, or is gone, is forgotten.
  package func retry() {
    guard count.load(ordering: .acquiring) > 0 else { return }
    let all = lock.withLock { exchange(&retries, with: []) }
    let left = all.filter { $0() }
    lock.withLock { retries += left }
    count.wrappingSubtract(all.count - left.count, ordering: .acquiringAndReleasing)
  }
}
