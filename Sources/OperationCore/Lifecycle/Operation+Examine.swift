import OperationJobs
import Primitives
import Synchronization

// Overridden properties: a subclass posts that a property may have changed. The property's observers are told at
// once, on the posting thread. The queue's own look at the property is a job of the examiner's. The posting thread
// never takes that look, because it may hold the lock that the property takes.

extension Operation {
  final func posted(_ key: ObservableKey?, isPrior: Bool) {
    let now = stateNow
    let isObserved = now.has(StateWord.observed)
    if key == nil || key == .isExecuting, !now.has(StateWord.postsExecuting) { raise(StateWord.postsExecuting) }
    if isPrior {
      // From here on the subclass reports the property; the base class does not.
      if isObserved { for observer in lock.withLock({ extras.observers.post(key) }) { observer.willChange(self) } }
      return
    }
    // The queue's look comes first: an observer that waits for this operation waits for that look.
    if !stateNow.has(StateWord.finished) { requestLook(key) }
    if isObserved {
      for observer in lock.withLock({ extras.observers.post(key) }) {
        observer.didChange(self, onlyIfDifferent: key == nil)
      }
    }
  }

  /// A property of the state may have changed: the queue looks at it.
  private final func requestLook(_ key: ObservableKey?) {
    var posts = Question.Posts()
    if key == nil || key == .isFinished { posts.insert(.isFinished) }
    if key == nil || key == .isReady { posts.insert(.isReady) }
    if posts.isEmpty || Question.note(posts, about: self, inRead: true) { return }
    requestLook(posts)
  }

  /// Requests an examination on a thread that is not reading a property of the operation.
  private final func requestLook(_ posts: Question.Posts) {
    var examine = posts.contains(.isFinished)
    if posts.contains(.isReady) { examine = raise(StateWord.askAgain).has(StateWord.heldBack) || examine }
    if examine { requestExamination() }
    if posts.contains(.isReady) { askInNoQueue() }
  }

  private final func requestExamination() {
    var old = stateNow
    if old.has(StateWord.examinePending) || old.has(StateWord.finished) { return }
    // Before the flag is there: a post that joins this examination finds it counted.
    let queue = lockedQueue
    queue?.looks.request()
    while !old.has(StateWord.examinePending), !old.has(StateWord.finished) {
      if replaceState(old, with: StateWord(bits: old.bits | StateWord.examinePending)) {
        return Examiner.submit {
          queue?.looks.begin()
          self.examine()
          queue?.looks.end()
        }
      }
      old = stateNow
    }
    queue?.looks.begin()
    queue?.looks.end()
  }

  /// Reads the properties. Called once for each time that `examinePending` was set.
  final func examine() {
    // The flag is taken back before the reading: a post that comes from now on makes a new job. The local references
    // keep the operation and its queue until this job is done.
    let queue = retainedQueue()
    let before = state.bitwiseAnd(~StateWord.examinePending, ordering: .sequentiallyConsistent)
    if before.newValue & StateWord.finished == 0 {
      var rounds = 0
      while !Question.ask(self, isRead: false, look).posts.isEmpty, !stateNow.has(StateWord.finished) {
        rounds += 1
        if rounds == Question.mostRounds {
          warnPostsWhileAsked()
          break
        }
      }
    }
    if StateWord(bits: before.oldValue).has(StateWord.examinePending), StateWord(bits: before.newValue).mayLeave {
      leaveQueue()
      Unmanaged.passUnretained(self).release()
    }
    withExtendedLifetime(queue) {}
  }

  /// Reads the properties once, in an examination.
  private final func look() {
    let (finished, posts) = Question.ask(self) { isFinished }
    if finished { return finishByWord() }
    lookAgain(posts)
    // Another thread may be asking `isReady` at this moment: the flag tells that thread to ask again.
    if posts.contains(.isReady) { raise(StateWord.askAgain) }
    guard stateNow.has(StateWord.heldBack) else { return }
    var handover = Handover(asks: .here)
    askReady(into: &handover)
    handover.submit()
  }

  // MARK: - After main()

  /// `main()` has returned: whether the operation ends with it. A class that overrides `isFinished` decides that, as on
  /// Foundation.
  ///
  /// The base class answers yes meanwhile, so that `super.isFinished && condition` is the condition. If the operation
  /// goes on, the flag says so for the later looks of the examiner. A post that came before the flag was answered
  /// without it, so the property is read once more.
  @inline(never)
  final func endsWithMain() -> Bool {
    let frame = LaunchFrame.current
    frame?.pointee.mainReturned = true
    if saysFinished() { return true }
    frame?.pointee.mainReturned = false
    raise(StateWord.mainReturned)
    return saysFinished()
  }

  private final func saysFinished() -> Bool {
    let (finished, posts) = Question.ask(self) { isFinished }
    if !finished { lookAgain(posts) }
    return finished
  }

  /// What the base class's `isFinished` is before the finish: whether the library asks the class about an operation
  /// whose `main()` has returned.
  @inline(never)
  final func isAskedAfterMain(_ now: StateWord) -> Bool {
    if let frame = LaunchFrame.current, frame.pointee.operation == word, frame.pointee.mainReturned { return true }
    return now.has(StateWord.mainReturned) && Question.isAsked(about: self)
  }

  /// A read posted a change: the examination around the read looks again, or else a new one does.
  private final func lookAgain(_ posts: Question.Posts) {
    if posts.isEmpty || Question.note(posts, about: self, inRead: false) { return }
    requestLook(posts)
  }

  /// Reads `isReady`; again, when reading it posted a change of it.
  final func readIsReady() -> Bool {
    var left = Question.Posts()
    for _ in 0..<Question.mostRounds {
      let (ready, posts) = Question.ask(self) { isReady }
      left.formUnion(posts)
      if ready || !posts.contains(.isReady) {
        lookAgain(left.intersection(.isFinished))
        return ready
      }
    }
    warnPostsWhileAsked()
    return false
  }

  /// Says once for each operation why its properties are not read again.
  private final func warnPostsWhileAsked() {
    let isFirst = lock.withLock { !exchange(&extras.saidPostsWhileAsked, with: true) }
    guard isFirst else { return }
    printError(
      "\(label) posts a change whenever isReady or isFinished is read: read again only after its next post from elsewhere"
    )
  }

  /// The subclass says that the operation has finished.
  private final func finishByWord() {
    let now = stateNow
    if !now.has(StateWord.started), now.has(StateWord.enqueued) { warnFinishedBeforeStart(now) }
    raise(StateWord.postsFinished)
    finishNow()
  }

  /// One clear message for each class instead of a crash: the operation counts as finished. The end of a cancelled
  /// operation is no mistake.
  final func warnFinishedBeforeStart(_ now: StateWord) {
    if now.has(StateWord.cancelled) { return }
    let isFirst = Self.finishedEarly.withLock {
      Self.finishedEarly.state.insert(ObjectIdentifier(type(of: self))).inserted
    }
    if !isFirst { return }
    printError(
      "\(self) finished before its queue started it; it counts as finished"
        + " (said once for each class)")
  }

  /// The classes of which an operation finished before its queue started it.
  private static let finishedEarly = Locked<Set<ObjectIdentifier>>([])
}
