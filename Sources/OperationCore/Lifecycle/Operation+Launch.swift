import CPlatform
@_spi(Jobs) import OperationJobs
import OperationTraceEvents
import Primitives
import Synchronization

// Starting: claiming the operation, and the frame around its start().

extension Operation {
  /// A thread took an entry for the operation from a list: claims it, or finds the entry void.
  @inline(__always)
  final func claim(byLink: Bool, admitted: Bool) -> (before: StateWord, after: StateWord, claim: StateWord.Claim) {
    var old = stateNow
    while true {
      // `queueWord` may be followed: an operation cannot leave while its entry is outstanding or before it has
      // started.
      let cancelled = !old.has(StateWord.started) && queueCancelledThis
      let (next, claim) = old.claiming(byLink: byLink, admitted: admitted, queueCancelled: cancelled)
      if next == old { return (old, next, claim) }
      assert(old.mayBecome(next), "a claim took an operation's state back")
      let result = state.compareExchange(
        expected: old.bits, desired: next.bits, successOrdering: .sequentiallyConsistent, failureOrdering: .acquiring)
      if result.exchanged { return (old, next, claim) }
      old = StateWord(bits: result.original)
    }
  }

  /// An entry came out of a backend.
  /// - Returns: whether the queue's reference to the operation is released, and the next job.
  @inline(__always)
  final func runEntry(byLink: Bool) -> JobOutcome {
    let (before, after, claim) = claim(byLink: byLink, admitted: false)
    switch claim {
    case .start, .skip: return launch(ownsLink: byLink, claimed: after, before: before)
    case .drop(let leave):
      if leave { leaveQueue() }
      return JobOutcome(isReleased: leave)
    case .divert:
      // The queue's controller was engaged after the entry was submitted: the controller decides.
      if let queue = retainedQueue() {
        queue.controller.admitLater(self, entry: byLink ? word : makeMovedEntry(), of: queue)
      }
      return JobOutcome()
    }
  }

  /// Whether `cancelAllOperations` has cancelled the operation. An operation whose class overrides `cancel()` is
  /// cancelled by that method alone (see `CancelRound`).
  @inline(__always)
  final var queueCancelledThis: Bool {
    let queue = queueWord.load(ordering: .relaxed)
    guard queue != 0 else { return false }
    return OperationQueue.unmanaged(queue)._withUnsafeGuaranteedRef {
      $0.registry.isCancelled(sequence: sequence.load(ordering: .relaxed))
    } && !overridesCancel
  }

  /// Runs `start()` in a frame, and afterwards what belongs after the finish.
  /// - Returns: as `runEntry`.
  final func launch(ownsLink: Bool, claimed: StateWord, before: StateWord) -> JobOutcome {
    assert(claimed.has(StateWord.started), "an operation is launched that nobody has claimed")
    assert(!ownsLink || claimed.has(StateWord.linked), "a launch owns a link that is not in use")
    OwedReferences.settle(except: queueWord.load(ordering: .relaxed))
    let outer = LaunchFrame.current
    // Without the link the operation may leave its queue before start() returns.
    let queue = ownsLink ? nil : retainedQueue()
    defer { withExtendedLifetime(queue) {} }
    var frame = LaunchFrame.enter(
      LaunchFrame(
        operation: word, queue: queueWord.load(ordering: .relaxed), home: home.load(ordering: .relaxed),
        ownsLink: ownsLink, previous: outer, depth: (outer?.pointee.depth ?? 0) + 1)
    ) {
      if claimed.has(StateWord.observed) { tellOfLaunch(claimed: claimed, before: before) }
      if _slowPath(cplatform_is_tracing()) { TraceProbe.start(self) } else { start() }
    }
    if frame.left {
      assert(stateNow.mayLeave, "an operation has left that others may still touch")
      // Nobody else may touch the operation any more on behalf of the queue. The caller gives the reference back.
      if stateNow.has(StateWord.hasEpilogue) { epilogue(queue: frame.queue, successor: &frame.successor) }
      // This thread alone writes the word: a load and a store, which an exchange would lock.
      let queue = queueWord.load(ordering: .relaxed)
      queueWord.store(0, ordering: .relaxed)
      OwedReferences.add(queue)
      return JobOutcome(
        next: frame.successor, isReleased: true, isReusable: mayBeReused.load(ordering: .relaxed) != 0)
    }
    if !frame.finished {
      // The operation goes on, or another thread has finished it.
      countBegun(on: frame.queue)
    } else if stateNow.has(StateWord.hasEpilogue) {
      epilogue(queue: frame.queue, successor: &frame.successor)
    }
    guard ownsLink else { return JobOutcome(next: frame.successor) }
    let after = StateWord(bits: state.bitwiseAnd(~StateWord.linked, ordering: .sequentiallyConsistent).newValue)
    if after.mayLeave { leaveQueue() }
    return JobOutcome(next: frame.successor, isReleased: after.mayLeave)
  }

  /// - Parameter queue: the word of the operation's queue, which the launch holds; 0 for none.
  @inline(never)
  private final func countBegun(on queue: UInt) {
    guard queue != 0 else { return }
    OperationQueue.unmanaged(queue)._withUnsafeGuaranteedRef { $0.supervisedBackend?.countBegun() }
  }

  /// Runs a part of the body of an operation that has started, and goes on after its start. The caller holds the
  /// operation.
  /// - Returns: the word of the job that this thread runs next, or 0.
  final func runPart(_ body: () -> Void) -> UInt {
    let outer = LaunchFrame.current
    // Other parts may run at the same time, and one of them may finish the operation.
    let queue = owner
    defer { withExtendedLifetime(queue) {} }
    var frame = LaunchFrame.enter(
      LaunchFrame(
        operation: word, queue: queue.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0,
        home: home.load(ordering: .relaxed), ownsLink: false, previous: outer,
        depth: (outer?.pointee.depth ?? 0) + 1, isPart: true, entered: true)
    ) {
      if _slowPath(cplatform_is_tracing()) { TraceProbe.part(of: word, body) } else { body() }
    }
    if frame.finished, stateNow.has(StateWord.hasEpilogue) {
      epilogue(queue: frame.queue, successor: &frame.successor)
    }
    return frame.successor
  }

  /// Tells observers in the frame of the launch: an observer that waits for the operation is told of its mistake.
  /// `entered` is set meanwhile: an observer that starts the operation is told of its mistake, too.
  private final func tellOfLaunch(claimed: StateWord, before: StateWord) {
    let frame = LaunchFrame.current
    let entered = frame?.pointee.entered ?? false
    frame?.pointee.entered = true
    if claimed.has(StateWord.skipped) {
      if !before.has(StateWord.cancelled) { notify(.isCancelled, true) }
    } else if !claimed.has(StateWord.postsExecuting), isExecuting {
      notify(.isExecuting, true)
    } else {
      // The class has a property of its own: that property changes later or never.
      raise(StateWord.postsExecuting)
    }
    frame?.pointee.entered = entered
  }

  // MARK: - start()

  /// The base class's `start()`: called by a launch of the queue, or by a user who runs the operation by hand.
  final func startHere() {
    if let frame = LaunchFrame.current, frame.pointee.operation == word, !frame.pointee.entered {
      frame.pointee.entered = true
      perform()
      return
    }
    startByHand()
  }

  /// Claimed by this thread: `main()` runs, then the operation is finished.
  private final func perform() {
    let now = stateNow
    if now.has(StateWord.finished) { return }
    // The operation was cancelled after its claim: the flag is read as late as reading costs nothing. An operation
    // that others finish decides for itself: its `cancel()` may call `finish()`.
    if now.has(StateWord.skipped) || now.has(StateWord.cancelled) && !finishesItself {
      releaseUnrunBlocks()
      finishNow()
      return
    }
    if hasMark(ExtrasMark.threadPriority) { performWithThreadPriority() } else { main() }
    if isPlain { return finishNow() }
    if finishesItself { return }
    if !overridesIsFinished || endsWithMain() { finishNow() }
  }

  private final func performWithThreadPriority() {
    let priority = threadPriority
    if priority == 0.5 { main() } else { ThreadPriority.run(at: priority) { main() } }
  }

  private final func startByHand() {
    var old = stateNow
    while true {
      if old.has(StateWord.finished) { return }
      if old.has(StateWord.started) { misuse(self, "receiver is already executing: start() was called a second time") }
      if old.has(StateWord.enqueued) {
        misuse(self, "something other than the operation queue it is in is trying to start the receiver")
      }
      if !old.has(StateWord.cancelled), !isReady { misuse(self, "receiver is not yet ready to execute") }
      let skip = old.has(StateWord.cancelled) ? StateWord.skipped : 0
      let next = StateWord(bits: old.bits | StateWord.started | skip)
      if replaceState(old, with: next) {
        // There is no queue and no entry: the caller holds the operation.
        let outer = LaunchFrame.current
        _ = LaunchFrame.enter(
          LaunchFrame(
            operation: word, queue: 0, home: outer?.pointee.home ?? 0, ownsLink: false, previous: outer,
            depth: (outer?.pointee.depth ?? 0) + 1, entered: true)
        ) {
          if next.has(StateWord.observed) { tellOfLaunch(claimed: next, before: old) }
          if cplatform_is_tracing() { TraceProbe.startByHand(self, perform) } else { perform() }
        }
        return
      }
      old = stateNow
    }
  }
}
