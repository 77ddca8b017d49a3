import Operations
import TestSupport

/// What the bodies of a round's operations share. Holds no operation, so that operations go when the library lets them.
final class RoundContext: Sendable {
  let clock = StampClock()
  let violations = ViolationLog()
  let couriers: Couriers
  let queues: [QueueUnderTest]
  /// Where bodies add the operations that they wait for: no limit, no barrier, never suspended.
  let nested: QueueUnderTest
  private let table = Monitor<[OperationRecord]>([])

  init(couriers: Couriers, queues: [QueueUnderTest], nested: QueueUnderTest) {
    (self.couriers, self.queues, self.nested) = (couriers, queues, nested)
  }

  var records: [OperationRecord] { table.with { $0 } }

  func makeRecord(_ kind: OperationKind, queue: Int?) -> OperationRecord {
    table.with {
      let record = OperationRecord(id: $0.count, kind: kind, queue: queue)
      $0.append(record)
      return record
    }
  }

  // MARK: - Called by bodies

  /// The body begins.
  func begin(_ record: OperationRecord, _ operation: Operation?) {
    let running = running(record)?.enter() ?? 0
    let begins = record.begins.wrappingAdd(1, ordering: .relaxed).newValue
    record.begin.store(clock.next(), ordering: .relaxed)
    record.runningAtBegin.store(running, ordering: .relaxed)
    if begins > 1 { violations.report("\(record) began for the \(begins). time") }
    guard let operation else { return }
    violations.require(operation.isExecuting, "\(record) does not say isExecuting in its body")
    violations.require(!operation.isFinished, "\(record) says isFinished in its body")
    let dependencies = operation.dependencies
    violations.require(
      dependencies.count == record.dependencies.count,
      "\(record) lists \(dependencies.count) of \(record.dependencies.count) dependencies in its body")
    for dependency in dependencies {
      guard let other = (dependency as? any RecordedOperation)?.record else { continue }
      violations.require(dependency.isFinished, "\(record) began before its dependency \(other) finished")
      checkMessage(of: other, from: record)
    }
    record.message = record.expectedMessage
  }

  /// What an operation wrote must have arrived at whoever saw it finish.
  func checkMessage(of other: OperationRecord, from reader: OperationRecord?) {
    guard other.hasBegun, other.message != other.expectedMessage else { return }
    violations.report("\(reader.map(\.description) ?? "a thread") does not see what \(other) wrote")
  }

  /// The body is over; the operation has not finished yet.
  func end(_ record: OperationRecord) {
    record.end.store(clock.next(), ordering: .relaxed)
    running(record)?.leave()
  }

  /// The body of an operation's completion block.
  func complete(_ record: OperationRecord, _ operation: Operation) {
    record.completion.store(clock.next(), ordering: .relaxed)
    record.completions.wrappingAdd(1, ordering: .relaxed)
    violations.require(operation.isFinished, "\(record) called its completion block before it said isFinished")
    checkMessage(of: record, from: nil)
  }

  /// The operation is deallocated.
  func release(_ record: OperationRecord, isFinished: Bool, isCancelled: Bool) {
    record.wasFinished.store(isFinished, ordering: .relaxed)
    record.wasCancelled.store(isCancelled, ordering: .relaxed)
    record.releases.wrappingAdd(1, ordering: .relaxed)
  }

  // MARK: - Called by whoever cancels

  /// Call after a cancellation has returned: what has not started by then must never start.
  func notePending(_ operation: any RecordedOperation) {
    let now = clock.next()
    guard operation.isPending else { return }
    operation.record.pendingAfterCancel.store(now, ordering: .relaxed)
  }

  private func running(_ record: OperationRecord) -> QueueCounter? {
    guard let index = record.queue, index < queues.count else { return nil }
    return queues[index].running
  }
}
