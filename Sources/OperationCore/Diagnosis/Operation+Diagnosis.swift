import CPlatform
import OperationForks
import Primitives
import Synchronization

// Looking from outside, at any time, without running code of a user's: nothing here waits for anything but short
// locks.

extension Operation {
  /// Why the operation has not started: a suspended queue; a limit, and the operations that hold its places;
  /// unfinished dependencies, and where each of them is; a cycle; a barrier; an overridden `isReady`; or a backend
  /// whose threads are all taken, and by what.
  ///
  /// A snapshot, for people and logs. May be called on any thread, never blocks for long, runs no code of yours.
  /// O(pending operations).
  public final func whyNotStarted() -> OperationDiagnosis {
    let now = stateNow
    if now.has(StateWord.finished) { return diagnosis(queue: nil, [.finished]) }
    let queue = owner
    if now.has(StateWord.started), !now.has(StateWord.skipped) {
      let awaited = awaitedNow
      let work = Crew.explain(word)
      return diagnosis(
        queue: queue,
        [.executing(since: executingFor(now))] + (end(now).map { [.goesOn(until: $0)] } ?? [])
          + (bodyRun?.taskNumber.map { [.isTask($0)] } ?? [])
          + (awaited.isEmpty ? [] : [.awaits(awaited.map(\.asDependency))])
          + (work.isEmpty ? [] : [.runs(work)]))
    }
    guard let queue else { return diagnosis(queue: nil, [.notInAQueue] + dependencyReasons(now)) }
    var reasons: [OperationDiagnosis.Reason] = []
    if queue.isSuspendedNow { reasons.append(.suspended) }
    reasons += dependencyReasons(now) + barrierReasons(in: queue)
    if now.has(StateWord.heldBack), now.isReady { reasons.append(.heldBackByIsReady) }
    if reasons.isEmpty { reasons = now.has(StateWord.tracked) ? limitReasons(in: queue) : [] }
    if reasons.isEmpty { reasons = [.waitsForThread(backend: queue.backendSummary)] }
    return diagnosis(queue: queue, reasons)
  }

  private final func diagnosis(
    queue: OperationQueue?, _ reasons: [OperationDiagnosis.Reason]
  ) -> OperationDiagnosis {
    OperationDiagnosis(operation: label, queue: queue?.label, reasons: reasons)
  }

  /// Class, address and name. Not the open `description`: an override may take locks of a user's.
  final var label: String {
    let address = String(word, radix: 16)
    let name = lock.withLock { extrasIfAny?.pointee.name }.map { " \"\($0)\"" } ?? ""
    return "<\(type(of: self)) 0x\(address)\(name)>"
  }

  /// For how long the operation has been executing, in nanoseconds; nil where nobody noted the start.
  final func executingFor(_ now: StateWord) -> UInt64? {
    let noted = startNoted(now) ?? ownStart
    // The start was noted by the coarse clock, which is behind.
    return noted.map { max(cplatform_now_ns(), $0) &- $0 }
  }

  /// What ends the operation; nil when the operation ends with its `start()`, as far as the library knows.
  private final func end(_ now: StateWord) -> OperationDiagnosis.End? {
    if finishesItself { return bodyRun == nil ? .finishIsCalled : .bodyReturns }
    return now.has(StateWord.postsExecuting) || now.has(StateWord.mainReturned) ? .isFinishedIsPosted : nil
  }

  /// The operation as one that holds a place.
  final var asHolder: OperationDiagnosis.Holder {
    let now = stateNow
    return OperationDiagnosis.Holder(
      operation: label, since: executingFor(now), end: end(now), awaits: awaitedNow.map(\.label),
      task: bodyRun?.taskNumber)
  }

  /// What the asynchronous body awaits, and the members of a group: those that have not finished.
  private final var awaitedNow: [Operation] {
    (bodyRun?.awaitedNow ?? []).filter { !$0.stateNow.has(StateWord.finished) }
  }

  /// The operation as one that another one waits for.
  private final var asDependency: OperationDiagnosis.Dependency {
    OperationDiagnosis.Dependency(operation: label, state: stateInWords)
  }

  private final func dependencyReasons(_ now: StateWord) -> [OperationDiagnosis.Reason] {
    if now.has(StateWord.cancelled) { return [] }
    let unfinished = dependencySnapshot().filter { !$0.stateNow.has(StateWord.finished) }
    guard !unfinished.isEmpty else { return [] }
    var reasons: [OperationDiagnosis.Reason] = [
      .dependencies(unfinished.map(\.asDependency))
    ]
    if let cycle = DependencyGraph.cycles(from: [self]).first(where: { $0.contains { $0 === self } }) {
      reasons.append(.cycle(cycle.map(\.label)))
    }
    return reasons
  }

  private final func barrierReasons(in queue: OperationQueue) -> [OperationDiagnosis.Reason] {
    var order = BarrierOrder()
    let before = order.predecessors(of: self)
    guard !before.isEmpty else { return [] }
    if order.isBarrier(self) {
      return [.barrierWaitsFor(count: before.count, first: before.prefix(DiagnosisLimits.named).map(\.label))]
    }
    return before.map { .behindBarrier($0.label) }
  }

  private final func limitReasons(in queue: OperationQueue) -> [OperationDiagnosis.Reason] {
    let limit = queue.maximumNow
    // A barrier runs alone: no limit below a priority is for it.
    var order = BarrierOrder()
    let limitsBelow = order.isBarrier(self) ? [] : queue.limits.above(level)
    if limit < 0, limitsBelow.isEmpty { return [] }
    let running = queue.snapshot().filter { $0 !== self && $0.stateNow.isExecuting }
    var reasons: [OperationDiagnosis.Reason] = []
    if limit >= 0, running.count >= limit {
      reasons.append(.limitReached(limit: limit, holders: running.map(\.asHolder)))
    }
    for (priority, limit) in limitsBelow {
      let below = running.filter { $0.level < priority.level }
      if below.count >= limit {
        reasons.append(.limitBelowReached(priority: priority, limit: limit, holders: below.map(\.asHolder)))
      }
    }
    return reasons
  }

  /// The operation's state in a few words, for an operation that depends on it.
  final var stateInWords: String {
    let now = stateNow
    if now.has(StateWord.finished) { return "finished" }
    let since = executingFor(now).map { " for \(milliseconds($0))" } ?? ""
    let place = owner.map { " in \($0.label)" }
    if now.has(StateWord.started) {
      return "executing\(since)\(place ?? ", started by hand")" + (end(now).map { "; ends when \($0)" } ?? "")
    }
    guard let place else { return "in no queue, and not started" }
    if !now.has(StateWord.listed) { return "being added\(place)" }
    if now.has(StateWord.cancelled) { return "cancelled, waits for a thread\(place)" }
    if now.dependencyCount > 0 { return "waits for dependencies\(place)" }
    if now.has(StateWord.heldBack) { return "held back by its own isReady\(place)" }
    return "ready\(place)"
  }
}

extension Operation: CustomDebugStringConvertible {}

extension BarrierOrder {
  mutating func isBarrier(_ operation: Operation) -> Bool {
    guard let owner = operation.owner else { return false }
    return owner.controller.barriers.contains(operation.sequence.load(ordering: .relaxed))
  }
}
