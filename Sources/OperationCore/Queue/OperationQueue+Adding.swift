import CPlatform
import OperationJobs
import OperationTraceEvents
import Primitives

extension OperationQueue {
  final func add(_ operation: Operation) {
    operation.claimForQueue()
    let isNoted = beginChange()
    let (sequence, isControlled) = registry.takeNumbers(1)
    let ticket = registry.ticket(sequence: sequence, isControlled: isControlled)
    OwedReferences.take(1, of: Unmanaged.passUnretained(self).toOpaque())
    operation.list(in: self, ticket: ticket)
    endChange(isNoted: isNoted)
    if !isControlled, _fastPath(!cplatform_is_tracing()), operation.listAndSchedule(0) != nil {
      withBackend { $0.submit(Job(word: operation.word)) }
      return tellOfList(isNoted: isNoted)
    }
    // The class's isReady is asked on the adding thread. That thread may hold locks only if isReady does not want
    // them.
    var handover = Handover(asks: .here, keptQueue: self)
    _ = operation.becomeStartable(into: &handover, flag: ticket.flag)
    handover.submit()
    if isControlled { operation.lendFloorToPredecessors() }
    tellOfList(isNoted: isNoted)
  }

  final func add(_ block: consuming @escaping @Sendable () -> Void) {
    guard type(of: self) == OperationQueue.self else {
      // A subclass sees every operation that is added.
      addOperation(BlockOperation(block: consume block))
      return
    }
    // The operation's one reference is the queue's from the start.
    let object = BlockOperation.scheduled(at: qualityOfServiceNow.priority.level, block: consume block)
    let isNoted = beginChange()
    let (sequence, isControlled) = registry.takeNumbers(1)
    let ticket = registry.ticket(sequence: sequence, isControlled: isControlled)
    OwedReferences.take(1, of: Unmanaged.passUnretained(self).toOpaque())
    object._withUnsafeGuaranteedRef { operation in
      operation.adopt(self, ticket: ticket)
      registry.fill(ticket, with: operation)
      if _slowPath(cplatform_is_tracing()) { TraceProbe.added(operation, to: self, isReady: true) }
    }
    endChange(isNoted: isNoted)
    let word = UInt(bitPattern: object.toOpaque())
    if isControlled {
      object._withUnsafeGuaranteedRef { operation in
        operation.raise(StateWord.tracked)
        controller.admitLater(operation, entry: word, of: self)
      }
    } else {
      withBackend { $0.submit(Job(word: word)) }
    }
    tellOfList(isNoted: isNoted)
  }

  /// Adds an operation that only the calling thread knows, with its dependencies. Where nobody may see a step, the
  /// edges are linked before the queue lists the operation, and no lock is taken.
  @usableFromInline
  final func addNew(_ operation: BlockOperation) {
    guard type(of: self) == OperationQueue.self, !cplatform_is_tracing(), let counts = operation.linkWhileNew() else {
      return addOperation(operation)
    }
    let isNoted = beginChange()
    let (sequence, isControlled) = registry.takeNumbers(1)
    let ticket = registry.ticket(sequence: sequence, isControlled: isControlled)
    OwedReferences.take(1, of: Unmanaged.passUnretained(self).toOpaque())
    _ = Unmanaged.passRetained(operation)
    operation.adopt(self, ticket: ticket)
    if isControlled { operation.raise(ticket.flag) }
    registry.fill(ticket, with: operation)
    endChange(isNoted: isNoted)
    var handover = Handover(asks: .here, keptQueue: self)
    operation.becomeStartable(releasing: counts, into: &handover)
    handover.submit()
    if isControlled { operation.lendFloorToPredecessors() }
    tellOfList(isNoted: isNoted)
  }

  final func add(_ operations: [Operation]) {
    guard !operations.isEmpty else { return }
    // The operations are read as words: reading an object's reference out of an array counts the reference.
    operations.withUnsafeBufferPointer { all in
      all.withMemoryRebound(to: UInt.self) { addAll($0) }
    }
  }

  /// Adds all of them in one batch, in their order. Operations whose readiness is observed come last, because
  /// observers may run for long. Operations may start behind the first part, while edges of later ones are linked.
  private final func addAll(_ words: UnsafeBufferPointer<UInt>) {
    for word in words { Operation.unmanaged(word)._withUnsafeGuaranteedRef { $0.claimForQueue() } }
    let isNoted = beginChange()
    let (first, isControlled) = registry.takeNumbers(words.count)
    OwedReferences.take(UInt32(words.count), of: Unmanaged.passUnretained(self).toOpaque())
    for (offset, word) in words.enumerated() {
      let ticket = registry.ticket(sequence: first + offset, isControlled: isControlled)
      Operation.unmanaged(word)._withUnsafeGuaranteedRef { $0.list(in: self, ticket: ticket) }
    }
    endChange(isNoted: isNoted)
    let flag = isControlled ? StateWord.tracked : 0
    var handover = Handover(asks: .here, mayNotify: false, keptQueue: self)
    var observed: [UInt] = []
    var nextPart = isControlled ? Int.max : Self.firstPart
    for (offset, word) in words.enumerated() {
      if _slowPath(offset == nextPart) {
        let begins = Self.mayBegin(words, at: offset, ready: handover.readyCount)
        nextPart = begins ? 2 * offset : .max
        if begins { handover.flush(frame: nil) }
      }
      if !Operation.unmanaged(word)._withUnsafeGuaranteedRef({ $0.becomeStartable(into: &handover, flag: flag) }) {
        observed.append(word)
      }
    }
    handover.flush(frame: nil)
    handover.mayNotify = true
    for word in observed {
      Operation.unmanaged(word)._withUnsafeGuaranteedRef { _ = $0.release(edge: nil, into: &handover) }
    }
    handover.submit()
    if isControlled {
      for word in words { Operation.unmanaged(word)._withUnsafeGuaranteedRef { $0.lendFloorToPredecessors() } }
    }
    tellOfList(isNoted: isNoted)
  }

  private static let firstPart = 64

  /// Whether the ready operations of a batch go to the backend, before the edges of the others are linked. A batch is
  /// ordered as a whole: so all of it has one level. No class is asked, neither whether its operation is ready, nor
  /// whether a dependency has finished: the class may wait for a lock that a body holds, and the body for an operation
  /// of the batch.
  /// - Parameters:
  ///   - count: how many operations of the batch may start: the first part, and later twice as many each time.
  ///   - ready: how many operations of this part are ready. Where half are, there are few edges to link.
  @inline(never)
  private static func mayBegin(_ words: UnsafeBufferPointer<UInt>, at count: Int, ready: Int) -> Bool {
    let part = count == firstPart ? count : count / 2
    guard ready * 2 < part else { return false }
    // The classes do not change. A body that changes a level comes too late, as any other thread does.
    guard count == firstPart else { return true }
    let asks = StateWord.asksReady | StateWord.asksFinished
    let level = Operation.unmanaged(words[0])._withUnsafeGuaranteedRef { $0.level }
    return words.allSatisfy {
      Operation.unmanaged($0)._withUnsafeGuaranteedRef { (operation: Operation) in
        operation.level == level && !operation.stateNow.has(asks)
      }
    }
  }

  final func listBarrier(_ operation: Operation) {
    operation.claimForQueue()
    tellOfList(isNoted: controller.addBarrier(operation, to: self))
  }
}
