import CPlatform
import Primitives

/// Operations that became ready at one moment, on their way. The operations of the first backend are one list. The
/// operations of a queue with a controller are another list, so that the controller orders them together.
///
/// A batch lives on one thread's stack, and hands over what it holds when it is submitted. While an overridden
/// `isReady` is asked in between, the batch is *pending* on its thread: a wait inside that user code hands the batch
/// over first.
struct ReadyBatch: ~Copyable {
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
  /// Operations without unfinished dependencies, to be asked elsewhere.
  private var collected: [Operation]?

  private var list = JobFIFO()
  /// Identity of the backend that `list` is for; 0 while `list` is empty.
  private var listHome: UInt32 = 0
  /// One bit for each level among the operations that `list` got.
  private var listLevels: UInt32 = 0
  /// The first operation that `list` got: its link is in use here, so the operation cannot leave its queue.
  private var listOperation: UInt = 0
  /// The backend on whose thread this batch is: the thread's next job may be taken from the list.
  private let home: UInt32
  /// A queue that the caller keeps alive, or 0.
  private let keptQueue: UInt

  /// Entries for the controller of one queue, by link: so each entry holds that queue.
  private var admitted = JobFIFO()
  private var admittedQueue: UInt = 0
  /// A queue whose controller has a place to give away once these entries are in the controller's lists. The caller
  /// keeps the queue alive.
  private var place: Unmanaged<OperationQueue>?
  /// Whether nobody else can get that place. Never true while code of users runs: that code may wait for whoever gets
  /// the place.
  private var placeIsHeld: Bool

  /// - Parameters:
  ///   - place: a queue whose controller has a place to give away.
  ///   - placeIsHeld: whether `Controller.didFinish` holds that place.
  ///   - keptQueue: a queue that the caller keeps alive; its operations are handed over without a reference to it.
  init(
    home: UInt32 = 0, asks: Asks = .elsewhere, mayNotify: Bool = true, place: Unmanaged<OperationQueue>? = nil,
    placeIsHeld: Bool = false, keptQueue: OperationQueue? = nil
  ) {
    self.home = home
    self.keptQueue = keptQueue.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? 0
    self.asks = asks
    self.mayNotify = mayNotify
    self.place = place
    self.placeIsHeld = placeIsHeld
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

  /// - Parameter operation: has no unfinished dependency; nobody is responsible for its start yet.
  mutating func collect(_ operation: Operation) {
    if collected == nil { collected = [operation] } else { collected?.append(operation) }
  }

  /// - Parameter operation: scheduled by the caller. The caller holds the operation's queue for that reason.
  @inline(never)
  mutating func add(_ operation: Operation, useLink: Bool) {
    if _slowPath(cplatform_is_tracing()) { TraceProbe.isReady(operation.word) }
    guard useLink else { return addMoved(operation) }
    if operation.stateNow.has(StateWord.tracked) { addTracked(operation) } else { addToList(operation) }
  }

  /// - Parameter state: of an operation that the caller has scheduled by its link.
  @inline(__always)
  mutating func addByLink(_ operation: Operation, _ state: StateWord) {
    // If the mark comes later, whoever takes the entry finds the mark.
    if _slowPath(state.has(StateWord.tracked) || cplatform_is_tracing()) {
      add(operation, useLink: true)
    } else {
      addToList(operation)
    }
  }

  @inline(__always)
  private mutating func addToList(_ operation: Operation) {
    assert(operation.stateNow.has(StateWord.linked), "an operation is handed over by a link that is not in use")
    let operationHome = operation.home.load(ordering: .relaxed)
    if listHome == 0 {
      listHome = operationHome
      listOperation = operation.word
    }
    guard listHome == operationHome else { return submitAlone(operation) }
    listLevels |= 1 << UInt32(operation.level)
    list.append(operation.word)
  }

  /// The operation is of another backend than the list.
  @inline(never)
  private func submitAlone(_ operation: Operation) {
    if let queue = operation.retainedQueue() { queue.backend.submit(Job(word: operation.word)) }
  }

  @inline(never)
  private mutating func addTracked(_ operation: Operation) {
    let queue = operation.queueWord.load(ordering: .acquiring)
    if admittedQueue != queue { flushAdmitted(frame: nil, handsOut: !admitsToPlace) }
    admittedQueue = queue
    admitted.append(operation.word)
  }

  /// The operation's link is in use elsewhere: another object stands for the operation, and is handed over alone.
  private func addMoved(_ operation: Operation) {
    let entry = operation.makeMovedEntry()
    guard let queue = operation.lockedQueue else {
      // The operation has finished and left meanwhile.
      return JobObject.unmanaged(entry)._withUnsafeGuaranteedRef { $0.discard() }
    }
    if operation.stateNow.has(StateWord.tracked) {
      queue.controller.admitLater(operation, entry: entry, of: queue)
    } else {
      queue.backend.submit(Job(word: entry))
    }
  }

  /// The most urgent entry, first of its level, for this thread itself to run; 0 when the list has no entry of this
  /// thread's backend.
  @inline(__always)
  private mutating func takeSuccessor() -> UInt {
    guard home != 0, listHome == home, !list.isEmpty else { return 0 }
    return listLevels & (listLevels &- 1) == 0 ? list.popFirst() : takeMostUrgent()
  }

  private mutating func takeMostUrgent() -> UInt {
    var best = -1
    var rest = JobFIFO()
    var chosen: UInt = 0
    var node = list.popFirst()
    while node != 0 {
      let level = Job(word: node).level
      if level > best {
        best = level
        chosen = node
      }
      rest.append(node)
      node = list.popFirst()
    }
    node = rest.popFirst()
    while node != 0 {
      if node != chosen { list.append(node) }
      node = rest.popFirst()
    }
    return chosen
  }

  consuming func submit() { flush(frame: nil) }

  /// Hands over what the batch holds, the place and the questions included.
  /// - Parameter frame: where the next job of this thread goes, when the thread may run a job.
  @inline(__always)
  mutating func flush(frame: UnsafeMutablePointer<LaunchFrame>?) {
    if let frame, frame.pointee.successor == 0 { frame.pointee.successor = takeSuccessor() }
    if !list.isEmpty { flushList() }
    listHome = 0
    listLevels = 0
    if admittedQueue != 0 || place != nil || collected != nil { flushRest(frame: frame) }
  }

  @inline(never)
  private mutating func flushRest(frame: UnsafeMutablePointer<LaunchFrame>?) {
    guard let asked = collected else {
      let isSame = admitsToPlace
      flushAdmitted(frame: frame, handsOut: true)
      if let place, !isSame {
        place._withUnsafeGuaranteedRef { $0.controller.handOut(for: $0, frame: frame, freesPlace: placeIsHeld) }
      }
      place = nil
      placeIsHeld = false
      return
    }
    // An operation that is asked elsewhere may be the most urgent one: the place is given away there, after the
    // answers.
    let queue = place?.takeUnretainedValue() ?? (admittedQueue == 0 ? nil : OperationQueue.retained(admittedQueue))
    let isSame = queue.map { admittedQueue == UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? false
    flushAdmitted(frame: nil, handsOut: !isSame)
    freeHeldPlace()
    place = nil
    collected = nil
    Examiner.ask(asked, place: queue)
  }

  /// Whether the entries to be admitted go to the queue of the place.
  private var admitsToPlace: Bool {
    guard let place else { return false }
    return admittedQueue == UInt(bitPattern: place.toOpaque())
  }

  /// Called when code of users is about to run.
  private mutating func freeHeldPlace() {
    guard placeIsHeld else { return }
    placeIsHeld = false
    place?._withUnsafeGuaranteedRef { $0.controller.freeHeldPlace(of: $0) }
  }

  @inline(never)
  private mutating func flushList() {
    // The first operation's entry is still here, or this thread runs the entry next: in both cases the operation is
    // in its queue.
    let first: Unmanaged<Operation> = Operation.unmanaged(listOperation)
    let queue = first._withUnsafeGuaranteedRef { $0.queueWord.load(ordering: .acquiring) }
    if queue != 0, queue == keptQueue {
      let kept = OperationQueue.unmanaged(queue)
      return kept._withUnsafeGuaranteedRef { $0.withBackend { submitList(to: $0) } }
    }
    guard let backend = first._withUnsafeGuaranteedRef({ $0.retainedQueue()?.backend }) else { return }
    submitList(to: backend)
  }

  private mutating func submitList(to backend: any Backend) {
    if list.count == 1 {
      backend.submit(Job(word: list.popFirst()))
    } else {
      var all = JobFIFO()
      all.append(contentsOf: &list)
      backend.submit(contentsOf: JobList(all))
    }
  }

  private mutating func flushAdmitted(frame: UnsafeMutablePointer<LaunchFrame>?, handsOut: Bool) {
    guard admittedQueue != 0 else { return }
    // The reference is taken while the entries hold the queue: once the controller has the entries, they may run and
    // leave.
    let queue = OperationQueue.retained(admittedQueue)
    var all = JobFIFO()
    all.append(contentsOf: &admitted)
    admittedQueue = 0
    if all.count == 1, frame == nil, place == nil, handsOut {
      // No place is this batch's to give away: the operation may wait for the next visit.
      let entry = all.popFirst()
      return Operation.unmanaged(entry)._withUnsafeGuaranteedRef {
        queue.controller.admitLater($0, entry: entry, of: queue)
      }
    }
    let frees = handsOut && placeIsHeld && place?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque()
    queue.controller.admit(all, to: queue, frame: frame, handsOut: handsOut, freesPlace: frees)
  }
}

// MARK: - Pending on a thread

extension ReadyBatch {
  /// Asks a subclass something. What the batch holds stays here meanwhile, to be ordered together with the answer. A
  /// wait inside `question` hands the batch over.
  mutating func asking(_ question: () -> Bool) -> Bool {
    // At most one batch is pending: an outer batch is handed over before user code runs inside of user code.
    Self.handOverPending()
    freeHeldPlace()
    return withUnsafeMutablePointer(to: &self) { batch in
      cplatform_set_pending_batch(batch)
      defer { cplatform_set_pending_batch(nil) }
      return question()
    }
  }

  /// The calling thread is about to block in user code: nothing may wait for the calling thread.
  static func handOverPending() {
    guard let batch = cplatform_pending_batch() else { return }
    cplatform_set_pending_batch(nil)
    batch.assumingMemoryBound(to: ReadyBatch.self).pointee.flush(frame: nil)
  }
}
