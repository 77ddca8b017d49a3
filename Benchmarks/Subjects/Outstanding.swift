import Dispatch
import Synchronization

/// Counts work that was submitted and has not run, for subjects without a wait of their own: the count that a user of a
/// bare executor writes by hand.
///
/// The two counts are on cache lines of their own, so that a thread that only submits and threads that only finish do
/// not write the same line. A finisher reads the other count only while a thread waits.
@usableFromInline
final class Outstanding: @unchecked Sendable {
  // Sendable: the pointers never change, and the memory that they point to is atomic.
  @usableFromInline let submitted: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let finished: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let isAwaited: UnsafeMutablePointer<Atomic<Bool>>
  private let memory: UnsafeMutableRawPointer
  private let wake = DispatchSemaphore(value: 0)

  /// Two lines of 64 bytes, because Intel's prefetcher fetches pairs of lines.
  private static let distance = 128

  @usableFromInline
  init() {
    memory = .allocate(byteCount: 3 * Self.distance, alignment: Self.distance)
    submitted = memory.bindMemory(to: Atomic<Int>.self, capacity: 1)
    finished = (memory + Self.distance).bindMemory(to: Atomic<Int>.self, capacity: 1)
    isAwaited = (memory + 2 * Self.distance).bindMemory(to: Atomic<Bool>.self, capacity: 1)
    submitted.initialize(to: Atomic(0))
    finished.initialize(to: Atomic(0))
    isAwaited.initialize(to: Atomic(false))
  }

  deinit { memory.deallocate() }

  @inlinable
  func enter() { submitted.pointee.wrappingAdd(1, ordering: .relaxed) }

  @inlinable
  func leave() {
    let count = finished.pointee.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
    if isAwaited.pointee.load(ordering: .sequentiallyConsistent) { wakeIfLast(count) }
  }

  /// Blocks until nothing is outstanding. Only one thread at a time may wait.
  @usableFromInline
  func wait() {
    while true {
      isAwaited.pointee.store(true, ordering: .sequentiallyConsistent)
      if finished.pointee.load(ordering: .sequentiallyConsistent) == submitted.pointee.load(ordering: .acquiring) {
        // A finisher may have signalled already. The signal then ends the next wait early, and the loop checks the
        // counts again.
        isAwaited.pointee.store(false, ordering: .relaxed)
        return
      }
      wake.wait()
    }
  }

  /// Work enters before the work that submits it leaves, so equal counts mean that nothing is outstanding.
  @usableFromInline
  func wakeIfLast(_ count: Int) {
    guard count == submitted.pointee.load(ordering: .acquiring) else { return }
    if isAwaited.pointee.exchange(false, ordering: .acquiringAndReleasing) { wake.signal() }
  }
}

/// Counts the unfinished parts of a join down by hand. The part that brings the count to zero goes on.
@usableFromInline
final class Countdown: Sendable {
  @usableFromInline let left: Atomic<Int>

  @usableFromInline
  init(_ count: Int) { left = Atomic(count) }

  /// True for the last part.
  @inlinable
  func arrive() -> Bool { left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}

extension ClosureSubject {
  /// `submit` with a join for a subject without a join of its own.
  @inlinable
  public func submit(
    _ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void
  ) {
    guard count > 0 else { return submit(join) }
    let countdown = Countdown(count)
    for index in 0..<count {
      submit {
        body(index)
        if countdown.arrive() { self.submit(join) }
      }
    }
  }
}
