import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives
import Synchronization

// An operation becomes a queue's in three steps. A handover takes each step for all its members, one after the other.
// The steps are `claimForQueue` (or a trap), `list` (the queue holds the operation from here on) and
// `becomeStartable` (the operation may start from here on).

extension Operation {
  /// Step 1. Traps with Foundation's wording when the operation cannot be added.
  final func claimForQueue() {
    var old = stateNow
    while true {
      if old.has(StateWord.finished) { misuse(self, "operation is finished and cannot be enqueued") }
      if old.has(StateWord.enqueued) { misuse(self, "operation is already enqueued on a queue") }
      if old.has(StateWord.started) { misuse(self, "operation is executing and cannot be enqueued") }
      // A class that may override isReady is asked. A class that finishes itself must not keep a job waiting for the
      // class's thread.
      let asks = isPlain ? 0 : StateWord.asksReady
      if replaceState(old, with: StateWord(bits: old.bits | StateWord.enqueued | asks)) { return }
      old = stateNow
    }
  }

  /// Step 2, except for the flag that `becomeStartable` sets for an operation that only a worker finishes. From here
  /// on the queue's list has the operation. The caller has taken the operation's reference to the queue.
  @inline(__always)
  final func list(in queue: OperationQueue, ticket: Registry.Ticket) {
    _ = Unmanaged.passRetained(self)
    adopt(queue, ticket: ticket)
    queue.registry.fill(ticket, with: self)
    // Traced before the operation is listed: nobody starts the operation until then.
    if _slowPath(cplatform_is_tracing()) { TraceProbe.added(self, to: queue, isReady: false) }
    if stateNow.has(StateWord.asksReady) {
      willBeListed(in: queue)
      raise(StateWord.listed | ticket.flag)
    }
  }

  /// Sets the fields that never change again. The caller has taken the operation's reference to the queue.
  @inline(__always)
  final func adopt(_ queue: OperationQueue, ticket: Registry.Ticket) {
    sequence.store(ticket.sequence, ordering: .relaxed)
    home.store(queue.home, ordering: .relaxed)
    queueWord.store(UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque()), ordering: .releasing)
    let quality = queue.qualityOfServiceNow
    if quality != .default { updateLevel { $0.with(queueQualityOfService: quality) } }
  }

  /// Step 3. A cancelled operation does not wait for dependencies.
  /// - Parameter flag: the ticket's flag.
  /// - Returns: false when the step takes user code that may not run in this handover: `release(edge: nil)` completes
  ///   the step later.
  @inline(__always)
  final func becomeStartable(into handover: inout Handover, flag: UInt64) -> Bool {
    if let state = listAndSchedule(flag) {
      handover.addByLink(self, state)
      return true
    }
    var old = stateNow
    if !old.has(StateWord.listed) { old = raise(StateWord.listed | flag) }
    if old.has(StateWord.cancelled) || queueCancelledThis { return becomeStartableAsCancelled(into: &handover) }
    return linkDependencies(into: &handover)
  }

  /// Step 3 for an operation that waits for nothing, in one change of the word. The caller hands the entry over.
  /// - Parameter flag: the ticket's flag.
  /// - Returns: the new state, or nil when nothing was changed.
  @inline(__always)
  final func listAndSchedule(_ flag: UInt64) -> StateWord? {
    var old = stateNow
    while let next = old.listingAndScheduling(flag) {
      if replaceState(old, with: next) { return next }
      old = stateNow
    }
    return nil
  }

  @inline(never)
  private final func becomeStartableAsCancelled(into handover: inout Handover) -> Bool {
    markCancelled()
    // The queue's own count keeps the operation in its queue until here.
    return release(edge: nil, into: &handover)
  }

  /// Whether the operation's class is known to override nothing that enqueueing would have to ask.
  @inline(__always) final var isPlain: Bool { type(of: self) == BlockOperation.self }
}
