import Primitives
import Synchronization

// Who waits lends its urgency: an operation that a task waits for, and what stands before it, are raised to the task's
// priority.

extension Operation {
  /// Raises this operation to the priority of a task that waits for it, and with it every unfinished operation that it
  /// depends on, and those that a barrier puts before it. O(operations raised and their dependencies).
  ///
  /// The level rises, and `queuePriority` stays what the user has set. An operation that was raised to that level before is
  /// not visited again.
  final func escalate(to priority: TaskPriority) {
    guard let level = LessUrgent.level(raisedBy: priority) else { return }
    var order = BarrierOrder()
    var pending = [self]
    while let operation = pending.popLast() {
      let state = operation.stateNow
      if state.has(StateWord.finished) || !operation.raiseFloor(to: level) || state.has(StateWord.started) { continue }
      // A cancelled operation does not wait for dependencies, but for barriers.
      if !state.has(StateWord.cancelled) { pending += operation.dependencySnapshot() }
      pending += order.predecessors(of: operation)
    }
  }

  /// The priority that decides now: what the user has set or a quality of service stands for, or that of a task that waits.
  package final var priorityInForce: QueuePriority { QueuePriority(level: level) }
}

extension OperationQueue {
  /// Raises everything that a task waits for when it waits for the queue.
  final func escalate(to priority: TaskPriority) {
    guard LessUrgent.level(raisedBy: priority) != nil else { return }
    for operation in snapshot() { operation.escalate(to: priority) }
  }
}

/// Whether an operation of this process has ever been less urgent than `normal`. Until then a task of medium priority that
/// waits has nothing to raise.
enum LessUrgent {
  private static let noted = Atomic<Bool>(false)

  static var exists: Bool { noted.load(ordering: .relaxed) }

  /// The level of a task that waits; nil when no operation can be less urgent.
  static func level(raisedBy priority: TaskPriority) -> Int? {
    let level = Operation.QueuePriority(of: priority.rawValue).level
    return level > Job.middleLevel || level > 0 && exists ? level : nil
  }

  static func note() { if !exists { noted.store(true, ordering: .relaxed) } }
}
