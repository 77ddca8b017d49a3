// cancel() sets a flag. cancel() also schedules an operation that a queue lists and nobody has scheduled yet.

extension Operation {
  final func markCancelled() {
    guard let change = becomeCancelled() else { return }
    if change.isSeen { notify(.isCancelled, true) }
    guard change.isScheduled else { return }
    // The entry made here keeps the queue until the entry is handed over; the handover keeps the backend.
    let queue = retainedQueue()
    var handover = Handover()
    handover.add(self, useLink: change.useLink)
    handover.submit()
    withExtendedLifetime(queue) {}
  }

  /// - Parameter handover: gets the operation when the operation is to be started. The handover is handed over before
  ///   observers are called, because observers may run for long. The caller holds the queue.
  final func markCancelled(into handover: inout Handover) {
    guard let change = becomeCancelled() else { return }
    if change.isSeen {
      handover.flush(frame: nil)
      notify(.isCancelled, true)
    }
    if change.isScheduled { handover.add(self, useLink: change.useLink) }
  }

  /// - Returns: nil when nothing changes. `isScheduled`: the caller hands the operation over, by its link or not.
  ///   `isSeen`: the operation has observers, and the caller tells them.
  private final func becomeCancelled() -> (isScheduled: Bool, useLink: Bool, isSeen: Bool)? {
    var old = stateNow
    while let (next, schedule, useLink) = old.cancelling() {
      if replaceState(old, with: next) {
        return (schedule, useLink, !old.has(StateWord.cancelled) && next.has(StateWord.observed))
      }
      old = stateNow
    }
    return nil
  }

  /// Sets only the flag, as part of `cancelAllOperations`: nothing is released before every operation has the flag.
  final func flagCancelled() {
    var old = stateNow
    while !old.has(StateWord.finished), !old.has(StateWord.cancelled) {
      if replaceState(old, with: StateWord(bits: old.bits | StateWord.cancelled)) {
        if old.has(StateWord.observed) { notify(.isCancelled, true) }
        return
      }
      old = stateNow
    }
  }
}
