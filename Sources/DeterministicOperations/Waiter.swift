import Synchronization

/// What waits for its turn: a strand, or a *guest*, which is a thread or a task of others.
final class Waiter: @unchecked Sendable {
  // Sendable: constants, an atomic, and fields that are touched under the lock of the driver.

  /// Becomes `turn` when the waiter is ready: the closure of a wait must be gone when the wait returns.
  private(set) var condition: Condition
  /// Called without locks when nothing can happen.
  var whenQuiet: (() -> Void)?
  let allowsTime: Bool
  let strand: Strand?
  /// Neither a strand nor a task of the backend's own jobs: jobs run for it.
  let isGuest: Bool
  /// The thread that waits; nil for a task.
  let seat: Seat?
  /// Lets a task go on; called without locks. True: the waiter was given up.
  let resume: (@Sendable (_ isCancelled: Bool) -> Void)?
  /// The timer of the pool that gives the turn; nil while there is none.
  var timer: Int?
  let hasTurn = Atomic<Bool>(false)

  init(
    _ condition: Condition, strand: Strand? = nil, isInJob: Bool = false, seat: Seat? = nil,
    resume: (@Sendable (_ isCancelled: Bool) -> Void)? = nil
  ) {
    self.condition = condition
    allowsTime = condition.allowsTime
    self.strand = strand
    isGuest = strand == nil && !isInJob
    self.seat = seat
    self.resume = resume
  }

  func forgetCondition() {
    condition = .turn
    whenQuiet = nil
  }
}
