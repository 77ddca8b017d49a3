import Synchronization
import TestSupport
import Testing

@testable import OperationCore

@Suite struct RegistryTests {
  /// A registry in a class, and operations listed in it as a queue would do it.
  private final class Shared: Sendable {
    let registry = Registry()

    func list(_ operation: Operation) {
      let (sequence, isControlled) = registry.takeNumbers(1)
      list(operation, at: registry.ticket(sequence: sequence, isControlled: isControlled))
    }

    func list(_ operation: Operation, at ticket: Registry.Ticket) {
      operation.sequence.store(ticket.sequence, ordering: .relaxed)
      registry.fill(ticket, with: operation)
    }

    // Macros of the testing library do not take a noncopyable value apart.
    var counts: (added: Int, finished: Int, pending: Int) {
      (registry.addedCount, registry.finishedCount, registry.pendingCount)
    }
    func takeNumbers(_ count: Int) -> (first: Int, isControlled: Bool) { registry.takeNumbers(count) }
    func setControlled(_ controlled: Bool) -> Int { registry.setControlled(controlled) }
    func isCancelled(_ sequence: Int) -> Bool { registry.isCancelled(sequence: sequence) }
    func cancelAll(below bound: Int) { registry.cancelAll(below: bound) }

    func pending(below bound: Int = .max) -> [Operation] {
      var operations: [Operation] = []
      registry.visitPending(below: bound) { operations.append($0) }
      return operations
    }
  }

  private func list(_ count: Int, in shared: Shared) -> [Operation] {
    (0..<count).map { _ in
      let operation = Operation()
      shared.list(operation)
      return operation
    }
  }

  @Test(arguments: [1, 255, 256, 257, 1_000]) func `pending operations in the order of adding`(count: Int) {
    let shared = Shared()
    let operations = list(count, in: shared)
    #expect(shared.pending() == operations)
    #expect(shared.pending(below: count / 2) == Array(operations.prefix(count / 2)))
    #expect(shared.counts.pending == count)
    for (index, operation) in operations.enumerated() where index % 3 != 0 { shared.registry.remove(operation) }
    let left = operations.enumerated().filter { $0.offset % 3 == 0 }.map(\.element)
    #expect(shared.pending() == left)
    #expect(shared.counts == (count, count - left.count, left.count))
    for operation in left { shared.registry.remove(operation) }
    #expect(shared.pending() == [])
    #expect(shared.counts.pending == 0)
  }

  @Test func `a number that was taken and not filled is passed over, unless it is waited for`() throws {
    let shared = Shared()
    let first = list(1, in: shared)
    let (sequence, _) = shared.takeNumbers(1)
    let last = list(1, in: shared)
    #expect(shared.pending() == first + last)
    #expect(shared.counts.pending == 3)
    let visited = Monitor<[Operation]>([])
    let done = Gate()
    startThread {
      shared.registry.visitPending(below: 3, waitForStores: true) { operation in visited.with { $0.append(operation) } }
      done.open()
    }
    giveOthersAChance()
    #expect(!done.isOpen)
    let late = Operation()
    shared.list(late, at: shared.registry.ticket(sequence: sequence, isControlled: false))
    try done.wait("the visit to end")
    #expect(visited.value == first + [late] + last)
  }

  @Test func `numbers of whole segments that nobody has made yet are waited for`() throws {
    let shared = Shared()
    let count = 3 * Segment.capacity
    _ = shared.takeNumbers(count)
    let seen = Counter()
    let done = Gate()
    startThread {
      shared.registry.visitPending(below: count, waitForStores: true) { _ in seen.increment() }
      done.open()
    }
    giveOthersAChance()
    #expect(!done.isOpen)
    let operations = (0..<count).map { _ in Operation() }
    for (sequence, operation) in operations.enumerated() {
      shared.list(operation, at: shared.registry.ticket(sequence: sequence, isControlled: false))
    }
    // The visitor looks at them.
    try withExtendedLifetime(operations) { try done.wait("the visit to end") }
    #expect(seen.value == count)
  }

  @Test func `the controller's bit travels with the numbers`() {
    let shared = Shared()
    #expect(shared.takeNumbers(3) == (0, false))
    #expect(shared.setControlled(true) == 3)
    #expect(shared.takeNumbers(2) == (3, true))
    #expect(shared.setControlled(true) == 5)
    #expect(shared.takeNumbers(1) == (5, true))
    #expect(shared.setControlled(false) == 6)
    #expect(shared.takeNumbers(1) == (6, false))
    #expect(shared.counts.added == 7)
  }

  @Test func `cancelling all concerns the numbers below the bound, and never fewer than before`() {
    let shared = Shared()
    #expect(!shared.isCancelled(0))
    _ = shared.takeNumbers(4)
    shared.cancelAll(below: 4)
    _ = shared.takeNumbers(1)
    #expect((0..<5).map { shared.isCancelled($0) } == [true, true, true, true, false])
    shared.cancelAll(below: 2)
    #expect(shared.isCancelled(3) && !shared.isCancelled(4))
    shared.cancelAll(below: 5)
    #expect(shared.isCancelled(4))
  }

  @Test func `visitors see every listed operation once and in order while others come and go`() throws {
    let shared = Shared()
    let stays = list(3, in: shared)
    let rounds = 20_000
    let stop = Atomic<Bool>(false)
    let wrong = EventLog<[Int]>()
    try onThreads(4, "the visits and changes") { index in
      if index < 2 {
        for _ in 0..<rounds {
          let operation = Operation()
          shared.list(operation)
          shared.registry.remove(operation)
        }
        stop.store(true, ordering: .relaxed)
      } else {
        repeat {
          let seen = shared.pending().map { $0.sequence.load(ordering: .relaxed) }
          let isInOrder = zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 }
          if !isInOrder || !seen.starts(with: [0, 1, 2]) { wrong.append(seen) }
        } while !stop.load(ordering: .relaxed)
      }
    }
    #expect(wrong.events == [])
    #expect(shared.pending() == stays)
    #expect(shared.counts.finished == 2 * rounds)
  }
}
