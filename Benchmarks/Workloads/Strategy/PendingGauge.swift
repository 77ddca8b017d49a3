import HarnessWords
import Synchronization

/// The number of operations that were added and have not started, and the largest such number.
///
/// All operations write these two words. That costs time, so the gauge is for runs whose time is not taken. The memory
/// lives as long as the process, so that bodies need not count references to it.
struct PendingGauge: @unchecked Sendable {
  // Both words are atomic.
  private let pending: UnsafeMutablePointer<Atomic<Int>>
  private let most: UnsafeMutablePointer<Atomic<Int>>

  init() {
    pending = .allocate(capacity: 1)
    pending.initialize(to: Atomic(0))
    most = .allocate(capacity: 1)
    most.initialize(to: Atomic(0))
  }

  /// Called just before an operation is added. The operation may start before the call that adds it returns.
  @inline(__always)
  func add() {
    let now = pending.pointee.wrappingAdd(1, ordering: .relaxed).newValue
    if now > most.pointee.load(ordering: .relaxed) { most.pointee.max(now, ordering: .relaxed) }
  }

  /// The first act of an operation's body.
  @inline(__always)
  func start() { pending.pointee.wrappingSubtract(1, ordering: .relaxed) }

  /// The largest number since the last call. Throws when not as many operations started as were added. Call this when
  /// the subject has been drained.
  func takePeak() throws -> Int {
    let left = pending.pointee.exchange(0, ordering: .relaxed)
    let peak = most.pointee.exchange(0, ordering: .relaxed)
    guard left == 0 else { throw CheckFailed("\(left) operations were added and never started") }
    return peak
  }
}
