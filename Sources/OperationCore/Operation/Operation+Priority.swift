import OperationForks
import OperationJobs
import Primitives
import Synchronization

// Urgency: what the user set, the level that follows, and the move of an entry that already stands in a list.

extension Operation {
  final var levelNow: LevelWord { LevelWord(bits: levelWord.load(ordering: .relaxed)) }

  final var explicitPriority: QueuePriority {
    get { levelNow.explicitPriority }
    set { changeLevel(.queuePriority) { $0.with(priority: newValue) } }
  }

  final var chosenQualityOfService: QualityOfService {
    get { levelNow.qualityOfService }
    set { changeLevel(nil) { $0.with(qualityOfService: newValue) } }
  }

  /// - Returns: the word before.
  @discardableResult
  final func updateLevel(_ change: (LevelWord) -> LevelWord) -> LevelWord {
    while true {
      let old = levelNow
      let new = change(old)
      // Before the change: a waiter whose change of this word comes later sees the note.
      if new.level < Job.middleLevel { LessUrgent.note() }
      if old == new
        || levelWord.compareExchange(expected: old.bits, desired: new.bits, ordering: .sequentiallyConsistent)
          .exchanged
      {
        return old
      }
    }
  }

  /// Raises the floor, and so the level in force, for a task that waits for the operation.
  /// - Parameter goesOn: whether the caller then raises what the operation waits for.
  /// - Returns: false when there is nothing behind the operation that is to be raised: the floor was as high before,
  ///   and the thread that raised it went on.
  final func raiseFloor(to level: Int, goesOn: Bool) -> Bool {
    let old = updateLevel { $0.with(floor: level, goesOn: goesOn) }
    guard old.floor < level else { return goesOn && old.floorIsAlone }
    if old.level != self.level {
      move()
      levelRose()
    } else if LessUrgent.mayExist(than: level) {
      // The body's task may be less urgent than the operation: it was made with the priority of then.
      levelRose()
    }
    return true
  }

  private final func changeLevel(_ key: ObservableKey?, _ change: (LevelWord) -> LevelWord) {
    var old: LevelWord?
    var observers: [Observer] = []
    if let key, stateNow.has(StateWord.observed) {
      // The change and its report are one step, so that of two changes at once the last one is told last.
      lock.withLock {
        old = updateLevel(change)
        if extrasIfAny != nil {
          observers = extras.observers.enqueue(key) { ObservedValue(value: explicitPriority) }
        }
      }
    } else {
      old = updateLevel(change)
    }
    if old?.level != level { move() }
    deliver(observers)
  }

  /// Puts a new entry at the tail of the new level. The entry that stands at the old level is void. An operation that
  /// runs counts at the new level from now on.
  private final func move() {
    // The state is read behind the change of the level: see `Controller.admittedBits`.
    var old = StateWord(bits: state.load(ordering: .sequentiallyConsistent))
    if old.movesOnPriorityChange {
      if old.has(StateWord.tracked), let queue = owner {
        if queue.controller.move(self, of: queue) { return }
      } else if makeEntryVoid() {
        if let queue = lockedQueue { queue.backend.submit(Job(word: makeMovedEntry())) }
        return
      }
      old = stateNow
    }
    guard old.has(StateWord.started), !old.has(StateWord.finished) else { return }
    Forks.levelChanged(of: word)
    guard old.has(StateWord.tracked) else { return }
    if let queue = lockedQueue { queue.controller.recount(self, of: queue) }
  }

  /// Marks the operation as one that another entry stands for. A thread that meets the void entry drops it. Only the
  /// long way out of the queue is left to the operation then, and the long way takes the lock.
  /// - Returns: false when the operation has been started.
  final func makeEntryVoid() -> Bool {
    var old = stateNow
    while old.movesOnPriorityChange {
      if replaceState(old, with: StateWord(bits: old.bits | StateWord.moved)) { return true }
      old = stateNow
    }
    return false
  }
}
