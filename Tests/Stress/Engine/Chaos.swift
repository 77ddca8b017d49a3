import Glibc
import Operations
import Synchronization
import TestSupport

/// The thread that disturbs one queue: the only one that suspends it, changes its limit, adds barriers to it and
/// cancels all of it. Leaves it running, with room for at least one operation.
struct Chaos {
  let place: QueueUnderTest
  let context: RoundContext
  let recent: RecentOperations
  var random: SeededGenerator

  /// What it did, for the checks.
  private(set) var limitChanges: [RoundHistory.LimitChange] = []
  private(set) var suspensions: [RoundHistory.Suspension] = []
  private(set) var cancelAlls: [RoundHistory.Call] = []
  private(set) var barriers: [BarrierRecord] = []
  private let queue: OperationQueue

  init(_ place: QueueUnderTest, _ context: RoundContext, _ recent: RecentOperations, _ random: SeededGenerator) {
    (self.place, self.context, self.recent, self.random) = (place, context, recent, random)
    queue = place.queue
  }

  /// Before any operation is added.
  mutating func prepare() {
    if place.profile.isLimited { setLimit(random.pick(1...3)) }
  }

  mutating func run(until isOver: () -> Bool) {
    while !isOver() {
      switch random.pick(0...99) {
      case 0..<20 where place.profile.isSuspendedNowAndThen: suspend()
      case 20..<35 where place.profile.isLimited: changeLimit()
      case 35..<50 where place.profile.hasBarriers && barriers.count < 20: addBarrier()
      case 50..<62 where place.profile.isCancelled: cancelOne()
      case 62..<64 where place.profile.isCancelled && cancelAlls.count < 5: cancelAll()
      case 64..<80: recent.one(&random)?.queuePriority = random.chance(50) ? .veryHigh : .low
      case 80..<90: lookAtOperations()
      case 90..<91: queue.waitUntilAllOperationsAreFinished()
      default: usleep(UInt32(random.pick(1...300)))
      }
    }
    if place.profile.isLimited, random.chance(50) { setLimit(OperationQueue.defaultMaxConcurrentOperationCount) }
  }

  // MARK: - Disturbances

  private mutating func suspend() {
    let candidates = ownOperations(40)
    queue.isSuspended = true
    let from = context.clock.next()
    // One that was cancelled before may be on its way past `main` already, which shows nowhere until it has finished.
    let pending = candidates.filter { $0.isPending && !$0.isCancelled }
    for operation in pending where place.profile.isCancelled && random.chance(3) { cancel(operation) }
    for _ in 0..<random.pick(0...3) { usleep(UInt32(random.pick(1...100))) }
    for operation in pending {
      context.violations.require(
        operation.isPending, "\(operation.record) started while queue \(place.index) was suspended")
    }
    let until = context.clock.next()
    queue.isSuspended = false
    suspensions.append(
      RoundHistory.Suspension(
        queue: place.index, from: from, until: until, pending: pending.map { $0.record.id }))
  }

  private mutating func changeLimit() {
    setLimit(random.pick(0...4))
    usleep(UInt32(random.pick(1...100)))
    // 0 lets nothing start: never for long.
    if queue.maxConcurrentOperationCount == 0 { setLimit(random.pick(1...4)) }
  }

  private mutating func setLimit(_ limit: Int) {
    let start = context.clock.next()
    queue.maxConcurrentOperationCount = limit
    let call = RoundHistory.Call(queue: place.index, start: start, end: context.clock.next())
    limitChanges.append(RoundHistory.LimitChange(call: call, limit: limit < 0 ? .max : limit))
  }

  private mutating func addBarrier() {
    let record = BarrierRecord(queue: place.index)
    let context = context
    record.addStart.store(context.clock.next(), ordering: .relaxed)
    queue.addBarrierBlock {
      record.begins.wrappingAdd(1, ordering: .relaxed)
      record.begin.store(context.clock.next(), ordering: .relaxed)
      sched_yield()
      record.end.store(context.clock.next(), ordering: .relaxed)
    }
    record.addEnd.store(context.clock.next(), ordering: .relaxed)
    barriers.append(record)
  }

  private mutating func cancelOne() {
    guard let operation = recent.one(&random) else { return }
    cancel(operation)
  }

  private func cancel(_ operation: any RecordedOperation) {
    operation.record.cancels(at: context.clock.next())
    operation.cancel()
    context.notePending(operation)
  }

  private mutating func cancelAll() {
    let candidates = ownOperations(100)
    let start = context.clock.next()
    queue.cancelAllOperations()
    cancelAlls.append(RoundHistory.Call(queue: place.index, start: start, end: context.clock.next()))
    for operation in candidates { context.notePending(operation) }
  }

  private mutating func lookAtOperations() {
    let operations = queue.operations
    context.violations.require(queue.operationCount >= 0, "operationCount is negative")
    context.violations.require(
      Set(operations.map(ObjectIdentifier.init)).count == operations.count, "operations lists one of them twice")
    var newest = 0
    for case let operation as any RecordedOperation in operations {
      let record = operation.record
      let added = record.addEnd.load(ordering: .relaxed)
      context.violations.require(
        added == 0 || added > newest, "operations lists \(record) behind one that was added later")
      newest = max(newest, record.addStart.load(ordering: .relaxed))
    }
  }

  private mutating func ownOperations(_ count: Int) -> [any RecordedOperation] {
    recent.some(count, &random).filter { $0.record.queue == place.index }
  }
}

/// What happened to one barrier block.
final class BarrierRecord: Sendable {
  let queue: Int
  let addStart = Atomic<Int>(0)
  let addEnd = Atomic<Int>(0)
  let begins = Atomic<Int>(0)
  let begin = Atomic<Int>(0)
  let end = Atomic<Int>(0)

  init(queue: Int) { self.queue = queue }
}
