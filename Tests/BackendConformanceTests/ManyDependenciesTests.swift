import Operations
import Synchronization
import TestSupport
import Testing

/// Row 17, sentences 17.1 to 17.4: several dependencies in one call.
@Suite("Many dependencies")
struct ManyDependenciesTests {
  /// The ways to give dependencies to a new operation. Each has to do what the first does.
  enum Way: CaseIterable {
    case singleCalls, oneCall, sequence, initializer, lazyInitializer, subclass

    func operation(_ dependencies: [Operation], _ body: @escaping @Sendable () -> Void) -> BlockOperation {
      switch self {
      case .singleCalls:
        let operation = BlockOperation(block: body)
        dependencies.forEach(operation.addDependency)
        return operation
      case .oneCall:
        let operation = BlockOperation(block: body)
        operation.addDependencies(dependencies)
        return operation
      case .sequence:
        let operation = BlockOperation(block: body)
        operation.addDependencies(dependencies.lazy.map { $0 })
        return operation
      case .initializer: return BlockOperation(dependencies: dependencies, block: body)
      case .lazyInitializer:
        return BlockOperation(dependencies: dependencies.indices.lazy.map { dependencies[$0] }, block: body)
      case .subclass: return PlainBlocks(dependencies: dependencies, block: body)
      }
    }
  }

  @Test("row 17.1: the same dependencies as after single calls", arguments: allBackends)
  func sameAsSingleCalls(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for way in Way.allCases {
        for count in [0, 1, 2, 5, 6, 11, 40, 100] {
          let (dependencies, given, expected) = givenTwice(count)
          let runs = Atomic<Int>(0)
          let early = Atomic<Int>(0)
          let operation = way.operation(given) {
            runs.wrappingAdd(1, ordering: .relaxed)
            if !dependencies.allSatisfy(\.isFinished) { early.wrappingAdd(1, ordering: .relaxed) }
          }
          #expect(operation.dependencies == expected)
          #expect(operation.isReady == (count == 0))
          if let last = dependencies.last {
            // The list can be changed as any other.
            operation.removeDependency(last)
            #expect(operation.dependencies == expected.filter { $0 != last })
            operation.addDependency(last)
          }
          queue.addOperation(operation)
          queue.addOperations(dependencies, waitUntilFinished: false)
          try queue.drainInTime()
          #expect(runs.load(ordering: .relaxed) == 1 && early.load(ordering: .relaxed) == 0)
        }
      }
    }
  }

  @Test("row 17.1: dependencies that finish during the call", arguments: allBackends)
  func finishesDuringTheCall(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for round in 0..<60 {
        for way in Way.allCases {
          let dependencies = (0..<(round % 9)).map { _ in BlockOperation {} }
          let made = Monitor<BlockOperation?>(nil)
          let runs = Atomic<Int>(0)
          try race(
            "finishes and a call", { queue.addOperations(dependencies, waitUntilFinished: false) },
            {
              let operation = way.operation(dependencies) { runs.wrappingAdd(1, ordering: .relaxed) }
              queue.addOperation(operation)
              made.with { $0 = operation }
            })
          try queue.drainInTime()
          #expect(runs.load(ordering: .relaxed) == 1 && made.value?.isFinished == true)
        }
      }
    }
  }

  @Test("row 17.1: the call while a queue is about to list or start the operation", arguments: allBackends)
  func callRacesWithAdding(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for _ in 0..<200 {
        let late = (0..<3).map { _ in Operation() }
        let operation = CountingOperation()
        try race("adding and a call", { queue.addOperation(operation) }, { operation.addDependencies(late) })
        if !operation.isExecuting, !operation.isFinished { #expect(!operation.isReady) }
        for operation in late { operation.start() }
        try queue.drainInTime()
        #expect(operation.starts.value == 1 && operation.mains.value == 1)
      }
    }
  }

  @Test(
    "row 17.1: in a queue before the start: counts; after the start: listed, without effect", arguments: allBackends)
  func callInAQueue(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.isSuspended = true
      let late = [Operation(), Operation()]
      let waiting = CountingOperation()
      queue.addOperation(waiting)
      waiting.addDependencies(late)
      waiting.addDependencies(late)
      queue.isSuspended = false
      giveOthersAChance()
      #expect(waiting.starts.value == 0 && waiting.dependencies == late)
      for operation in late { operation.start() }
      try queue.drainInTime()
      #expect(waiting.mains.value == 1)
      let running = GatedOperation()
      queue.addOperation(running)
      try running.started.wait("the operation to start")
      let never = [Operation(), Operation()]
      running.addDependencies(never)
      #expect(running.dependencies == never && running.isExecuting)
      running.release.open()
      try queue.drainInTime()
      // After the finish the call is ignored.
      try eventually("the dependencies to be emptied") { running.dependencies.isEmpty }
      running.addDependencies(never)
      #expect(running.dependencies.isEmpty)
    }
  }

  @Test("row 17.2: a class that overrides addDependency is called for each", arguments: allBackends)
  func overridden(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let given: [Operation] = [BlockOperation {}, Operation(), BlockOperation {}]
      let noting = NotingOperation()
      noting.addDependencies(given)
      noting.addDependencies(given.lazy.filter { $0 is BlockOperation })
      let blocks = NotingBlocks(dependencies: given) {}
      #expect(noting.added.events == given + [given[0], given[2]] && blocks.added.events == given)
      #expect(noting.dependencies == given && blocks.dependencies == given)
      // A program's own method of that name is called in its place.
      let own = OwnMethod()
      own.addDependencies(given)
      #expect(own.dependencies == given && own.calls.value == 1)
      queue.addOperations(given + [noting, blocks, own], waitUntilFinished: false)
      try queue.drainInTime()
    }
  }

  @Test("row 17.3: observers see each step, and readiness as after single calls", arguments: allBackends)
  func observed(backend: TestBackend) throws {
    try backend.withQueue { queue in
      func seen(_ add: (Operation, [Operation]) -> Void) throws -> (counts: [Int], ready: [Bool]) {
        let operation = CountingOperation()
        let counts = EventLog<Int>()
        let ready = EventLog<Bool>()
        let first = operation.observe(\.dependencies, options: .new) { _, change in
          counts.append(change.newValue?.count ?? -1)
        }
        let second = operation.observe(\.isReady, options: .new) { _, change in
          if let value = change.newValue { ready.append(value) }
        }
        let given = (0..<4).map { _ in Operation() }
        add(operation, given)
        for dependency in given { dependency.start() }
        try eventually("the readiness to be told") { ready.events.last == true }
        withExtendedLifetime((first, second)) {}
        return (counts.events, ready.events)
      }
      let single = try seen { operation, given in given.forEach(operation.addDependency) }
      let together = try seen { $0.addDependencies($1) }
      #expect(single == together && together.counts == [1, 2, 3, 4] && together.ready == [false, true])
      // A class that overrides `isReady`, in no queue, is asked when the last has finished.
      let asked = AskedOperation()
      let given = [Operation(), Operation()]
      asked.addDependencies(given)
      for dependency in given { dependency.start() }
      try eventually("the property to be read") { asked.reads.load(ordering: .relaxed) > 0 }
      queue.addOperation(asked)
      try queue.drainInTime()
    }
  }

  @Test(
    "row 17.4: dropped before it is added: the operation, and what it would wait for, are released",
    arguments: allBackends)
  func dropped(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let tracker = LifetimeTracker()
      for way in Way.allCases {
        for count in [1, 2, 7] {
          let dependencies = (0..<count).map { _ in TrackedOperation(tracker) }
          let token = tracker.token()
          _ = way.operation(dependencies + dependencies) { withExtendedLifetime(token) {} }
          queue.addOperations(dependencies, waitUntilFinished: false)
          try queue.drainInTime()
        }
      }
      try tracker.waitUntilAllReleased("the operations and their dependencies")
    }
  }

  @Test(
    "row 17.4: a diagnosis and a search for cycles see dependencies that were added together", arguments: allBackends)
  func diagnosed(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let never = [Operation(), Operation()]
      let operation = BlockOperation(dependencies: never) {}
      let single = BlockOperation {}
      never.forEach(single.addDependency)
      func reasons(_ operation: Operation) -> String {
        operation.whyNotStarted().description.replacing(operation.description, with: "it")
      }
      queue.addOperations([operation, single], waitUntilFinished: false)
      #expect(reasons(operation) == reasons(single))
      let back = Operation()
      back.addDependencies([operation, single])
      operation.addDependencies([back, single])
      #expect(throws: (any Error).self) {
        try OperationQueue(backend: queue.backend).addOperations(validating: [back], waitUntilFinished: false)
      }
      operation.removeDependency(back)
      for dependency in never { dependency.start() }
      try queue.drainInTime()
    }
  }
}

/// - Returns: new operations. What a test gives as dependencies: each twice, in another order, and from three
///   operations on one more that has finished. The list that follows.
func givenTwice(_ count: Int) -> (new: [BlockOperation], given: [Operation], expected: [Operation]) {
  let new = (0..<count).map { _ in BlockOperation {} }
  let done = Operation()
  done.start()
  return (new, new + new.reversed() + (count > 2 ? [done, done] : []), new + (count > 2 ? [done] : []))
}

private class PlainBlocks: BlockOperation, @unchecked Sendable {}

/// Notes the calls of `addDependency`.
private final class NotingOperation: Operation, @unchecked Sendable {
  // Invariant: the log is constant and thread-safe itself.
  let added = EventLog<Operation>()

  override func addDependency(_ operation: Operation) {
    added.append(operation)
    super.addDependency(operation)
  }
}

private final class NotingBlocks: BlockOperation, @unchecked Sendable {
  // Invariant: the log is constant and thread-safe itself.
  let added = EventLog<Operation>()

  override func addDependency(_ operation: Operation) {
    added.append(operation)
    super.addDependency(operation)
  }
}

private final class AskedOperation: Operation, @unchecked Sendable {
  // Invariant: the count is atomic.
  let reads = Atomic<Int>(0)

  override var isReady: Bool {
    reads.wrappingAdd(1, ordering: .relaxed)
    return super.isReady
  }
}

/// A program's own method of the same name, as many programs have it.
private final class OwnMethod: Operation, @unchecked Sendable {
  // Invariant: the counter is constant and thread-safe itself.
  let calls = Counter()

  func addDependencies(_ operations: [Operation]) {
    calls.increment()
    for operation in operations { addDependency(operation) }
  }
}
