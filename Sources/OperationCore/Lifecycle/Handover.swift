import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives

/// Operations that became ready at one moment, on their way to backends and controllers, and the place that they may
/// take.
///
/// A handover lives on one thread's stack, and hands over what it has when it is submitted. While an overridden
/// `isReady` is asked in between, the handover is *pending* on its thread: a wait inside that user code hands over
/// first what is here.
struct Handover: ~Copyable {
  /// Where a class that may override `isReady` is asked.
  enum Asks {
    /// On a thread that holds no lock of a user's.
    case elsewhere
    case here
  }

  let asks: Asks
  /// Whether observers of `isReady` may be called here. If not, the release is put off and tried again when observers
  /// may be called.
  var mayNotify: Bool
  private var batch: ReadyBatch
  /// A place that is given away once the operations of its queue are in the controller's lists. The place is never held
  /// while code of users runs.
  private var place: QueuePlace?

  /// - Parameters:
  ///   - home: the backend on whose thread this is; 0 for none.
  ///   - keptQueue: a queue that the caller keeps alive; its operations are handed over without a reference to it.
  @inline(__always)
  init(
    home: UInt32 = 0, asks: Asks = .elsewhere, mayNotify: Bool = true, place: consuming QueuePlace? = nil,
    keptQueue: OperationQueue? = nil
  ) {
    self.asks = asks
    self.mayNotify = mayNotify
    self.place = place
    batch = ReadyBatch(home: home, keptQueue: keptQueue)
  }

  /// Whether this release has to wait until observers may be called.
  @inline(__always)
  func putsOff(_ action: StateWord.Release, of operation: Operation, _ state: StateWord) -> Bool {
    guard state.has(StateWord.observed), !mayNotify else { return false }
    switch action {
    case .askReady, .schedule: return operation.isReadinessObserved
    case .nothing, .leave: return false
    }
  }

  // MARK: - Adding

  /// - Parameter operation: has no unfinished dependency; nobody is responsible for its start yet.
  mutating func collect(_ operation: Operation) { batch.collect(operation) }

  /// - Parameter operation: scheduled by the caller. The caller holds the operation's queue for that reason.
  @inline(never)
  mutating func add(_ operation: Operation, useLink: Bool) {
    if _slowPath(cplatform_is_tracing()) { TraceProbe.isReady(operation.word) }
    guard useLink else { return addMoved(operation) }
    if operation.stateNow.has(StateWord.tracked) { addTracked(operation) } else { batch.add(operation) }
  }

  /// - Parameter state: of an operation that the caller has scheduled by its link.
  @inline(__always)
  mutating func addByLink(_ operation: Operation, _ state: StateWord) {
    // If the mark comes later, whoever takes the entry finds the mark.
    if _slowPath(state.has(StateWord.tracked) || cplatform_is_tracing()) {
      add(operation, useLink: true)
    } else {
      batch.add(operation)
    }
  }

  @inline(never)
  private mutating func addTracked(_ operation: Operation) {
    let queue = operation.queueWord.load(ordering: .acquiring)
    if batch.admittedQueue != queue { admitBeforeTheEnd() }
    batch.admit(operation, to: queue)
  }

  /// The operation's link is in use elsewhere: another object stands for the operation, and is handed over alone.
  private func addMoved(_ operation: Operation) {
    let entry = operation.makeMovedEntry()
    guard let queue = operation.lockedQueue else {
      // The operation has finished and left meanwhile.
      return ListEntry.discard(entry)
    }
    if operation.stateNow.has(StateWord.tracked) {
      queue.controller.admitLater(operation, entry: entry, of: queue)
    } else {
      queue.backend.submit(Job(word: entry))
    }
  }

  /// How many operations are here for a backend.
  var readyCount: Int { batch.readyCount }

  // MARK: - Handing over

  consuming func submit() { flush(frame: nil) }

  /// Hands over what is here, the place and the questions included.
  /// - Parameter frame: where the next job of this thread goes, when the thread may run a job.
  @inline(__always)
  mutating func flush(frame: UnsafeMutablePointer<LaunchFrame>?) {
    batch.submitList(frame: frame)
    if batch.hasMore || place != nil { flushMore(frame: frame) }
  }

  @inline(never)
  private mutating func flushMore(frame: UnsafeMutablePointer<LaunchFrame>?) {
    if let unasked = batch.takeUnasked() { return flushWithQuestions(unasked) }
    if admitsToPlace {
      admit(frame: frame, taking: place.take())
    } else {
      admit(frame: frame)
      place?.queue._withUnsafeGuaranteedRef { $0.controller.handOut(for: $0, frame: frame, giving: place.take()) }
    }
  }

  /// An operation that is asked elsewhere may be the most urgent one: the place is given away there, after the answers.
  private mutating func flushWithQuestions(_ unasked: [Operation]) {
    let admittedQueue = batch.admittedQueue
    if place == nil, admittedQueue != 0 {
      // No place: but the queue's operations are ordered together with those that are asked.
      let queue = OperationQueue.retained(admittedQueue)
      listAdmitted()
      return Examiner.ask(unasked, place: queue)
    }
    admitBeforeTheEnd()
    guard let place = place.take() else { return Examiner.ask(unasked, place: nil) }
    Examiner.ask(unasked, place: place.leaveToAnotherThread())
  }

  /// Whether the entries for a controller go to the queue of the place.
  private var admitsToPlace: Bool {
    switch place {
    case .some(let place): return batch.admittedQueue == place.queueWord
    case .none: return false
    }
  }

  /// Hands the entries for a controller over, before it is known whether a more urgent operation comes. The place's own
  /// queue gets them without giving places away: that comes at the end.
  private mutating func admitBeforeTheEnd() {
    if admitsToPlace { listAdmitted() } else { admit(frame: nil) }
  }

  private mutating func listAdmitted() {
    var entries = JobFIFO()
    if let queue = batch.takeAdmitted(into: &entries) { queue.controller.list(entries) }
  }

  /// - Parameter taken: the place, which belongs to the queue of the entries.
  private mutating func admit(
    frame: UnsafeMutablePointer<LaunchFrame>?, taking taken: consuming QueuePlace? = nil
  ) {
    var entries = JobFIFO()
    let isAlone = taken == nil && place == nil
    guard let queue = batch.takeAdmitted(into: &entries) else { return }
    if entries.count == 1, frame == nil, isAlone {
      // No place is this handover's to give away: the operation may wait for the next visit.
      let entry = entries.popFirst()
      return Operation.unmanaged(entry)._withUnsafeGuaranteedRef {
        queue.controller.admitLater($0, entry: entry, of: queue)
      }
    }
    queue.controller.admit(entries, to: queue, frame: frame, giving: taken)
  }
}

// MARK: - Pending on a thread

extension Handover {
  /// Asks a subclass something. What is here stays here meanwhile, to be ordered together with the answer. A wait
  /// inside `question` hands it over.
  mutating func asking(_ question: () -> Bool) -> Bool {
    // At most one handover is pending: an outer one is carried out before user code runs inside of user code.
    Self.carryOutPending()
    place?.free()
    return withUnsafeMutablePointer(to: &self) { handover in
      cplatform_set_pending_handover(handover)
      defer { cplatform_set_pending_handover(nil) }
      return question()
    }
  }

  /// The calling thread is about to block in user code: nothing may wait for the calling thread.
  static func carryOutPending() {
    guard let handover = cplatform_pending_handover() else { return }
    cplatform_set_pending_handover(nil)
    handover.assumingMemoryBound(to: Handover.self).pointee.flush(frame: nil)
  }
}
