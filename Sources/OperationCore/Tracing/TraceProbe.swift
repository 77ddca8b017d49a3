import CPlatform
import Primitives

/// What the core and the backends call where something happens, behind `if cplatform_is_tracing()`. That load and its
/// branch are all that a probe costs when nothing is traced, so the rest is never inlined.
package enum TraceProbe {
  @inline(__always)
  private static func record(
    _ kind: TraceEvent.Kind, _ subject: UInt = 0, detail: UInt = 0, value: UInt32 = 0
  ) {
    TraceSession.ownBuffer().append(
      TraceEvent(kind, at: cplatform_now_ns(), subject, detail: detail, value: value))
  }

  private static func word(ofClass object: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(type(of: object))) }

  // MARK: - Operations

  /// Called before a queue lists the operation, or hands it to the backend.
  /// - Parameter isReady: the operation was added ready, and no `ready` follows.
  @inline(never)
  static func added(_ operation: Operation, to queue: OperationQueue, isReady: Bool) {
    let buffer = TraceSession.ownBuffer()
    let now = cplatform_now_ns()
    noteQueue(queue, in: buffer, at: now)
    let ready = isReady ? TraceEvent.AddedFlags.ready : 0
    recordAdded(operation, in: buffer, at: now, flags: ready)
    guard operation.stateNow.has(StateWord.hasDependencies) else { return }
    for dependency in operation.dependencySnapshot() {
      buffer.append(TraceEvent(.edge, at: now, operation.word, detail: dependency.word))
    }
  }

  /// No overridden `name` is asked: the caller may hold locks that the override takes.
  private static func recordAdded(_ operation: Operation, in buffer: TraceBuffer, at now: UInt64, flags: UInt32) {
    let name = operation.lock.withLock { operation.extrasIfAny?.pointee.name }
    buffer.append(
      TraceEvent(
        .added, at: now, operation.word, detail: word(ofClass: operation), value: UInt32(operation.level) | flags),
      name: name)
  }

  /// Records the queue only when the thread added to another queue last, or the queue's name changed.
  private static func noteQueue(_ queue: OperationQueue, in buffer: TraceBuffer, at now: UInt64) {
    let word = UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque())
    let name = queue.lock.withLock { queue.extras.name }
    if buffer.queue == word, buffer.queueName == name { return }
    buffer.queue = word
    buffer.queueName = name
    buffer.append(TraceEvent(.queue, at: now, word, detail: self.word(ofClass: queue)), name: name)
  }

  /// The dependency was added when the operation was listed already.
  @inline(never)
  static func dependencyAdded(to operation: Operation, _ dependency: Operation) {
    record(.edge, operation.word, detail: dependency.word)
  }

  @inline(never)
  static func dependencyRemoved(from operation: Operation, _ dependency: Operation) {
    record(.edgeRemoved, operation.word, detail: dependency.word)
  }

  @inline(never)
  static func isReady(_ operation: UInt) { record(.ready, operation) }

  /// Runs the operation's `start()`; the caller has claimed the operation for that.
  @inline(never)
  static func start(_ operation: Operation) {
    let word = operation.word
    let isSkipped = operation.stateNow.has(StateWord.skipped)
    record(
      isSkipped ? .skipped : .begins, word, detail: self.word(ofClass: operation), value: UInt32(operation.level))
    operation.start()
    if !isSkipped { returned(word) }
  }

  /// Records what `start` records, for an operation that is started by hand.
  @inline(never)
  static func startByHand(_ operation: Operation, _ perform: () -> Void) {
    let word = operation.word
    let buffer = TraceSession.ownBuffer()
    let now = cplatform_now_ns()
    recordAdded(operation, in: buffer, at: now, flags: TraceEvent.AddedFlags.noQueue)
    let isSkipped = operation.stateNow.has(StateWord.skipped)
    record(
      isSkipped ? .skipped : .begins, word, detail: self.word(ofClass: operation), value: UInt32(operation.level))
    perform()
    if !isSkipped { returned(word) }
  }

  private static func returned(_ operation: UInt) {
    // A recording that has ended meanwhile has ended the slice too.
    guard cplatform_is_tracing() else { return }
    let buffer = TraceSession.ownBuffer()
    if buffer.finishedHere != operation { buffer.append(TraceEvent(.returns, at: cplatform_now_ns(), operation)) }
    buffer.finishedHere = 0
  }

  /// Called before anybody can learn of the finish.
  @inline(never)
  static func finishes(_ operation: Operation) {
    // A finish in the operation's own `start()`, innermost on this thread, is the end of its slice.
    let word = operation.word
    let isHere = LaunchFrame.current?.pointee.operation == word
    let buffer = TraceSession.ownBuffer()
    buffer.append(TraceEvent(isHere ? .finishesHere : .finishes, at: cplatform_now_ns(), word))
    if isHere { buffer.finishedHere = word }
  }

  /// The calling thread sleeps until the operation has finished.
  @inline(never)
  static func waiting(for operation: UInt, _ sleep: () -> Void) {
    record(.waits, operation)
    sleep()
    if cplatform_is_tracing() { record(.waited, operation) }
  }

  /// Runs a fork that another thread made inside of an operation, or outside of all.
  @inline(never)
  static func fork(of operation: UInt, _ body: () -> Void) {
    record(.forkBegins, operation)
    body()
    if cplatform_is_tracing() { record(.forkEnds) }
  }

  /// Runs a later part of an operation with an asynchronous body: from a resumption to the next suspension.
  @inline(never)
  static func part(of operation: UInt, _ body: () -> Void) {
    record(.partBegins, operation)
    body()
    guard cplatform_is_tracing() else { return }
    let buffer = TraceSession.ownBuffer()
    buffer.append(TraceEvent(.partEnds, at: cplatform_now_ns(), 0))
    // A finish in the part was noted for a `start()` that is not there.
    buffer.finishedHere = 0
  }

  // MARK: - Backends

  /// A job was taken from another worker.
  @inline(never)
  package static func steals(_ job: UInt, from thread: Int32) {
    record(.steals, job, value: UInt32(bitPattern: thread))
  }

  /// The calling worker goes to sleep for want of a job.
  @inline(never)
  package static func parks() { record(.parks) }

  @inline(never)
  package static func unparks() { record(.unparks) }

  /// Called before a sleeping worker is woken.
  @inline(never)
  package static func wakes(_ thread: Int32) { record(.wakes, value: UInt32(bitPattern: thread)) }

  /// - Parameter isSpare: whether the worker is beyond the backend's number of workers, because others block.
  @inline(never)
  package static func threadBegins(isSpare: Bool) { record(.threadBegins, value: isSpare ? 1 : 0) }

  @inline(never)
  package static func threadEnds() { record(.threadEnds) }

  /// Workers beyond the backend's number may run from now on.
  @inline(never)
  package static func addsSpares(_ count: Int) { record(.addsSpares, value: UInt32(clamping: count)) }

  @inline(never)
  package static func calloutBegins() { record(.calloutBegins) }

  @inline(never)
  package static func calloutEnds() { record(.calloutEnds) }
}
