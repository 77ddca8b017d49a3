import Operations
import Synchronization

/// An operation that keeps a record.
protocol RecordedOperation: Operation {
  var record: OperationRecord { get }
}

extension RecordedOperation {
  /// Neither executing nor finished, in this order of asking: a library's operation that has not started. What a
  /// subclass says of itself lags behind its start, so those that say it themselves count as started.
  var isPending: Bool {
    record.kind != .handWritten && !isExecuting && !isFinished && !record.hasBegun
  }
}

/// Overrides `main`.
final class PlainStressOperation: Operation, RecordedOperation, @unchecked Sendable {
  // Invariant: constant.
  let record: OperationRecord
  private let context: RoundContext
  private let plan: BodyPlan

  init(_ record: OperationRecord, _ context: RoundContext, _ plan: BodyPlan) {
    (self.record, self.context, self.plan) = (record, context, plan)
    super.init()
  }

  deinit { context.release(record, isFinished: isFinished, isCancelled: isCancelled) }

  override func main() {
    context.begin(record, self)
    plan.run(self, context)
    context.end(record)
  }
}

/// Several blocks, each of which holds the operation.
final class BlockStressOperation: BlockOperation, RecordedOperation, @unchecked Sendable {
  // Invariant: constant, or atomic.
  let record: OperationRecord
  private let context: RoundContext
  private let entered = Atomic<Int>(0)
  private let left = Atomic<Int>(0)

  init(_ record: OperationRecord, _ context: RoundContext, _ plans: [BodyPlan]) {
    self.record = record
    self.context = context
    super.init()
    for plan in plans { addExecutionBlock { self.runBlock(plan, of: plans.count) } }
  }

  deinit { context.release(record, isFinished: isFinished, isCancelled: isCancelled) }

  private func runBlock(_ plan: BodyPlan, of count: Int) {
    if entered.wrappingAdd(1, ordering: .relaxed).newValue == 1 { context.begin(record, self) }
    plan.run(self, context)
    let leaving = left.wrappingAdd(1, ordering: .relaxed).newValue
    context.violations.require(leaving <= count, "\(record) ran \(leaving) of \(count) blocks")
    if leaving == count { context.end(record) }
  }
}

/// Finished by another thread, or at once.
final class AsynchronousStressOperation: AsynchronousOperation, RecordedOperation, @unchecked Sendable {
  // Invariant: constant.
  let record: OperationRecord
  private let context: RoundContext
  private let plan: BodyPlan
  private let finishesAtOnce: Bool

  init(_ record: OperationRecord, _ context: RoundContext, _ plan: BodyPlan, finishesAtOnce: Bool) {
    (self.record, self.context, self.plan, self.finishesAtOnce) = (record, context, plan, finishesAtOnce)
    super.init()
  }

  deinit { context.release(record, isFinished: isFinished, isCancelled: isCancelled) }

  override func main() {
    context.begin(record, self)
    plan.run(self, context)
    if finishesAtOnce {
      context.end(record)
      finish()
      return
    }
    context.couriers.post {
      self.plan.run()
      self.context.violations.require(self.isExecuting, "\(self.record) stopped executing before it finished")
      self.context.end(self.record)
      self.finish()
    }
  }
}

/// Becomes ready when a courier says so, by key string.
final class ReadyGatedStressOperation: Operation, RecordedOperation, @unchecked Sendable {
  // Invariant: constant, or atomic.
  let record: OperationRecord
  private let context: RoundContext
  private let plan: BodyPlan
  private let isOpen = Atomic<Bool>(false)

  init(_ record: OperationRecord, _ context: RoundContext, _ plan: BodyPlan) {
    (self.record, self.context, self.plan) = (record, context, plan)
    super.init()
  }

  deinit { context.release(record, isFinished: isFinished, isCancelled: isCancelled) }

  override var isReady: Bool { isOpen.load(ordering: .acquiring) && super.isReady }

  func open() {
    willChangeValue(forKey: "isReady")
    isOpen.store(true, ordering: .releasing)
    didChangeValue(forKey: "isReady")
  }

  override func main() {
    context.begin(record, self)
    context.violations.require(isOpen.load(ordering: .relaxed), "\(record) began before it was ready")
    plan.run(self, context)
    context.end(record)
  }
}
