import OperationJobs
import Primitives
import Synchronization

// A waiting task or operation lends its urgency: the awaited operation, and what stands before it, are raised to the
// priority of the waiting task or operation.

extension Operation {
  /// Raises this operation to the priority of who waits for it, and with it every unfinished operation that it
  /// depends on, and those that a barrier puts before it. O(operations raised and their dependencies).
  ///
  /// The level rises, and `queuePriority` stays what the user has set. An operation that was raised to that level
  /// before is not visited again.
  final func escalate(to priority: TaskPriority) {
    escalate(toLevel: Job.level(ofTask: priority.rawValue))
  }

  final func escalate(toLevel level: Int) {
    var order = BarrierOrder()
    escalate(toLevel: level, &order)
  }

  /// - Parameter order: what is known of queues with barriers: looking at one costs O(its pending operations), once.
  fileprivate final func escalate(toLevel level: Int, _ order: inout BarrierOrder) {
    guard LessUrgent.mayExist(than: level) else {
      // Nothing is less urgent. The operation itself may be made so later, and so may what it waits for: the next wait
      // looks.
      if levelNow.floor < level { _ = raiseFloor(to: level, goesOn: false) }
      return
    }
    escalate([self], toLevel: level, &order)
  }

  private final func escalate(_ first: [Operation], toLevel level: Int, _ order: inout BarrierOrder) {
    var pending = first
    while let operation = pending.popLast() {
      let state = operation.stateNow
      if state.has(StateWord.finished) || !operation.raiseFloor(to: level, goesOn: true) || state.has(StateWord.started)
      {
        continue
      }
      // A cancelled operation does not wait for dependencies, but for barriers.
      if !state.has(StateWord.cancelled) { pending += operation.dependencySnapshot() }
      pending += order.predecessors(of: operation)
    }
  }

  /// A dependency was added: a task that waits for this operation now waits for the dependency, too. Called without
  /// locks.
  @inline(__always)
  final func lendFloor(to dependency: Operation) {
    let floor = levelNow.floor
    if _slowPath(floor > 0) { lend(floor, to: dependency) }
  }

  @inline(never)
  private final func lend(_ floor: Int, to dependency: Operation) {
    if !stateNow.has(StateWord.started) { dependency.escalate(toLevel: floor) }
  }

  /// The operation was added to a queue with limits or barriers, and somebody may have waited for it before: what
  /// barriers put before it is raised. Called without locks.
  @inline(__always)
  final func lendFloorToPredecessors() {
    let floor = levelNow.floor
    if _slowPath(floor > 0) { lendToPredecessors(floor) }
  }

  @inline(never)
  private final func lendToPredecessors(_ floor: Int) {
    guard LessUrgent.mayExist(than: floor) else { return }
    var order = BarrierOrder()
    let predecessors = order.predecessors(of: self)
    escalate(predecessors, toLevel: floor, &order)
  }

  /// The priority that decides now: what the user has set or a quality of service stands for, or that of a task that
  /// waits.
  package final var priorityInForce: QueuePriority { QueuePriority(level: level) }
}

extension OperationQueue {
  /// Raises everything that a task waits for when it waits for the queue.
  final func escalate(to priority: TaskPriority) {
    escalate(toLevel: Job.level(ofTask: priority.rawValue))
  }

  final func escalate(toLevel level: Int) {
    guard LessUrgent.mayExist(than: level) else { return }
    var order = BarrierOrder()
    for operation in snapshot() { operation.escalate(toLevel: level, &order) }
  }
}

/// Whether an operation of this process has ever been less urgent than `normal`. Until then a task of medium priority
/// that waits has nothing to raise.
enum LessUrgent {
  private static let noted = Atomic<Bool>(false)

  static var exists: Bool { noted.load(ordering: .relaxed) }

  /// Whether an operation can be less urgent than somebody of that level who waits.
  static func mayExist(than level: Int) -> Bool { level > Job.middleLevel || level > 0 && exists }

  static func note() { if !exists { noted.store(true, ordering: .relaxed) } }
}
