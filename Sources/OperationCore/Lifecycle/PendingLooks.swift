import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// The looks at posted properties that a queue's operations wait for. A caller that asks the queue for its operations
/// waits a little for the looks that were requested before: so the operation is gone for the thread that has posted its
/// finish, as on Foundation.
struct PendingLooks: ~Copyable, Sendable {
  private let requested = Atomic<UInt>(0)
  private let begun = Atomic<UInt>(0)
  private let ended = Atomic<UInt>(0)

  /// The longest wait, in nanoseconds: for where no thread can be had that looks.
  private static let longestWait: UInt64 = 1_000_000_000
  /// For how long a look may go on, in nanoseconds.
  private static let patience: UInt64 = 10_000_000
  /// How often a thread of a driven backend lets others go on.
  private static let turns = 100

  borrowing func request() { requested.wrappingAdd(1, ordering: .sequentiallyConsistent) }
  borrowing func begin() { begun.wrappingAdd(1, ordering: .sequentiallyConsistent) }
  borrowing func end() { ended.wrappingAdd(1, ordering: .sequentiallyConsistent) }

  /// Returns when as many looks have ended as had been requested at the call. Returns early when a look takes more than
  /// ten milliseconds: the caller may hold the lock that the property takes.
  @inline(__always)
  borrowing func settle() {
    let requested = requested.load(ordering: .relaxed)
    if _slowPath(ended.load(ordering: .relaxed) != requested) { wait(for: requested) }
  }

  @inline(never)
  private borrowing func wait(for requested: UInt) {
    func isSettled() -> Bool { Int(bitPattern: requested &- ended.load(ordering: .acquiring)) <= 0 }
    // A property that asks its own queue: this thread is the one that looks.
    if cplatform_question() != nil { return }
    if let backend = DrivenBackends.here {
      for _ in 0..<Self.turns where !isSettled() { backend.passTurn() }
      return
    }
    let start = cplatform_now_ns()
    var round = 0
    // Since when some look has been going on.
    var behindSince: UInt64?
    while !isSettled() {
      let now = cplatform_now_ns()
      behindSince = begun.load(ordering: .relaxed) == ended.load(ordering: .relaxed) ? nil : behindSince ?? now
      if now &- (behindSince ?? now) >= Self.patience || now &- start >= Self.longestWait { return }
      Spin.untilNextLook(&round)
    }
  }
}
