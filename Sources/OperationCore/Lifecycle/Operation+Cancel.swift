// cancel(): a flag, and for an operation that a queue lists and nobody has scheduled yet, the way to its start.

extension Operation {
  final func markCancelled() {
    var old = stateNow
    while let (next, schedule, useLink) = old.cancelling() {
      if replaceState(old, with: next) {
        if !old.has(StateWord.cancelled), next.has(StateWord.observed) { notify(.isCancelled) }
        guard schedule else { return }
        // The entry made here keeps the queue until it is handed over; the batch keeps the backend.
        let queue = retainedQueue()
        var batch = ReadyBatch()
        batch.add(self, useLink: useLink)
        batch.submit()
        withExtendedLifetime(queue) {}
        return
      }
      old = stateNow
    }
  }

  /// Only the flag, as part of `cancelAllOperations`: nothing is released before every operation has it.
  final func flagCancelled() {
    var old = stateNow
    while !old.has(StateWord.finished), !old.has(StateWord.cancelled) {
      if replaceState(old, with: StateWord(bits: old.bits | StateWord.cancelled)) {
        if old.has(StateWord.observed) { notify(.isCancelled) }
        return
      }
      old = stateNow
    }
  }
}
