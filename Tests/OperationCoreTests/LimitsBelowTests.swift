import TestSupport
import Testing

@testable import OperationCore
@testable import OperationJobs

/// `Admission` under limits below a level, and what a diagnosis says of them. `AdmissionTests` has them in its random
/// steps.
@Suite struct LimitsBelowTests: AdmissionTesting {
  let pool = EntryPool()

  @Test func `a limit below a level leaves places to what is more urgent`() {
    var admission = Admission()
    admission.limit = 4
    admission.limitsBelow = [.max, .max, 2, .max, .max]
    insert([0, 1, 2, 3], level: 0, into: &admission)
    insert([4], level: 1, into: &admission)
    // Two tickets for what is below: the more urgent one has its own.
    #expect(takeTickets(&admission) == [1, 1, 0, 0, 0])
    #expect(startAll(&admission, level: 1) == [4, 0])
    #expect(takeTickets(&admission) == Self.none)
    insert([5, 6, 7], level: 2, into: &admission)
    #expect(startAll(&admission) == [5, 6])
    // A place of the whole queue is not one below.
    admission.finish(sequence: 5, level: 2)
    #expect(startAll(&admission) == [7])
    admission.finish(sequence: 4, level: 1)
    #expect(startAll(&admission, level: 0) == [1])
    admission.finish(sequence: 6, level: 2)
    admission.finish(sequence: 7, level: 2)
    #expect(startAll(&admission) == [])
    // One that runs becomes urgent: its place below is free.
    admission.moveRunning(from: 0, to: 4)
    #expect(startAll(&admission, level: 0) == [2])
    admission.limitsBelow = Job.PerLevel(repeating: .max)
    #expect(startAll(&admission, level: 0) == [3])
  }

  @Test func `a limit of 0 below a level starts nothing below, and holds up no barrier`() {
    var admission = Admission()
    admission.limitsBelow = [.max, .max, .max, 0, .max]
    insert([0], level: 2, into: &admission)
    #expect(takeTickets(&admission) == Self.none)
    var other = Admission()
    other.limitsBelow = [.max, .max, .max, .max, 0]
    other.addBarrier(sequence: 0)
    insert([0], into: &other)
    #expect(takeTickets(&other) == [0, 0, 1, 0, 0])
    #expect(startAll(&other) == [0])
    let needs = [admission.isNeeded, Admission().isNeeded]
    #expect(needs == [true, false])
  }

  @Test func `a held place counts at its level until it is freed`() {
    var admission = Admission()
    admission.limitsBelow = [.max, .max, 1, .max, .max]
    insert([0, 1], level: 1, into: &admission)
    #expect(startAll(&admission, level: 1) == [0])
    admission.finish(sequence: 0, level: 1, holdsPlace: true)
    #expect(startAll(&admission) == [])
    admission.freeHeldPlace(level: 1)
    admission.freeHeldPlace(level: 1)
    #expect(startAll(&admission, level: 1) == [1])
  }

  @Test func `a void entry below a limit holds up no barrier`() {
    var admission = Admission()
    admission.limitsBelow = [.max, .max, 0, .max, .max]
    admission.addBarrier(sequence: 1)
    insert([0], level: 1, into: &admission)
    insert([1], into: &admission)
    #expect(takeTickets(&admission) == Self.none)
    // The operation was raised, started by another entry, and has finished.
    admission.insert(entry: pool.entry(2), level: 3, sequence: 0)
    #expect(startAll(&admission, level: 3) == [2])
    admission.finish(sequence: 0, level: 3)
    #expect(takeTickets(&admission) == [0, 1, 0, 0, 0])
    let void = admission.next()
    #expect(pool.sequence(void) == 0)
    admission.useTicket(level: 1)
    #expect(takeTickets(&admission) == [0, 0, 1, 0, 0])
    #expect(startAll(&admission) == [1])
  }

  @Test func `a barrier that waits for a thread does not wait for a limit below`() {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    queue.limits[below: .veryHigh] = 0
    queue.addBarrierBlock {}
    let low = BlockOperation {}
    queue.addOperation(low)
    let reasons = queue.operations.first?.whyNotStarted().reasons ?? []
    guard case .waitsForThread = reasons.first, reasons.count == 1 else {
      Issue.record("\(reasons)")
      return
    }
    backend.runAll()
    #expect(low.whyNotStarted().reasons == [.limitBelowReached(priority: .veryHigh, limit: 0, holders: [])])
    queue.limits = PriorityLimits()
    backend.runAll()
    #expect(low.isFinished)
  }
}
