import Operations
import TestSupport
import Testing

/// Row 14: a million operations, on threads with small stacks. Nothing may recurse.
@Suite("Large graphs", .serialized)
struct LargeGraphTests {
  private static let million = 1_000_000
  /// On one backend as many as a small stack or a square would not survive.
  private static func many(_ backend: TestBackend) -> Int { part(backend.manyReady / 5, of: backend.manyReady) }

  private static func chain(_ count: Int) -> [Operation] {
    var chain: [Operation] = []
    chain.reserveCapacity(count)
    for _ in 0..<count {
      let operation = Operation()
      if let last = chain.last { operation.addDependency(last) }
      chain.append(operation)
    }
    return chain
  }

  @Test("row 14: Foundation: a chain of 1,000,000 unstarted operations, released by its last one")
  func releaseUnstarted() throws {
    try inTime("the release of an unstarted chain", seconds: 4 * patience) {
      var last = Operation()
      for _ in 1..<Self.million {
        let next = Operation()
        next.addDependency(last)
        last = next
      }
      guard !last.isReady else { throw Unfinished() }
      last = Operation()
    }
  }

  @Test("row 14: Foundation: a chain of up to 1,000,000 finished operations", arguments: allBackends)
  func releaseFinished(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let count = Self.many(backend)
      try inTime("a chain of \(count)", seconds: 8 * patience) {
        var chain = Self.chain(count)
        queue.addOperations(chain, waitUntilFinished: true)
        guard chain.allSatisfy(\.isFinished) else { throw Unfinished() }
        // The last one goes last: what it still holds must not be released one inside the other.
        let last = chain.removeLast()
        chain = []
        withExtendedLifetime(last) {}
      }
      try queue.drainInTime(seconds: 4 * patience)
      #expect(queue.operationCount == 0)
    }
  }

  @Test("rows 7 and 14: a chain of up to 1,000,000 whose members are all cancelled", arguments: allBackends)
  func cancelChain(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let count = Self.many(backend)
      let ran = Counter()
      let first = Operation()
      let operations = try inTime("building a chain", seconds: 4 * patience) {
        let operations = [first] + Self.chain(count)
        operations[1].addDependency(first)
        queue.addOperations(Array(operations.dropFirst()), waitUntilFinished: false)
        return operations
      }
      let last = BlockOperation { ran.increment() }
      last.addDependency(operations[count])
      queue.addOperation(last)
      try inTime("cancelling a chain", seconds: 8 * patience) {
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
      }
      #expect(ran.value == 0 && last.isCancelled)
      #expect(operations[count].isFinished && operations[count / 2].isCancelled)
    }
  }

  @Test("rows 9 and 14: cancelling the head of a chain runs the rest", arguments: allBackends)
  func cancelHead(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let chain = Self.chain(Self.many(backend))
      chain[0].addDependency(Operation())
      queue.addOperations(chain, waitUntilFinished: false)
      chain[0].cancel()
      try queue.drainInTime("the chain behind a cancelled head", seconds: 4 * patience)
      #expect(chain.filter(\.isCancelled).count == 1)
    }
  }

  @Test("rows 14 and 18: a fan-in and a fan-out of up to 1,000,000", arguments: allBackends)
  func fans(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let count = Self.many(backend)
      try inTime("a fan-out and fan-in of \(count)", seconds: 8 * patience) {
        let source = Operation()
        let sink = CountingOperation()
        let middle = (0..<count).map { _ in
          let operation = Operation()
          operation.addDependency(source)
          sink.addDependency(operation)
          return operation
        }
        queue.addOperations([sink] + middle, waitUntilFinished: false)
        queue.addOperation(source)
        queue.waitUntilAllOperationsAreFinished()
        guard sink.mains.value == 1, middle.allSatisfy(\.isFinished) else { throw Unfinished() }
      }
      #expect(queue.operationCount == 0)
    }
  }

  @Test("rows 39 and 40: up to 1,000,000 waiting operations, listed, cancelled and released", arguments: allBackends)
  func cancelAll(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let count = Self.many(backend)
      queue.maxConcurrentOperationCount = 2
      queue.isSuspended = true
      let listed = try inTime("adding, listing and cancelling \(count)", seconds: 8 * patience) {
        for _ in 0..<count { queue.addOperation(Operation()) }
        let listed = queue.operations.count + queue.operationCount
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        return listed
      }
      #expect(listed == 2 * count && queue.operationCount == 0)
    }
  }

  private struct Unfinished: Error {}
}
