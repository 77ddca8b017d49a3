import Glibc
import Operations
import TestSupport
import Testing

/// What calls cost when there is eight times as much of everything: about eight times as much, and not 64 times. The
/// cost is CPU time of the calling thread, and only growth is judged, with much room.
@Suite("Growth of cost")
struct GrowthTests {
  struct Call: CustomTestStringConvertible, Sendable {
    let testDescription: String
    /// Makes what the call works on, for a size, and returns the CPU time of the call in nanoseconds.
    let cost: @Sendable (OperationQueue, _ size: Int) throws -> UInt64

    init(_ name: String, _ cost: @escaping @Sendable (OperationQueue, Int) throws -> UInt64) {
      (testDescription, self.cost) = (name, cost)
    }
  }

  private static func cpuTime(_ body: () throws -> Void) rethrows -> UInt64 {
    func now() -> UInt64 {
      var time = timespec()
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
      return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
    let before = now()
    try body()
    return now() - before
  }

  private static func blocks(_ count: Int) -> [BlockOperation] { (0..<count).map { _ in BlockOperation {} } }

  /// A queue that is suspended with operations in it.
  private static func pending(
    _ queue: OperationQueue, _ operations: [Operation], _ body: () throws -> Void
  ) throws -> UInt64 {
    queue.isSuspended = true
    queue.addOperations(operations, waitUntilFinished: false)
    let cost = try cpuTime(body)
    queue.isSuspended = false
    try queue.drainInTime()
    return cost
  }

  private static func fanIn(_ size: Int) -> (top: Operation, all: [Operation]) {
    let top = BlockOperation {}
    let below = blocks(size)
    for operation in below { top.addDependency(operation) }
    return (top, below + [top])
  }

  private final class Overrides: Operation, @unchecked Sendable {
    override var isReady: Bool { super.isReady }
  }

  static let calls: [Call] = [
    Call("a wait inside an operation, for a fan-in") { queue, size in
      let (top, all) = fanIn(size)
      let cost = Monitor<UInt64?>(nil)
      queue.addOperation {
        queue.addOperations(all, waitUntilFinished: false)
        let time = cpuTime { top.waitUntilFinished() }
        cost.with { $0 = time }
      }
      try queue.drainInTime()
      return cost.value ?? 0
    },
    Call("dependencyCycles() with a barrier between") { queue, size in
      queue.isSuspended = true
      queue.addOperations(blocks(size), waitUntilFinished: false)
      queue.addBarrierBlock {}
      return try pending(queue, blocks(size)) { _ = queue.dependencyCycles() }
    },
    Call("diagnosis() with a barrier before every tenth") { queue, size in
      queue.isSuspended = true
      for _ in 0..<size / 10 {
        queue.addOperations(blocks(9), waitUntilFinished: false)
        queue.addBarrierBlock {}
      }
      return try pending(queue, blocks(size)) { _ = queue.diagnosis().description }
    },
    Call("whyNotStarted() with many dependencies") { queue, size in
      let (top, all) = fanIn(size)
      return try pending(queue, all) { _ = top.whyNotStarted().description }
    },
    Call("addOperations(validating:)") { queue, size in
      queue.isSuspended = true
      let all = fanIn(size).all
      let cost = try cpuTime { try queue.addOperations(validating: all) }
      queue.isSuspended = false
      try queue.drainInTime()
      return cost
    },
    Call("the end of observations of one operation") { _, size in
      let operation = BlockOperation {}
      var tokens = (0..<size).map { _ in operation.observe(\.isFinished) { _, _ in } }
      return cpuTime { while !tokens.isEmpty { tokens.removeFirst(min(tokens.count, 64)) } }
    },
    Call("the end of observations of one operation, the newest first") { _, size in
      let operation = BlockOperation {}
      var tokens = (0..<size).map { index in
        index % 2 == 0 ? operation.observe(\.isFinished) { _, _ in } : operation.observe(\.isReady) { _, _ in }
      }
      return cpuTime { while tokens.popLast() != nil {} }
    },
    Call("the end of observations of a queue") { queue, size in
      let tokens = (0..<size).map { _ in queue.observe(\.operationCount) { _, _ in } }
      return cpuTime { for token in tokens { token.invalidate() } }
    },
    Call("the end of operations whose isReady is observed, behind one dependency") { _, size in
      let dependency = BlockOperation {}
      var (dependents, tokens): ([Operation], [OperationObservation]) = ([], [])
      for _ in 0..<size {
        let dependent = BlockOperation {}
        tokens.append(dependent.observe(\.isReady) { _, _ in })
        dependent.addDependency(dependency)
        dependents.append(dependent)
      }
      return cpuTime {
        dependents.removeAll()
        tokens.removeAll()
      }
    },
    Call("adding and removing dependencies of one operation, the oldest first") { _, size in
      let operation = BlockOperation {}
      let all = blocks(size)
      return cpuTime {
        for dependency in all { operation.addDependency(dependency) }
        for dependency in all { operation.removeDependency(dependency) }
      }
    },
    Call("the same, of an operation that is observed") { _, size in
      let operation = BlockOperation {}
      let tokens = (0..<size).map { _ in operation.observe(\.isCancelled) { _, _ in } }
      let all = blocks(size)
      return cpuTime {
        for dependency in all { operation.addDependency(dependency) }
        for dependency in all { operation.removeDependency(dependency) }
        withExtendedLifetime(tokens) {}
      }
    },
    Call("changing the priority of everything pending") { queue, size in
      let all = blocks(size)
      return try pending(queue, all) { for operation in all { operation.queuePriority = .high } }
    },
    Call("cancelling everything pending, one by one") { queue, size in
      let all = blocks(size)
      return try pending(queue, all) { for operation in all { operation.cancel() } }
    },
    Call("cancelAllOperations()") { queue, size in
      try pending(queue, blocks(size)) { queue.cancelAllOperations() }
    },
    Call("operations, operationCount and progress") { queue, size in
      try pending(queue, blocks(size)) {
        _ = queue.operations.count
        for _ in 0..<size { _ = queue.operationCount + Int(queue.progress.completedUnitCount) }
      }
    },
    Call("a limit that is changed again and again") { queue, size in
      try pending(queue, blocks(size)) { for limit in 1...size { queue.maxConcurrentOperationCount = limit } }
    },
    Call("a batch with overridden isReady behind one dependency") { queue, size in
      let dependency = BlockOperation {}
      let all = (0..<size).map { _ in Overrides() }
      for operation in all { operation.addDependency(dependency) }
      let cost = cpuTime { queue.addOperations(all, waitUntilFinished: false) }
      queue.addOperation(dependency)
      try queue.drainInTime()
      return cost
    },
    Call("execution blocks of one operation") { queue, size in
      let operation = BlockOperation()
      let cost = cpuTime { for _ in 0..<size { operation.addExecutionBlock {} } }
      queue.addOperation(operation)
      try queue.drainInTime()
      return cost
    },
  ]

  @Test(
    "rows 16, 19, 26, 41 and 47: eight times as much costs no square", arguments: calls,
    [TestBackend.stealing, .threadPool])
  func grows(call: Call, backend: TestBackend) throws {
    let (small, factor) = (2_000, 8)
    // The least of a few runs: other work on the machine makes a run dearer, never cheaper.
    func least(_ size: Int) throws -> UInt64 {
      try (0..<3).map { _ in try backend.withQueue(workers: 1) { try call.cost($0, size) } }.min() ?? 0
    }
    let one = max(try least(small), 1)
    let eight = try least(small * factor)
    // 64 for a square; a table that doubles, caches and the clock's grain make 8 into less than 20.
    #expect(eight < one * 28 || eight < 3_000_000, "\(one) ns for \(small), \(eight) ns for \(small * factor)")
  }
}
