import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives

/// The probes of operations.
extension TraceProbe {
  private static func word(ofClass object: AnyObject) -> UInt { UInt(bitPattern: ObjectIdentifier(type(of: object))) }

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
}
