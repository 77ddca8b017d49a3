import CPlatform
import Primitives
import Synchronization

// Becoming a queue's operation, in three steps that a batch takes for all its members one after the other:
// `claimForQueue` (or trap), `list` (the queue holds it from here), `linkDependencies` (it may start from here).

extension Operation {
  /// Step 1. Traps with Foundation's wording when it cannot be added.
  final func claimForQueue() {
    var old = stateNow
    while true {
      if old.has(StateWord.finished) { misuse(self, "operation is finished and cannot be enqueued") }
      if old.has(StateWord.enqueued) { misuse(self, "operation is already enqueued on a queue") }
      if old.has(StateWord.started) { misuse(self, "operation is executing and cannot be enqueued") }
      // A class that may override isReady is asked; one that finishes itself must not keep a job waiting for its thread.
      let asks = isPlain ? 0 : StateWord.asksReady
      if replaceState(old, with: StateWord(bits: old.bits | StateWord.enqueued | asks)) { return }
      old = stateNow
    }
  }

  /// Step 2.
  /// - Parameter extraFlags: set together with `listed`.
  @inline(__always)
  final func list(in queue: OperationQueue, ticket: Registry.Ticket, extraFlags: UInt64 = 0) {
    _ = Unmanaged.passRetained(self)
    adopt(queue, ticket: ticket)
    queue.registry.fill(ticket, with: self)
    // Before it is listed: until then nobody starts it.
    if _slowPath(cplatform_is_tracing()) { TraceProbe.added(self, to: queue, isReady: false) }
    let tracked = ticket.isControlled ? StateWord.tracked : 0
    raise(StateWord.listed | tracked | extraFlags)
  }

  /// The fields that never change again. The queue is retained: the operation's reference to it.
  final func adopt(_ queue: OperationQueue, ticket: Registry.Ticket) {
    sequence.store(ticket.sequence, ordering: .relaxed)
    home.store(queue.home, ordering: .relaxed)
    queueWord.store(UInt(bitPattern: Unmanaged.passRetained(queue).toOpaque()), ordering: .releasing)
    let quality = queue.qualityOfServiceNow
    if quality != .default { updateLevel { $0.with(queueQualityOfService: quality) } }
  }

  /// Step 3. A cancelled operation does not wait for dependencies.
  /// - Returns: false when it takes user code that may not run in this batch: to be completed by `release(edge: nil)`.
  final func becomeStartable(into batch: inout ReadyBatch) -> Bool {
    guard stateNow.has(StateWord.cancelled) || queueCancelledThis else { return linkDependencies(into: &batch) }
    markCancelled()
    // The count that was the queue's own keeps the operation in its queue until here.
    return release(edge: nil, into: &batch)
  }

  /// Whether its class is known to override nothing that enqueueing would have to ask.
  @inline(__always) final var isPlain: Bool { type(of: self) == BlockOperation.self }
}
