import CPlatform
import Primitives

extension OperationQueue {
  final func add(_ operation: Operation) {
    operation.claimForQueue()
    let (sequence, isControlled) = registry.takeNumbers(1)
    operation.list(in: self, ticket: registry.ticket(sequence: sequence, isControlled: isControlled))
    // On the adding thread, which may hold locks only if the class's isReady does not want them.
    var batch = ReadyBatch(asks: .here)
    _ = operation.becomeStartable(into: &batch)
    batch.submit()
    if isObserved { notifyListChanged() }
  }

  final func add(_ block: @escaping @Sendable () -> Void) {
    guard type(of: self) == OperationQueue.self else {
      // A subclass sees every operation that is added.
      addOperation(BlockOperation(block: block))
      return
    }
    // The one reference is the queue's from the start.
    let object = BlockOperation.scheduled(at: qualityOfServiceNow.priority.level, block: block)
    let (sequence, isControlled) = registry.takeNumbers(1)
    let ticket = registry.ticket(sequence: sequence, isControlled: isControlled)
    object._withUnsafeGuaranteedRef { operation in
      operation.adopt(self, ticket: ticket)
      registry.fill(ticket, with: operation)
      if _slowPath(cplatform_is_tracing()) { TraceProbe.added(operation, to: self, isReady: true) }
    }
    let word = UInt(bitPattern: object.toOpaque())
    if isControlled {
      object._withUnsafeGuaranteedRef { operation in
        operation.raise(StateWord.tracked)
        controller.admitLater(operation, entry: word, of: self)
      }
    } else {
      withBackend { $0.submit(Job(word: word)) }
    }
    if isObserved { notifyListChanged() }
  }

  final func add(_ operations: [Operation]) {
    guard !operations.isEmpty else { return }
    for operation in operations { operation.claimForQueue() }
    let (first, isControlled) = registry.takeNumbers(operations.count)
    for (offset, operation) in operations.enumerated() {
      operation.list(in: self, ticket: registry.ticket(sequence: first + offset, isControlled: isControlled))
    }
    startable(operations)
    if isObserved { notifyListChanged() }
  }

  /// All of them in one batch, in their order; behind them those whose readiness is observed, since observers may run for long.
  private final func startable(_ operations: [Operation]) {
    var batch = ReadyBatch(asks: .here, mayNotify: false)
    var observed: [Operation] = []
    for operation in operations where !operation.becomeStartable(into: &batch) { observed.append(operation) }
    batch.flush(frame: nil)
    batch.mayNotify = true
    for operation in observed { operation.release(edge: nil, into: &batch) }
    batch.submit()
  }

  final func addBarrier(_ operation: Operation) {
    operation.claimForQueue()
    controller.addBarrier(operation, to: self)
    if isObserved { notifyListChanged() }
  }
}
