import Primitives
import Synchronization

/// How many operations of a queue have finished, out of how many: what Foundation's `Progress` of a queue reports,
/// without Foundation. Every operation is counted, also asynchronous and cancelled ones. Counting costs the
/// operations nothing.
public final class OperationProgress: Sendable {
  private weak let queue: OperationQueue?
  /// -1: the total was never set.
  private let total = Atomic<Int>(-1)
  /// Operations that had finished when the total was set.
  private let baseline = Atomic<Int>(0)
  /// The last count seen: the answer when the queue is gone.
  private let last = Atomic<Int>(0)

  init(_ queue: OperationQueue) { self.queue = queue }

  /// How many operations make the whole. Until the total is set: all operations that were added. Setting the total
  /// for the first time starts the count at 0.
  public var totalUnitCount: Int64 {
    get {
      let set = total.load(ordering: .acquiring)
      return Int64(set >= 0 ? set : queue?.registry.addedCount ?? last.load(ordering: .relaxed))
    }
    set {
      let old = total.exchange(Int(max(0, newValue)), ordering: .acquiringAndReleasing)
      if old < 0 { baseline.store(finished, ordering: .releasing) }
    }
  }

  /// How many operations have finished since counting began.
  public var completedUnitCount: Int64 { Int64(max(0, finished - baseline.load(ordering: .acquiring))) }

  /// From 0.0 to 1.0; 0 while the total is 0.
  public var fractionCompleted: Double {
    let total = totalUnitCount
    return total > 0 ? min(1, Double(completedUnitCount) / Double(total)) : 0
  }

  /// Whether as many operations have finished as the total says, and the total is not 0.
  public var isFinished: Bool {
    let total = totalUnitCount
    return total > 0 && completedUnitCount >= total
  }

  /// The queue, while it exists.
  var observedQueue: OperationQueue? { queue }

  private var finished: Int {
    guard let queue else { return last.load(ordering: .relaxed) }
    let count = queue.registry.finishedCount
    last.store(count, ordering: .relaxed)
    return count
  }
}

extension OperationQueue {
  final var progressObject: OperationProgress {
    lock.withLock {
      if let progress = extras.progress { return progress }
      let progress = OperationProgress(self)
      extras.progress = progress
      return progress
    }
  }
}
