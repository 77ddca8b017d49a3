import Operations
import TestSupport
import Testing

/// Row 52: the memory of block operations is used again, whoever made them. Nobody may be able to tell.
@Suite("Operations used again")
struct ReuseTests {
  private static let rounds = 2_000

  @Test("row 52: an operation that somebody holds keeps its state", arguments: allBackends)
  func held(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let ran = Counter()
      var kept: [Operation] = []
      for _ in 0..<50 {
        queue.isSuspended = true
        queue.addOperation { ran.increment() }
        kept += queue.operations
        queue.isSuspended = false
        try queue.drainInTime()
        for _ in 0..<40 { queue.addOperation { ran.increment() } }
        try queue.drainInTime()
      }
      #expect(ran.value == 50 * 41 && kept.count == 50)
      #expect(Set(kept.map(ObjectIdentifier.init)).count == 50)
      #expect(kept.allSatisfy { $0.isFinished && !$0.isExecuting && !$0.isCancelled })
      #expect(queue.operationCount == 0)
    }
  }

  @Test("row 52: a weak reference to a finished operation becomes nil", arguments: allBackends)
  func weakly(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<200 {
        let weak = WeakOperation()
        queue.isSuspended = true
        queue.addOperation {}
        weak.operation = queue.operations.first
        #expect(weak.operation != nil)
        queue.isSuspended = false
        try queue.drainInTime()
        for _ in 0..<10 { queue.addOperation {} }
        try queue.drainInTime()
        try eventually("the operation to go") { weak.operation == nil }
      }
    }
  }

  @Test("row 52: what was done to an operation is not found in the next one", arguments: allBackends)
  func startsNew(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let completed = Counter()
      let ran = Counter()
      for round in 0..<Self.rounds {
        queue.isSuspended = true
        queue.addOperation { ran.increment() }
        do {
          let operation = queue.operations[0]
          #expect(operation.name == nil && operation.queuePriority == .normal && !operation.isCancelled)
          #expect(operation.dependencies.isEmpty && operation.completionBlock == nil && operation.isReady)
          #expect((operation as? BlockOperation)?.executionBlocks.count == 1)
          switch round % 6 {
          case 0: operation.name = "changed"
          case 1: operation.queuePriority = .veryHigh
          case 2: operation.cancel()
          case 3: operation.completionBlock = { completed.increment() }
          case 4: operation.addDependency(finished())
          default: (operation as? BlockOperation)?.addExecutionBlock { ran.increment() }
          }
        }
        queue.isSuspended = false
        try queue.drainInTime()
      }
      let sixths = (0..<6).map { index in (0..<Self.rounds).count { $0 % 6 == index } }
      #expect(ran.value == Self.rounds - sixths[2] + sixths[5])
      try completed.wait(for: sixths[3], "the completion blocks")
    }
  }

  @Test("row 52: each block runs once, whoever adds and whoever looks", arguments: allBackends)
  func manyThreads(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let ran = Counter()
      let lookedAt = Counter()
      let done = CountdownLatch(4)
      for _ in 0..<3 {
        startThread {
          for _ in 0..<Self.rounds { queue.addOperation { ran.increment() } }
          done.countDown()
        }
      }
      startThread {
        while ran.value < 3 * Self.rounds {
          for operation in queue.operations.prefix(20) where !operation.isCancelled { lookedAt.increment() }
        }
        done.countDown()
      }
      try done.wait("the threads")
      try queue.drainInTime()
      #expect(ran.value == 3 * Self.rounds && queue.operationCount == 0)
    }
  }

  /// Random graphs of block operations that nobody holds once they are added, by several threads at once. Each body
  /// finds that its dependencies have run, and has not run itself.
  @Test("row 52: operations of graphs run once and in order, whoever drops them", arguments: allBackends)
  func graphs(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let wrong = Counter()
      let done = CountdownLatch(3)
      for seed in 1...3 {
        startThread {
          var random = SeededGenerator(seed: UInt64(seed))
          for _ in 0..<60 { Self.runGraph(on: queue, wrong: wrong, &random) }
          done.countDown()
        }
      }
      try done.wait("the threads")
      try queue.drainInTime()
      #expect(wrong.value == 0 && queue.operationCount == 0)
    }
  }

  private static func runGraph(on queue: OperationQueue, wrong: Counter, _ random: inout SeededGenerator) {
    let flags = (0..<60).map { _ in Flag() }
    var operations: [Operation] = []
    var held: [Operation] = []
    var cancelled = 0
    let end = Gate()
    for index in flags.indices {
      var needed = Set<Int>()
      for _ in 0..<Int.random(in: 0...6, using: &random) where index > 0 {
        needed.insert(Int.random(in: max(0, index - 12)..<index, using: &random))
      }
      let inputs = needed.map { flags[$0] }
      let flag = flags[index]
      let operation = BlockOperation {
        if !flag.raise() || !inputs.allSatisfy(\.isRaised) { wrong.increment() }
      }
      if operation.isFinished || operation.isCancelled || !operation.isReady || !operation.dependencies.isEmpty
        || operation.queuePriority != .normal || operation.name != nil || operation.completionBlock != nil
      {
        wrong.increment()
      }
      for input in needed { operation.addDependency(operations[input]) }
      switch Int.random(in: 0..<12, using: &random) {
      case 0: held.append(operation)
      case 1: operation.queuePriority = .high
      case 2: operation.name = "\(index)"
      case 3: operation.completionBlock = {}
      case 4:
        // A dependency that was removed counts no longer; the body still finds that it ran, since its dependencies did.
        let other = BlockOperation {}
        operation.addDependency(other)
        operation.removeDependency(other)
      default: break
      }
      operations.append(operation)
    }
    let join = BlockOperation { end.open() }
    for operation in operations { join.addDependency(operation) }
    operations.append(join)
    if Bool.random(using: &random) {
      queue.addOperations(operations, waitUntilFinished: false)
    } else {
      for operation in operations { queue.addOperation(operation) }
    }
    // One is cancelled late, or has run by then: only its own body may be missing.
    if Bool.random(using: &random) {
      operations[operations.count - 2].cancel()
      cancelled = 1
    }
    operations.removeAll()
    end.pass()
    if flags.count(where: { !$0.isRaised }) > cancelled { wrong.increment() }
    if !held.allSatisfy(\.isFinished) { wrong.increment() }
  }

  private func finished() -> Operation {
    let operation = Operation()
    operation.start()
    return operation
  }
}

private final class WeakOperation {
  weak var operation: Operation?
}

private final class Flag: Sendable {
  private let monitor = Monitor(false)

  var isRaised: Bool { monitor.value }

  /// - Returns: false when the flag was raised before.
  func raise() -> Bool {
    monitor.with { isRaised in
      defer { isRaised = true }
      return !isRaised
    }
  }
}
