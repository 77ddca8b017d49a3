import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives
import Synchronization

// The end of an operation. The end comes once, on whatever thread ends the operation.

extension Operation {
  /// Finishes the operation: serves, in this order, the queue's books, waiters, dependents and observers.
  ///
  /// Called by the thread that claimed the operation (then the launch does the rest), by `finish()` of an
  /// asynchronous operation, or by the job that found an overridden `isFinished` true. The caller holds the
  /// operation.
  /// - Parameter onlyOnce: whether a second finish is misuse and traps.
  final func finishNow(onlyOnce: Bool = false) {
    if _slowPath(cplatform_is_tracing()) { TraceProbe.finishes(self) }
    let frame = LaunchFrame.current.flatMap { $0.pointee.operation == word ? $0 : nil }
    var old = stateNow
    if let frame, frame.pointee.ownsLink {
      while let next = old.finishingAndLeaving() {
        if replaceState(old, with: next) {
          frame.pointee.finished = true
          frame.pointee.left = true
          // The launch holds the queue until the launch gives the references back.
          OperationQueue.unmanaged(queueWord.load(ordering: .relaxed))._withUnsafeGuaranteedRef {
            // A class that calls finish() inside of its body may hold locks of its own.
            settle(old, queue: $0, frame: frame, asks: finishesItself ? .elsewhere : .here)
          }
          return
        }
        old = stateNow
      }
    }
    finishTheLongWay(frame: frame, onlyOnce: onlyOnce)
  }

  /// Others hold parts of the operation (its link, an edge that is still linked, a pending examination), or the
  /// operation has no queue. Each holder gives back what it holds, and the last one lets the operation leave.
  private final func finishTheLongWay(frame: UnsafeMutablePointer<LaunchFrame>?, onlyOnce: Bool) {
    if stateNow.has(StateWord.enqueued), !stateNow.has(StateWord.listed) {
      // Another thread is adding the operation. Until the queue lists it, that thread runs a few instructions and no
      // user code.
      Spin.until { stateNow.has(StateWord.listed) }
    }
    // The queue cannot be gone before `finished` is set. Until this thread is done, the link of this thread's launch
    // keeps the queue, or else a reference does. Two workers that count references write one cache line in turn.
    let ownsLink = frame?.pointee.ownsLink ?? false
    let queue = ownsLink ? nil : lockedQueue
    let flags = StateWord.finished | StateWord.started
    let old = raise(flags)
    if old.has(StateWord.finished) {
      // The library has skipped and finished a cancelled operation. The class cannot know that.
      if onlyOnce, !old.has(StateWord.skipped) {
        misuse(self, "finish() was called on an operation that has already finished")
      }
      return
    }
    if ownsLink {
      // The launch takes the link back, and lets the operation leave.
      frame?.pointee.finished = true
      return OperationQueue.unmanaged(queueWord.load(ordering: .relaxed))._withUnsafeGuaranteedRef {
        settle(old, queue: $0, frame: nil, asks: finishesItself ? .elsewhere : .here)
      }
    }
    let leave = StateWord(bits: old.bits | flags).mayLeave
    frame?.pointee.finished = queue != nil
    if old.has(StateWord.hasEpilogue), queue == nil || frame == nil {
      // The hand-over comes before anybody learns of the finish: a thread that has waited for the finish may shut the
      // backend down.
      handOffEpilogue(queue: queue)
    }
    if let queue {
      settle(old, queue: queue, frame: nil, asks: frame == nil || finishesItself ? .elsewhere : .here)
    } else {
      serve(old, frame: nil, asks: .elsewhere)
    }
    // Only a launch counts the beginning, of what has not finished inside of it.
    if old.has(StateWord.started), frame?.pointee.isPart ?? true { queue?.supervisedBackend?.countEnded() }
    if leave {
      leaveQueue()
      Unmanaged.passUnretained(self).release()
    }
    withExtendedLifetime(queue) {}
  }

  /// Serves the queue's books, then everybody else.
  ///
  /// There are two functions, and the queue is not optional in the first, because the optimizer takes a reference to
  /// an optional's payload. The queue's reference count is a cache line that every worker would write for every
  /// operation.
  private final func settle(
    _ old: StateWord, queue: OperationQueue, frame: UnsafeMutablePointer<LaunchFrame>?, asks: Handover.Asks
  ) {
    // No job may wait for this thread while user code runs on it. An overridden start() may go on for long after
    // super.start(), and observers are about to be told.
    let frame = old.has(StateWord.asksReady) || old.has(StateWord.observed) || queue.isObserved ? nil : frame
    var place: QueuePlace?
    if old.has(StateWord.tracked) {
      // The dependents may be the most urgent operations: the place is given away when the dependents have been
      // released.
      place = queue.controller.didFinish(
        self, of: queue, frame: frame, holdsPlace: old.has(StateWord.hasDependents))
    }
    let isNoted = queue.beginChange()
    queue.registry.remove(self)
    queue.endChange(isNoted: isNoted)
    serve(old, frame: frame, asks: asks, place: place)
    queue.tellOfList(isNoted: isNoted)
  }

  /// - Parameters:
  ///   - old: the state before `finished` was set.
  ///   - frame: where the next job of this thread may be put; nil when the finish has no such thread.
  ///   - asks: `here` when the operation has returned from its code on this thread.
  ///   - place: as for `releaseDependents`.
  private final func serve(
    _ old: StateWord, frame: UnsafeMutablePointer<LaunchFrame>?, asks: Handover.Asks,
    place: consuming QueuePlace? = nil
  ) {
    departed.store(Self.waitersMayGo, ordering: .releasing)
    if old.has(StateWord.hasWaiters) { wakeWaiters() }
    if old.has(StateWord.hasDependents) {
      releaseDependents(frame: frame, asks: asks, place: place, isFinish: true)
    } else {
      departed.store(Self.epilogueMayRun, ordering: .releasing)
    }
    if old.has(StateWord.observed) { reportFinish(old) }
  }

  /// Values of `departed`.
  private static var waitersMayGo: UInt8 { 1 }
  static var epilogueMayRun: UInt8 { 2 }

  // MARK: - Epilogue

  /// Comes last, on the thread that ran the operation: the completion block runs, then the dependencies are let go.
  /// - Parameters:
  ///   - queue: the word of the operation's queue, held for the length of the call; 0 for none.
  ///   - successor: the next job of this thread. The job is handed to the backend before user code runs, because user
  ///     code may wait for the job.
  final func epilogue(queue: UInt, successor: inout UInt) {
    let block = takeCompletionBlock()
    if block.isNone { return letDependenciesGo() }
    if successor != 0, queue != 0 {
      OperationQueue.unmanaged(queue)._withUnsafeGuaranteedRef { $0.withBackend { $0.submit(Job(word: successor)) } }
      successor = 0
    }
    if cplatform_is_main_thread() { submitEpilogue(block) } else { runEpilogue(block, queue: queue) }
  }

  /// For an operation that ran on the main thread: the block never does.
  @inline(never)
  private final func submitEpilogue(_ block: CompletionBlock) {
    DrivenBackends.orDefault.submit(Job(priority: explicitPriority) { self.runEpilogue(block, queue: 0) })
  }

  /// Runs the block in a frame without an operation: a completion block has no current queue, but has a backend to
  /// tell when it blocks.
  private final func runEpilogue(_ block: CompletionBlock, queue: UInt) {
    let outer = LaunchFrame.current
    _ = LaunchFrame.enter(
      LaunchFrame(
        operation: 0, queue: queue, home: queue == 0 ? 0 : home.load(ordering: .relaxed), ownsLink: false,
        previous: outer, depth: (outer?.pointee.depth ?? 0) + 1)
    ) { block.run?() }
    letDependenciesGo()
  }

  /// The flag is read after the finish. Whoever adds a dependency set the flag first, or does not list it any more.
  private final func letDependenciesGo() {
    if stateNow.has(StateWord.hasDependencies) { releaseDependencies() }
  }

  /// For a finish on a thread that is not the backend's. The caller may hold locks that the block wants. Objects that
  /// go with the dependencies may want such locks, too.
  private final func handOffEpilogue(queue: OperationQueue?) {
    let backend = queue?.backend ?? DrivenBackends.orDefault
    backend.submit(
      Job(priority: explicitPriority) {
        // The finishing thread is serving waiters and dependents. That thread runs no user code before it lets this
        // job go on.
        Spin.until { self.departed.load(ordering: .acquiring) == Self.epilogueMayRun }
        let block = self.takeCompletionBlock()
        if block.isNone { return self.letDependenciesGo() }
        self.runEpilogue(block, queue: queue.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0)
        withExtendedLifetime(queue) {}
      })
  }
}
