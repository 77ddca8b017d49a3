import Glibc
import Operations
import Synchronization

/// A call of the public API that walks a list or takes a lock, and whose cost must grow with the list and not with the
/// square of the list.
package struct GrowingCall: Sendable {
  /// The call in a few words.
  package let name: String
  /// Makes what the call works on, of that size, on an empty queue, and leaves the queue empty. Returns the CPU time of
  /// the calling thread during the call alone, in nanoseconds.
  package let cost: @Sendable (OperationQueue, _ size: Int) throws -> UInt64

  private init(_ name: String, _ cost: @escaping @Sendable (OperationQueue, Int) throws -> UInt64) {
    (self.name, self.cost) = (name, cost)
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
    queue.waitUntilAllOperationsAreFinished()
    return cost
  }

  private static func fanIn(_ size: Int) -> (top: Operation, all: [Operation]) {
    let top = BlockOperation {}
    let below = blocks(size)
    for operation in below { top.addDependency(operation) }
    return (top, below + [top])
  }

  private final class Cost: Sendable {
    let value = Mutex<UInt64>(0)
  }

  private final class Overrides: Operation, @unchecked Sendable {
    override var isReady: Bool { super.isReady }
  }

  package static let all: [GrowingCall] = [
    GrowingCall("a wait inside an operation, for a fan-in") { queue, size in
      let (top, all) = fanIn(size)
      let cost = Cost()
      queue.addOperation {
        queue.addOperations(all, waitUntilFinished: false)
        let time = cpuTime { top.waitUntilFinished() }
        cost.value.withLock { $0 = time }
      }
      queue.waitUntilAllOperationsAreFinished()
      return cost.value.withLock { $0 }
    },
    GrowingCall("dependencyCycles() with a barrier between") { queue, size in
      queue.isSuspended = true
      queue.addOperations(blocks(size), waitUntilFinished: false)
      queue.addBarrierBlock {}
      return try pending(queue, blocks(size)) { _ = queue.dependencyCycles() }
    },
    GrowingCall("diagnosis() with a barrier before every tenth") { queue, size in
      queue.isSuspended = true
      for _ in 0..<size / 10 {
        queue.addOperations(blocks(9), waitUntilFinished: false)
        queue.addBarrierBlock {}
      }
      return try pending(queue, blocks(size)) { _ = queue.diagnosis().description }
    },
    GrowingCall("whyNotStarted() with many dependencies") { queue, size in
      let (top, all) = fanIn(size)
      return try pending(queue, all) { _ = top.whyNotStarted().description }
    },
    GrowingCall("addOperations(validating:)") { queue, size in
      queue.isSuspended = true
      let all = fanIn(size).all
      let cost = try cpuTime { try queue.addOperations(validating: all) }
      queue.isSuspended = false
      queue.waitUntilAllOperationsAreFinished()
      return cost
    },
    GrowingCall("the end of observations of one operation") { _, size in
      let operation = BlockOperation {}
      var tokens = (0..<size).map { _ in operation.observe(\.isFinished) { _, _ in } }
      return cpuTime { while !tokens.isEmpty { tokens.removeFirst(min(tokens.count, 64)) } }
    },
    GrowingCall("the end of observations of one operation, the newest first") { _, size in
      let operation = BlockOperation {}
      var tokens = (0..<size).map { index in
        index % 2 == 0 ? operation.observe(\.isFinished) { _, _ in } : operation.observe(\.isReady) { _, _ in }
      }
      return cpuTime { while tokens.popLast() != nil {} }
    },
    GrowingCall("the end of observations of a queue") { queue, size in
      let tokens = (0..<size).map { _ in queue.observe(\.operationCount) { _, _ in } }
      return cpuTime { for token in tokens { token.invalidate() } }
    },
    GrowingCall("the end of operations whose isReady is observed, behind one dependency") { _, size in
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
    GrowingCall("adding and removing dependencies of one operation, the oldest first") { _, size in
      let operation = BlockOperation {}
      let all = blocks(size)
      return cpuTime {
        for dependency in all { operation.addDependency(dependency) }
        for dependency in all { operation.removeDependency(dependency) }
      }
    },
    GrowingCall("the same, of an operation that is observed") { _, size in
      let operation = BlockOperation {}
      let tokens = (0..<size).map { _ in operation.observe(\.isCancelled) { _, _ in } }
      let all = blocks(size)
      return cpuTime {
        for dependency in all { operation.addDependency(dependency) }
        for dependency in all { operation.removeDependency(dependency) }
        withExtendedLifetime(tokens) {}
      }
    },
    GrowingCall("adding an operation after many, and many after one") { queue, size in
      let all = blocks(size)
      return try pending(queue, all) {
        let last = queue.addOperation(dependencies: all) {}
        for _ in 0..<size { queue.addOperation(dependencies: CollectionOfOne(last)) {} }
      }
    },
    GrowingCall("changing the priority of everything pending") { queue, size in
      let all = blocks(size)
      return try pending(queue, all) { for operation in all { operation.queuePriority = .high } }
    },
    GrowingCall("cancelling everything pending, one by one") { queue, size in
      let all = blocks(size)
      return try pending(queue, all) { for operation in all { operation.cancel() } }
    },
    GrowingCall("cancelAllOperations()") { queue, size in
      try pending(queue, blocks(size)) { queue.cancelAllOperations() }
    },
    GrowingCall("operations, operationCount and progress") { queue, size in
      try pending(queue, blocks(size)) {
        _ = queue.operations.count
        for _ in 0..<size { _ = queue.operationCount + Int(queue.progress.completedUnitCount) }
      }
    },
    GrowingCall("a wait inside an operation, for a queue with a barrier") { queue, size in
      let other = OperationQueue(backend: queue.backend)
      other.isSuspended = true
      other.addOperations(blocks(size), waitUntilFinished: false)
      other.addBarrierBlock {}
      let cost = Cost()
      // The wait raises what it waits for first.
      let waits = BlockOperation {
        let needed = cpuTime {
          other.isSuspended = false
          other.waitUntilAllOperationsAreFinished()
        }
        cost.value.withLock { $0 = needed }
      }
      waits.queuePriority = .veryHigh
      queue.addOperations([waits], waitUntilFinished: true)
      return cost.value.withLock { $0 }
    },
    GrowingCall("children of a scope that throw") { queue, size in
      struct Thrown: Error {}
      let cost = Cost()
      // On the only worker: else the number of children that run would depend on when another thread gets a CPU.
      queue.addOperation {
        let time = cpuTime {
          do throws(Thrown) {
            try withForkScope(throwing: Thrown.self) { scope throws(Thrown) in
              for _ in 0..<size { scope.spawn { () throws(Thrown) in throw Thrown() } }
            }
          } catch {}
        }
        cost.value.withLock { $0 = time }
      }
      queue.waitUntilAllOperationsAreFinished()
      return cost.value.withLock { $0 }
    },
    GrowingCall("a limit that is changed again and again") { queue, size in
      try pending(queue, blocks(size)) { for limit in 1...size { queue.maxConcurrentOperationCount = limit } }
    },
    GrowingCall("a batch with overridden isReady behind one dependency") { queue, size in
      let dependency = BlockOperation {}
      let all = (0..<size).map { _ in Overrides() }
      for operation in all { operation.addDependency(dependency) }
      let cost = cpuTime { queue.addOperations(all, waitUntilFinished: false) }
      queue.addOperation(dependency)
      queue.waitUntilAllOperationsAreFinished()
      return cost
    },
    GrowingCall("execution blocks of one operation") { queue, size in
      let operation = BlockOperation()
      let cost = cpuTime { for _ in 0..<size { operation.addExecutionBlock {} } }
      queue.addOperation(operation)
      queue.waitUntilAllOperationsAreFinished()
      return cost
    },
  ]
}
