import Dispatch
import Synchronization

/// Counts work that was submitted and has not run, for subjects that have no wait of their own: what one writes by hand
/// around a bare executor.
///
/// Two counts on cache lines of their own: a thread that only submits and threads that only finish do not write the same
/// line. A finisher reads the other count only while somebody waits.
@usableFromInline
final class Outstanding: @unchecked Sendable {
  // Sendable: the pointers never change, and what they point to is atomic.
  @usableFromInline let submitted: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let finished: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let isAwaited: UnsafeMutablePointer<Atomic<Bool>>
  private let memory: UnsafeMutableRawPointer
  private let wake = DispatchSemaphore(value: 0)

  /// Two lines of 64 bytes: Intel's prefetcher fetches pairs.
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

  /// Blocks until nothing is outstanding. One thread at a time.
  @usableFromInline
  func wait() {
    while true {
      isAwaited.pointee.store(true, ordering: .sequentiallyConsistent)
      if finished.pointee.load(ordering: .sequentiallyConsistent) == submitted.pointee.load(ordering: .acquiring) {
        // A finisher may have been faster; its signal then ends the next wait early, which looks again.
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

/// Counts a join down by hand: whoever brings it to zero goes on.
@usableFromInline
final class Countdown: Sendable {
  @usableFromInline let left: Atomic<Int>

  @usableFromInline
  init(_ count: Int) { left = Atomic(count) }

  /// True for the last one.
  @inlinable
  func arrive() -> Bool { left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 }
}

extension ClosureSubject {
  /// For a subject without a join of its own.
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
