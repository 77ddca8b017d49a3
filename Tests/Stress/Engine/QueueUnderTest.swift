import Operations
import Synchronization
import TestSupport

/// Subclasses are served through other paths than the class itself: half of the queues are of this one.
final class StressQueue: OperationQueue, @unchecked Sendable {
  // Invariant: adds no state.
}

/// Bodies of a queue between begin and end; relaxed, like the stamps.
final class QueueCounter: Sendable {
  private let count = Atomic<Int>(0)

  /// - Returns: the count with the caller included.
  func enter() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
  func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}

/// A queue of a round and what is known of it.
final class QueueUnderTest: Sendable {
  let index: Int
  let profile: StressProfile.QueueProfile
  /// Bodies between begin and end.
  let running = QueueCounter()
  private let held: Monitor<OperationQueue?>
  private weak let reference: OperationQueue?

  init(_ queue: OperationQueue, index: Int, profile: StressProfile.QueueProfile) {
    self.index = index
    self.profile = profile
    held = Monitor(queue)
    reference = queue
  }

  /// For threads of the round, which run while the queue is held.
  var queue: OperationQueue { held.with { $0.unsafelyUnwrapped } }

  func release() {
    // The queue goes when the monitor is free again.
    let last = held.with { queue in
      defer { queue = nil }
      return queue
    }
    withExtendedLifetime(last) {}
  }

  var isDeallocated: Bool { reference == nil }
}
