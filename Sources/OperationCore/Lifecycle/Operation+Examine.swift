import Primitives
import Synchronization

// Overridden properties: a subclass posts that one may have changed; a job on the backend reads it. Never the posting
// thread itself, which may hold the lock that the property takes.

extension Operation {
  final func posted(_ key: ObservableKey?, isPrior: Bool) {
    let now = stateNow
    if now.has(StateWord.finished) && !now.has(StateWord.observed) { return }
    if isPrior {
      // From here the subclass reports the property: an examination that is on its way must not report it as well.
      if now.has(StateWord.observed) { lock.withLock { extras.observers.willPost(key) } }
      return
    }
    if now.has(StateWord.observed) { lock.withLock { extras.observers.post(key) } }
    var examine = now.has(StateWord.observed) || key == nil || key == .isFinished
    if key == nil || key == .isReady { examine = raise(StateWord.askAgain).has(StateWord.heldBack) || examine }
    if examine { requestExamination() }
  }

  final func requestExamination() {
    var old = stateNow
    while !old.has(StateWord.examinePending), !old.has(StateWord.finished) {
      if replaceState(old, with: StateWord(bits: old.bits | StateWord.examinePending)) {
        // The flag keeps the operation in its queue, so the queue may be followed.
        let backend = (old.has(StateWord.listed) ? retainedQueue()?.backend : nil) ?? DefaultBackend.backend
        backend.submit(Job(priority: explicitPriority) { self.examine() })
        return
      }
      old = stateNow
    }
    if old.has(StateWord.finished), old.has(StateWord.observed) {
      DefaultBackend.backend.submit(Job { self.notifyPosted() })
    }
  }

  private final func examine() {
    // Taken back before the reading: what is posted from now on makes a new job. Until this job is done the operation
    // stays in its queue through a count of its own.
    let queue = retainedQueue()
    let before = state.bitwiseAnd(~StateWord.examinePending, ordering: .sequentiallyConsistent)
    if before.newValue & StateWord.finished == 0 {
      if isFinished { finishByWord() }
      if stateNow.has(StateWord.heldBack) {
        var batch = ReadyBatch(home: 0, mayRunUserCode: true)
        askReady(into: &batch)
        batch.submit()
      }
    }
    if stateNow.has(StateWord.observed) { notifyPosted() }
    if StateWord(bits: before.oldValue).has(StateWord.examinePending), StateWord(bits: before.newValue).mayLeave {
      _ = leaveQueue()
      Unmanaged.passUnretained(self).release()
    }
    withExtendedLifetime(queue) {}
  }

  /// The subclass says that it has finished.
  private final func finishByWord() {
    let now = stateNow
    if !now.has(StateWord.started), now.has(StateWord.enqueued) { warnFinishedBeforeStart() }
    finishNow()
  }

  /// One clear message instead of a crash: the operation counts as finished.
  final func warnFinishedBeforeStart() {
    printError("\(self) finished before its queue started it; it counts as finished")
  }
}
