import Synchronization
import Testing

@testable import MacroArms

private final class Notes: Sendable {
  private let names = Mutex<[String]>([])
  func add(_ name: String) { names.withLock { $0.append(name) } }
  var all: [String] { names.withLock { $0 } }
}

/// The limit that the arms of plain Swift concurrency use.
@Suite struct TaskLimitTests {
  /// Tasks that note their names in the order in which they enter, behind one that holds the only place.
  private func order(
    isOrdered: Bool, _ names: [(name: String, job: Job)], before release: (TaskLimit) -> Void = { _ in }
  ) async throws -> [String] {
    let limit = TaskLimit(1, low: nil, isOrdered: isOrdered)
    let entered = Notes()
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let holder = Task { try await limit.run(Job(isUrgent: true)) { for await _ in gate {} } }
    while limit.count.running == 0 { await Task.yield() }
    var tasks: [Task<Void, any Error>] = []
    for (number, entry) in names.enumerated() {
      tasks.append(Task { try await limit.run(entry.job) { entered.add(entry.name) } })
      while limit.count.waiting == number { await Task.yield() }
    }
    release(limit)
    opening.finish()
    try await holder.value
    for task in tasks { try await task.value }
    return entered.all
  }

  @Test func firstComeFirstServed() async throws {
    let names = [("a", Job(isUrgent: false)), ("b", Job(isUrgent: true)), ("c", Job(isUrgent: false))]
    #expect(try await order(isOrdered: false, names) == ["a", "b", "c"])
  }

  @Test func urgentGoesFirst() async throws {
    let raised = Job(isUrgent: false)
    let names = [("a", Job(isUrgent: false)), ("b", raised), ("c", Job(isUrgent: true))]
    let order = try await order(isOrdered: true, names) { limit in
      raised.isUrgent.store(true, ordering: .relaxed)
      limit.reconsider()
    }
    #expect(order == ["b", "c", "a"])
  }

  @Test func whatIsNotUrgentHasFewerPlaces() async throws {
    let limit = TaskLimit(4, low: 2, isOrdered: true)
    let tooMany = Notes()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          try await limit.run(Job(isUrgent: number.isMultiple(of: 4))) {
            if limit.count.low > 2 { tooMany.add("\(number)") }
            try await Task.sleep(for: .milliseconds(1))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(tooMany.all.isEmpty)
    #expect(limit.count == .init(running: 0, low: 0, waiting: 0))
  }

  @Test func suspendedAndCancelled() async throws {
    let limit = TaskLimit(1, low: nil, isOrdered: true)
    limit.setSuspended(true)
    let (stays, leaves) = (
      Task { try await limit.run(Job(isUrgent: true)) { 1 } }, Task { try await limit.run(Job(isUrgent: true)) { 2 } }
    )
    while limit.count.waiting < 2 { await Task.yield() }
    leaves.cancel()
    await #expect(throws: CancellationError.self) { try await leaves.value }
    #expect(limit.count == .init(running: 0, low: 0, waiting: 1))
    limit.setSuspended(false)
    #expect(try await stays.value == 1)
  }
}
