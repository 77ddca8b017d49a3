import CPlatform
import OperationJobs
import Primitives
import Synchronization

extension Admission {
  /// For assertions: nothing has been counted below 0.
  fileprivate var isPossible: Bool {
    // No closure and no sequence: the gate counts what a debug build allocates.
    var level = 0
    var sum = 0
    while level < Job.levels {
      if tickets[level] < 0 || heldAt[level] < 0 || runningAt[level] < heldAt[level] { return false }
      sum += runningAt[level]
      level += 1
    }
    return running == sum
  }
}

/// The lock around `Admission`, and what the decisions of `Admission` set in motion. The controller is engaged while
/// a queue has a limit, has a barrier, or is suspended; any other queue never comes here.
///
/// Operations are chosen when a worker is there to run them, not when they are handed over: the backend gets
/// *tickets*, and a ticket takes the most urgent operation at that moment under the lock. So the order is exact, and
/// a suspension or a lower limit holds for everything that has not started.
///
/// Lock order: the controller's lock comes before the registry's. The controller's lock is never held while code of
/// users or backends runs.
struct Controller: ~Copyable, @unchecked Sendable {
  // Sendable: everything behind the pointers is touched under `lock`.
  private let lock = FutexLock()
  private let admission = UnsafeMutablePointer.holding(Admission())
  private let engaged = UnsafeMutablePointer.holding(false)
  private let arrivals = Arrivals()
  /// Ticket objects that are not on their way: a steady queue allocates none.
  private let spareTickets = UnsafeMutablePointer.holding(JobFIFO())

  /// Tickets on their way at the same time, per worker of the backend: enough to keep the backend busy, however many
  /// operations are ready.
  private static let ticketsPerWorker = 2

  /// Bits of `Operation.admission`, under `lock`.
  private static let admitted: UInt8 = 1
  private static let accounted: UInt8 = 2
  /// The bits from here on have the level at which an admitted operation counts as running.
  private static let levelShift: UInt8 = 2

  /// The bits of an operation that counts as running from now on. The level is read behind the change that started the
  /// operation, or marked it. A thread that changes the level looks at the state behind its change, so that one of the
  /// two threads sees the other's change.
  private static func admittedBits(_ operation: Operation, _ flags: UInt8) -> UInt8 {
    let level = LevelWord(bits: operation.levelWord.load(ordering: .sequentiallyConsistent)).level
    return bits(flags | admitted, level: level)
  }

  private static func bits(_ flags: UInt8, level: Int) -> UInt8 {
    flags & (admitted | accounted) | UInt8(truncatingIfNeeded: level) << levelShift
  }

  private static func level(_ flags: UInt8) -> Int { Int(flags >> levelShift) }

  deinit {
    admission.free()
    engaged.free()
    while case let ticket = spareTickets.pointee.popFirst(), ticket != 0 { JobObject.object(ticket).release() }
    spareTickets.free()
  }

  // MARK: - Settings

  /// Changes a setting under the lock, and acts on the consequences.
  borrowing func change(_ queue: OperationQueue, _ body: (inout Admission) -> Void) {
    var visited: [Operation] = []
    lock.lock()
    body(&admission.pointee)
    if admission.pointee.isNeeded, !engaged.pointee { engage(queue, visited: &visited) }
    unlockAndSubmit(for: queue)
    withExtendedLifetime(visited) {}
  }

  /// Lists a barrier: after everything added before the barrier, before everything added later.
  /// - Returns: whether the change of the list was noted for observers.
  borrowing func addBarrier(_ barrier: Operation, to queue: OperationQueue) -> Bool {
    var visited: [Operation] = []
    lock.lock()
    if !engaged.pointee { engage(queue, visited: &visited) }
    let isNoted = queue.beginChange()
    let sequence = queue.registry.takeNumbers(1).first
    admission.pointee.addBarrier(sequence: sequence)
    _ = Unmanaged.passRetained(queue)
    barrier.list(in: queue, ticket: queue.registry.ticket(sequence: sequence, isControlled: true))
    queue.endChange(isNoted: isNoted)
    // With a barrier the controller is quiet for fewer levels, and the barrier's own arrival must find that.
    if admission.pointee.hasLimitsBelow { unlockAndSubmit(for: queue) } else { lock.unlock() }
    var handover = Handover(asks: .here)
    _ = barrier.becomeStartable(into: &handover, flag: StateWord.tracked)
    handover.submit()
    withExtendedLifetime(visited) {}
    return isNoted
  }

  /// Under `lock`, while nothing needs the controller. Operations that are ready go to the backend, as they would have
  /// done without a controller: tickets would start them one by one.
  /// - Parameter list: gets the entries, the most urgent first.
  private borrowing func disengage(_ queue: OperationQueue, into list: inout JobFIFO) {
    assert(lock.isHeld)
    if engaged.pointee {
      engaged.pointee = false
      _ = queue.registry.setControlled(false)
    }
    while let entry = admission.pointee.takeReady() {
      ListEntry.leaveController(entry)
      list.append(entry)
    }
  }

  /// From now on additions come here. Every operation added before is marked, so that its start and its finish come
  /// here too. The operations that will report their finish are counted: for each operation `raise` tells whether the
  /// mark came before the finish.
  /// - Parameter visited: keeps the operations until the lock is free, because releasing the last reference runs code
  ///   of others.
  private borrowing func engage(_ queue: OperationQueue, visited: inout [Operation]) {
    assert(lock.isHeld)
    engaged.pointee = true
    let bound = queue.registry.setControlled(true)
    var unfinished = 0
    var running = Job.PerLevel<Int>(repeating: 0)
    queue.registry.visitPending(below: bound, waitForStores: true) { operation in
      visited.append(operation)
      let old = operation.raise(StateWord.tracked)
      let flags = operation.admission.load(ordering: .relaxed)
      if old.has(StateWord.finished) {
        // The operation was marked in an earlier engagement and has finished, but has not reported its finish here
        // yet.
        guard old.has(StateWord.tracked), flags & Self.accounted == 0 else {
          // The operation finished without the mark, or has reported: the mark just set must not fool the next
          // engagement.
          operation.admission.store(flags | Self.accounted, ordering: .relaxed)
          return
        }
      }
      unfinished += 1
      if old.has(StateWord.started) {
        let admitted = Self.admittedBits(operation, flags)
        running[Self.level(admitted)] += 1
        operation.noteStart(at: 0, old)
        operation.admission.store(admitted, ordering: .relaxed)
      }
    }
    admission.pointee.engage(bound: bound, unfinished: unfinished, running: running)
  }

  /// Sequence numbers of the barriers that are not over, in order.
  var barriers: [Int] { lock.withLock { admission.pointee.barriers } }

  // MARK: - Operations

  /// An operation is ready and waits for its turn.
  borrowing func admitLater(_ operation: Operation, entry: UInt, of queue: OperationQueue) {
    let level = operation.level
    if entry == operation.word {
      if arrivals.push(entry, level: level) {
        lock.lock()
        unlockAndSubmit(for: queue)
      }
      return
    }
    lock.lock()
    insertArrivals()
    admission.pointee.insert(entry: entry, level: level, sequence: operation.sequence.load(ordering: .relaxed))
    unlockAndSubmit(for: queue)
  }

  /// The level of an operation has changed: its entry becomes void, and a new one stands at the tail of the new level.
  /// For those who choose that is one step: between two steps a less urgent operation would get the place.
  /// - Returns: false when the operation has been started.
  borrowing func move(_ operation: Operation, of queue: OperationQueue) -> Bool {
    lock.lock()
    guard operation.makeEntryVoid() else {
      lock.unlock()
      return false
    }
    insertArrivals()
    admission.pointee.insert(
      entry: operation.makeMovedEntry(), level: operation.level,
      sequence: operation.sequence.load(ordering: .relaxed))
    unlockAndSubmit(for: queue)
    return true
  }

  /// Under `lock`. Lists what has arrived, before anything that is listed or chosen later.
  private borrowing func insertArrivals() {
    insert(arrivals.take())
  }

  /// Under `lock`.
  private borrowing func insert(_ entries: consuming JobFIFO) {
    assert(lock.isHeld)
    while case let entry = entries.popFirst(), entry != 0 {
      let (level, sequence) = Operation.unmanaged(entry)._withUnsafeGuaranteedRef {
        ($0.level, $0.sequence.load(ordering: .relaxed))
      }
      admission.pointee.insert(entry: entry, level: level, sequence: sequence)
    }
  }

  /// Operations that became ready together, each by its link.
  /// - Parameters:
  ///   - frame: the launch on this thread whose next job may be a ticket; nil when there is none.
  ///   - place: a place of the queue that is given away here.
  borrowing func admit(
    _ entries: consuming JobFIFO, to queue: OperationQueue, frame: UnsafeMutablePointer<LaunchFrame>?,
    giving place: consuming QueuePlace?
  ) {
    lock.lock()
    end(place)
    insertArrivals()
    insert(entries)
    unlockAndSubmit(for: queue, frame: frame)
  }

  /// Lists entries, and gives nothing away: `admit` or `handOut` follows, when it is known whether there is a more
  /// urgent operation.
  borrowing func list(_ entries: consuming JobFIFO) {
    lock.lock()
    insertArrivals()
    insert(entries)
    lock.unlock()
  }

  /// Under `lock`.
  private borrowing func end(_ place: consuming QueuePlace?) {
    assert(lock.isHeld)
    if let place, let level = place.end() { admission.pointee.freeHeldPlace(level: level) }
  }

  /// A marked operation has finished.
  /// - Parameter holdsPlace: the operation's place stays taken for now, so that the operations that the finish makes
  ///   ready get the place, if they are the most urgent.
  /// - Returns: the place, if it is held.
  borrowing func didFinish(
    _ operation: Operation, of queue: OperationQueue, frame: UnsafeMutablePointer<LaunchFrame>?, holdsPlace: Bool
  ) -> QueuePlace? {
    lock.lock()
    let flags = operation.admission.load(ordering: .relaxed)
    operation.admission.store(flags | Self.accounted, ordering: .relaxed)
    let level = flags & Self.admitted != 0 ? Self.level(flags) : nil
    admission.pointee.finish(
      sequence: operation.sequence.load(ordering: .relaxed), level: level, holdsPlace: holdsPlace)
    guard let level, holdsPlace else {
      unlockAndSubmit(for: queue, frame: frame)
      return nil
    }
    lock.unlock()
    return .held(of: queue, level: level)
  }

  /// The level of an operation has changed, and the operation was found started and marked.
  borrowing func recount(_ operation: Operation, of queue: OperationQueue) {
    lock.lock()
    let flags = operation.admission.load(ordering: .relaxed)
    if flags & Self.admitted != 0, flags & Self.accounted == 0 {
      let level = operation.level
      admission.pointee.moveRunning(from: Self.level(flags), to: level)
      operation.admission.store(Self.bits(flags, level: level), ordering: .relaxed)
    }
    unlockAndSubmit(for: queue)
  }

  /// Gives a place away, and every other free place.
  borrowing func handOut(
    for queue: OperationQueue, frame: UnsafeMutablePointer<LaunchFrame>?, giving place: consuming QueuePlace?
  ) {
    lock.lock()
    end(place)
    unlockAndSubmit(for: queue, frame: frame)
  }

  /// A place that `didFinish` held becomes free; `handOut` follows, but code of users runs before. The place is given
  /// away here only for operations that arrive meanwhile: they may have counted on a visit by whoever has the place.
  borrowing func freeHeldPlace(of queue: OperationQueue, level: Int) {
    lock.lock()
    insertArrivals()
    admission.pointee.freeHeldPlace(level: level)
    if arrivals.publish(quietLevel: admission.pointee.quietLevel) { lock.unlock() } else { unlockAndSubmit(for: queue) }
  }

  // MARK: - Tickets

  /// The end of every visit that may let operations start. Hands out tickets, or, when nothing needs the controller any
  /// more, the operations themselves.
  /// - Parameter frame: the launch on this thread whose next job may be one of them; nil when there is none.
  private borrowing func unlockAndSubmit(
    for queue: OperationQueue, frame: UnsafeMutablePointer<LaunchFrame>? = nil
  ) {
    assert(admission.pointee.isPossible, "more operations have given up places than had them")
    var list = JobFIFO()
    repeat {
      insertArrivals()
      if admission.pointee.isNeeded {
        let most = Self.ticketsPerWorker * queue.backendWorkerCount
        while let level = admission.pointee.takeTicket(atMost: most) {
          list.append(QueueTicket.prepare(spareTickets.pointee.popFirst(), for: queue, level: level))
        }
      } else {
        disengage(queue, into: &list)
      }
    } while !arrivals.publish(quietLevel: admission.pointee.quietLevel)
    lock.unlock()
    guard !list.isEmpty else { return }
    if let frame, frame.pointee.successor == 0, frame.pointee.home == queue.home {
      // The place goes from one operation to the next on the same thread, without the backend.
      frame.pointee.successor = list.popFirst()
      if list.isEmpty { return }
    }
    let backend = queue.backend
    if list.count == 1 {
      backend.submit(Job(word: list.popFirst()))
    } else {
      backend.submit(contentsOf: JobList(list))
    }
  }

  /// A ticket's turn. Takes the most urgent operation that may start, unless that operation is less urgent than the
  /// ticket (entries may be void). Takes the ticket back, and hands out other tickets for what may start beside that
  /// operation.
  /// - Parameter voided: receives the entries that turned out void, to be discarded without the lock.
  borrowing func takeNext(returning ticket: UInt, of queue: OperationQueue, voided: inout [UInt]) -> ClaimedEntry? {
    let level = Job(word: ticket).level
    lock.lock()
    spareTickets.pointee.append(ticket)
    admission.pointee.useTicket(level: level)
    insertArrivals()
    let next = claimNext(atLeast: level, &voided)
    unlockAndSubmit(for: queue)
    return next
  }

  /// Under `lock`.
  private borrowing func claimNext(atLeast level: Int, _ voided: inout [UInt]) -> ClaimedEntry? {
    assert(lock.isHeld)
    while let entry = admission.pointee.next(atLeast: level) {
      switch ListEntry.claimAdmitted(entry) {
      case .void(let discard):
        if discard { voided.append(entry) }
      case .start(let claimed):
        claimed.operation._withUnsafeGuaranteedRef {
          let admitted = Self.admittedBits($0, $0.admission.load(ordering: .relaxed))
          admission.pointee.start(level: Self.level(admitted))
          $0.noteStart(at: cplatform_coarse_now_ns(), claimed.after)
          $0.admission.store(admitted, ordering: .relaxed)
        }
        return claimed
      }
    }
    return nil
  }
}
