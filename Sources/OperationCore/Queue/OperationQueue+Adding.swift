import CPlatform
import Primitives

extension OperationQueue {
  final func add(_ operation: Operation) {
    operation.claimForQueue()
    let (sequence, isControlled) = registry.takeNumbers(1)
    operation.list(in: self, ticket: registry.ticket(sequence: sequence, isControlled: isControlled))
    var batch = ReadyBatch(home: 0, mayRunUserCode: true)
    operation.becomeStartable(into: &batch)
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
    var batch = ReadyBatch(home: 0, mayRunUserCode: true)
    for operation in operations { operation.becomeStartable(into: &batch) }
    batch.submit()
    if isObserved { notifyListChanged() }
  }

  final func addBarrier(_ operation: Operation) {
    operation.claimForQueue()
    controller.addBarrier(operation, to: self)
    if isObserved { notifyListChanged() }
  }
}
