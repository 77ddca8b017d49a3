import Operations
import TestSupport

/// One of the threads that make operations and add them.
struct Producer {
  let context: RoundContext
  let profile: StressProfile
  let recent: RecentOperations
  var random: SeededGenerator

  /// Made and not added yet: operations that go in together, in a shuffled order.
  private var batch: [any RecordedOperation] = []
  /// What has to happen, on other threads, after an operation was added so that it can run.
  private var errands: [@Sendable () -> Void] = []

  init(_ context: RoundContext, _ profile: StressProfile, _ recent: RecentOperations, _ random: SeededGenerator) {
    (self.context, self.profile, self.recent, self.random) = (context, profile, recent, random)
  }

  mutating func run() {
    var left = profile.operationsPerProducer
    while left > 0 {
      let place = context.queues[random.pick(0...(context.queues.count - 1))]
      switch random.pick(0...99) {
      case 0..<6: addClosure(to: place)
      case 6..<10: addTask(to: place)
      case 10..<14: startByHand()
      case 14..<24:
        let count = min(left, random.pick(2...12))
        addBatch(count, to: place)
        left -= count - 1
      default: addOne(to: place)
      }
      left -= 1
    }
  }

  // MARK: - Ways to add

  private mutating func addOne(to place: QueueUnderTest) {
    let operation = makeOperation(for: place)
    let queue = place.queue
    operation.record.noteAdding(context.clock) { queue.addOperation(operation) }
    afterAdding([operation])
  }

  private mutating func addBatch(_ count: Int, to place: QueueUnderTest) {
    for _ in 0..<count {
      let operation = makeOperation(for: place)
      if let other = batch.randomElement(using: &random), random.chance(40) { depend(operation, on: other) }
      batch.append(operation)
    }
    let added = batch
    batch = []
    let start = context.clock.next()
    place.queue.addOperations(added.shuffled(using: &random), waitUntilFinished: false)
    let end = context.clock.next()
    for operation in added {
      operation.record.addStart.store(start, ordering: .relaxed)
      operation.record.addEnd.store(end, ordering: .relaxed)
    }
    afterAdding(added)
    if random.chance(10) { added.forEach(wait) }
  }

  private mutating func addClosure(to place: QueueUnderTest) {
    let record = context.makeRecord(.closure, queue: place.index)
    let plan = BodyPlan(spins: random.pick(0...200))
    let keeper = RecordKeeper(record, context)
    let queue = place.queue
    guard random.chance(50) else { return record.noteAdding(context.clock) { queue.addOperation { keeper.run(plan) } } }
    let others = recent.some(random.chance(5) ? 20 : random.pick(0...3), &random)
    record.dependencies = others.map(\.record.id)
    record.noteAdding(context.clock) {
      queue.addOperation(dependencies: others.lazy.map { $0 as Operation }) { keeper.run(plan) }
    }
  }

  private mutating func addTask(to place: QueueUnderTest) {
    let record = context.makeRecord(.task, queue: place.index)
    let plan = BodyPlan(spins: random.pick(0...200))
    let suspensions = random.pick(0...3)
    let keeper = RecordKeeper(record, context)
    let queue = place.queue
    record.noteAdding(context.clock) { queue.addTask { await keeper.run(plan, suspensions: suspensions) } }
  }

  /// On this thread, or on a courier: the operation is in no queue.
  private mutating func startByHand() {
    let record = context.makeRecord(.manual, queue: nil)
    let operation = PlainStressOperation(record, context, BodyPlan(spins: random.pick(0...200)))
    decorate(operation)
    let cancelsFirst = random.chance(20)
    if cancelsFirst {
      record.cancels(at: context.clock.next())
      operation.cancel()
      context.violations.require(!operation.isFinished, "\(record) finished when it was cancelled, before its start")
    }
    if random.chance(50) {
      // Others can depend on it before it is started.
      recent.publish([operation])
      context.couriers.post { operation.start() }
    } else {
      operation.start()
      context.violations.require(operation.isFinished, "\(record) is not finished after start() returned")
      context.violations.require(cancelsFirst != record.hasBegun, "\(record) did not heed that it was cancelled")
      recent.publish([operation])
    }
  }

  private mutating func afterAdding(_ operations: [any RecordedOperation]) {
    for errand in errands { context.couriers.post(errand) }
    errands = []
    recent.publish(operations)
    guard let operation = operations.randomElement(using: &random) else { return }
    if random.chance(1) { wait(for: operation) }
    if random.chance(3) {
      let level = drawPriority()
      context.couriers.post { operation.queuePriority = level }
    }
  }

  private func wait(for operation: any RecordedOperation) {
    operation.waitUntilFinished()
    context.violations.require(operation.isFinished, "\(operation.record) is not finished after the wait for it")
    context.checkMessage(of: operation.record, from: nil)
  }

  // MARK: - Making one

  private mutating func makeOperation(for place: QueueUnderTest) -> any RecordedOperation {
    let operation = drawKind(for: place)
    decorate(operation)
    for other in recent.some(random.chance(5) ? 20 : random.pick(0...3), &random) where random.chance(60) {
      depend(operation, on: other)
    }
    if random.chance(8) { holdBack(operation) }
    if random.chance(2), place.profile.isCancelled {
      operation.record.cancels(at: context.clock.next())
      operation.cancel()
    }
    return operation
  }

  private mutating func drawKind(for place: QueueUnderTest) -> any RecordedOperation {
    var plan = BodyPlan.draw(profile, &random)
    if random.chance(profile.waiting) { plan.waitsFor = recent.one(&random) }
    if random.chance(1), place.profile.isCancelled { plan.cancelsItself = true }
    func record(_ kind: OperationKind) -> OperationRecord { context.makeRecord(kind, queue: place.index) }
    switch random.pick(0...99) {
    case 0..<40: return PlainStressOperation(record(.plain), context, plan)
    case 40..<65:
      let others = (0..<(random.chance(30) ? random.pick(1...3) : 0)).map { _ in BodyPlan(spins: random.pick(0...200)) }
      return BlockStressOperation(record(.block), context, [plan] + others)
    case 65..<80:
      return AsynchronousStressOperation(
        record(.asynchronous), context, plan, finishesAtOnce: random.chance(30))
    case 80..<92:
      let style = HandWrittenStressOperation.Style.allCases.randomElement(using: &random) ?? .prefixedKeys
      return HandWrittenStressOperation(record(.handWritten), context, plan, style)
    default:
      let operation = ReadyGatedStressOperation(record(.readyGated), context, plan)
      if random.chance(20) { operation.open() } else { errands.append { operation.open() } }
      return operation
    }
  }

  /// Priority, name, completion block, observer.
  private mutating func decorate(_ operation: any RecordedOperation) {
    if random.chance(30) { operation.queuePriority = drawPriority() }
    if random.chance(5) { operation.qualityOfService = random.chance(50) ? .utility : .userInitiated }
    if random.chance(5) { operation.name = operation.record.description }
    if random.chance(5) {
      let record = operation.record
      let violations = context.violations
      record.token = (operation as Operation).observe(\.isFinished, options: .new) { _, change in
        violations.require(change.newValue == true, "\(record) told its observer that it has not finished")
        record.observations.wrappingAdd(1, ordering: .relaxed)
      }
    }
    if random.chance(50) {
      operation.record.expectsCompletion = true
      let context = context
      // Holds the operation, as completion blocks do.
      operation.completionBlock = {
        (operation as? HandWrittenStressOperation)?.takeLock()
        context.complete(operation.record, operation)
      }
    }
  }

  private func depend(_ operation: any RecordedOperation, on other: any RecordedOperation) {
    guard !operation.record.dependencies.contains(other.record.id) else { return }
    operation.addDependency(other)
    operation.record.dependencies.append(other.record.id)
  }

  /// The operation waits for one that is in no queue, until a courier removes that dependency, or starts it; meanwhile
  /// the operation cannot start, so what is added late counts.
  private mutating func holdBack(_ operation: any RecordedOperation) {
    let late = random.chance(40) ? recent.one(&random) : nil
    let lateNew = late.flatMap { operation.record.dependencies.contains($0.record.id) ? nil : $0 }
    if let lateNew { operation.record.dependencies.append(lateNew.record.id) }
    let removes = random.chance(50)
    let gate = PlainStressOperation(
      context.makeRecord(removes ? .phantom : .manual, queue: nil), context, BodyPlan())
    operation.addDependency(gate)
    if !removes { operation.record.dependencies.append(gate.record.id) }
    let context = context
    let cancels = !removes && random.chance(30)
    errands.append {
      if let lateNew { operation.addDependency(lateNew) }
      if removes { return operation.removeDependency(gate) }
      if cancels {
        gate.record.cancels(at: context.clock.next())
        gate.cancel()
      }
      gate.start()
    }
  }

  private mutating func drawPriority() -> Operation.QueuePriority {
    let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
    return levels[random.pick(0...4)]
  }
}

/// Stands for an operation that nobody can get at: the closure's captures go with it.
private final class RecordKeeper: Sendable {
  let record: OperationRecord
  let context: RoundContext

  init(_ record: OperationRecord, _ context: RoundContext) {
    self.record = record
    self.context = context
  }

  deinit { context.release(record, isFinished: false, isCancelled: false) }

  func run(_ plan: BodyPlan, suspensions: Int) async {
    context.begin(record, nil)
    plan.run()
    for _ in 0..<suspensions {
      await Task.yield()
      plan.run()
    }
    context.end(record)
  }

  func run(_ plan: BodyPlan) {
    context.begin(record, nil)
    plan.run()
    context.end(record)
  }
}
