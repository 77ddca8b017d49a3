import Synchronization

/// How many threads of all pools run jobs or look for one, and how many pools have such threads.
///
/// Each pool tells of each change of its own number. One word has both sums, and one addition changes them. A pool
/// tells when a thread is woken, goes to sleep or blocks, and so not in steady work. A thread of others that helps in a
/// join counts on the work-stealing pool, and on no other.
package final class RunningThreads: Sendable {
  package static let ofProcess = RunningThreads()

  package struct Sums: Equatable, Sendable {
    package var threads: Int
    package var pools: Int

    package init(threads: Int, pools: Int) { (self.threads, self.pools) = (threads, pools) }
  }

  /// Threads in the low half, pools in the high half.
  private let word = PaddedPointer(Atomic<UInt64>(0))
  private static let onePool: UInt64 = 1 << 32

  package init() {}

  deinit { word.deallocate() }

  /// A pool of the process has `new` running threads in the place of `old`.
  @inline(__always)
  package static func change(from old: Int, to new: Int) { if old != new { ofProcess.change(from: old, to: new) } }

  @inline(never)
  package func change(from old: Int, to new: Int) {
    var change = UInt64(bitPattern: Int64(new - old))
    // A number may be below 0 for a moment: a thread may count as blocked twice.
    if (old > 0) != (new > 0) { change = new > 0 ? change &+ Self.onePool : change &- Self.onePool }
    word.pointer.pointee.wrappingAdd(change, ordering: .relaxed)
  }

  package var sums: Sums {
    let word = word.pointer.pointee.load(ordering: .relaxed)
    let threads = Int(Int32(truncatingIfNeeded: word))
    // Two changes of one pool may come in the other order: either sum may be below 0 for a moment.
    return Sums(threads: threads, pools: Int(Int64(bitPattern: word &- UInt64(bitPattern: Int64(threads))) >> 32))
  }

  /// The sums without a pool that has `running` threads.
  package func others(than running: Int) -> Sums {
    let all = sums
    return Sums(threads: max(0, all.threads - running), pools: max(0, all.pools - (running > 0 ? 1 : 0)))
  }
}
