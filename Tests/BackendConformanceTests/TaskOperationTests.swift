import DeterministicOperations
import OperationBackends
import Synchronization
import TestSupport
import Testing

/// Row 65: operations whose bodies are asynchronous.
@Suite("Operations with asynchronous bodies")
struct TaskOperationTests {
  struct Refused: Error, Equatable {}

  @Test(
    "row 65.1: the operation keeps its place until the body has returned, and blocks no thread", arguments: allBackends)
  func place(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      queue.maxConcurrentOperationCount = 3
      let (gate, begun, meter) = (AsyncGate(), Counter(), Counter())
      let operations = (0..<10).map { _ in
        queue.addTask {
          begun.increment()
          await gate.pass()
          meter.increment()
        }
      }
      // Three bodies are suspended at a time, on one worker.
      try begun.wait(for: 3, "three bodies to begin")
      giveOthersAChance()
      #expect(begun.value == 3 && operations.count { $0.isExecuting } == 3)
      #expect(operations.allSatisfy { $0.isAsynchronous })
      gate.open()
      try queue.drainInTime()
      #expect(meter.value == 10 && operations.allSatisfy { $0.isFinished && !$0.isExecuting })
    }
  }

  /// A thread that looks comes between the finish and what the finish does for others, such as waking them.
  @Test("row 65.7: the result is there as soon as the operation has finished", arguments: allBackends)
  func resultOfAFinished(backend: TestBackend) throws {
    try backend.withQueue { queue in
      var missing = 0
      for number in 0..<1_000 {
        let operation = queue.addTask { number }
        while !operation.isFinished {}
        if operation.result?.get() != number { missing += 1 }
      }
      #expect(missing == 0)
      try queue.drainInTime()
    }
  }

  @Test("row 65.2: the body runs on the queue's backend, before and after each suspension", arguments: allBackends)
  func stays(backend: TestBackend) throws {
    try backend.withBackend { pool in
      let noting = CountingBackend(pool)
      let queue = OperationQueue(backend: noting)
      let places = EventLog<OperationQueue?>()
      let operation = queue.addTask {
        places.append(OperationQueue.current)
        for _ in 0..<10 {
          await Task.yield()
          places.append(OperationQueue.current)
        }
        async let child: Void = places.append(OperationQueue.current)
        await child
        await elsewhere()
        places.append(OperationQueue.current)
      }
      try operation.finishInTime()
      #expect(places.count == 13 && places.events.allSatisfy { $0 === queue })
      // One for the start, one for each way back.
      #expect(noting.count.value >= 13)
      try queue.drainInTime()
    }
  }

  @Test("row 65.3: the body has the task-local values of where it was added", arguments: allBackends)
  func taskLocals(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let words = EventLog<String>()
      let blocker = BlockOperation {}
      let gate = Gate()
      blocker.addExecutionBlock { gate.pass() }
      let later = TaskWord.$word.withValue("made") {
        TaskOperation {
          words.append(TaskWord.word)
          await Task.yield()
          words.append(TaskWord.word)
        }
      }
      later.addDependency(blocker)
      TaskWord.$word.withValue("added") {
        queue.addOperation(later)
        queue.addTask { words.append(TaskWord.word) }
      }
      queue.addTask { words.append(TaskWord.word) }
      TaskWord.$word.withValue("elsewhere") { queue.addOperation(blocker) }
      gate.open()
      try queue.drainInTime()
      #expect(words.events.sorted() == ["", "added", "added", "added"])
    }
  }

  @Test("row 65.3: a body that a waiting thread lets go on has its own task-local values", arguments: allBackends)
  func taskLocalsBesideAWait(backend: TestBackend) throws {
    try backend.withQueue(workers: 1) { queue in
      let words = EventLog<String>()
      let outer = queue.addTask {
        TaskWord.$word.withValue("waiting") {
          // On the only worker.
          let inner = queue.addOperation(of: words)
          waitBlocking(inner)
        }
      }
      try outer.finishInTime()
      try queue.drainInTime()
      #expect(words.events == ["", ""])
    }
  }

  @Test("row 65.4: the task has the priority of the operation", arguments: allBackends)
  func priority(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let priorities: [(Operation.QueuePriority, TaskPriority)] = [
        (.veryLow, .background), (.low, .utility), (.normal, .medium), (.high, .userInitiated),
        (.veryHigh, TaskPriority(rawValue: 33)),
      ]
      for (priority, expected) in priorities {
        let seen = Monitor<TaskPriority?>(nil)
        let operation = queue.addTask(priority: priority) {
          let now = Task.currentPriority
          seen.with { $0 = now }
        }
        try operation.finishInTime()
        #expect(operation.queuePriority == priority && seen.value == expected)
      }
      let byQuality = TaskOperation { Task.currentPriority }
      byQuality.qualityOfService = .utility
      queue.addOperation(byQuality)
      try byQuality.finishInTime()
      #expect(byQuality.result == .success(.utility))
      try queue.drainInTime()
    }
  }

  @Test("row 65.5: cancel() cancels the task at once", arguments: allBackends)
  func cancelling(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let begun = Gate()
      let operation = queue.addTask {
        begun.open()
        var looks = 0
        while !Task.isCancelled {
          await Task.yield()
          looks += 1
        }
        try Task.checkCancellation()
        return looks
      }
      try begun.wait("the body to begin")
      operation.cancel()
      try operation.finishInTime()
      #expect(operation.isCancelled)
      #expect(throws: CancellationError.self) { try operation.result?.get() }
      try queue.drainInTime()
    }
  }

  @Test("row 65.5: a body that is cancelled before its start never runs, and is released", arguments: allBackends)
  func cancelledBefore(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let runs = Counter()
      func make(_ token: CountingToken) -> TaskOperation<Void, Never> {
        TaskOperation {
          runs.increment()
          withExtendedLifetime(token) {}
        }
      }
      let ended = Counter()
      var operations = (0..<4).map { _ in make(CountingToken(ended)) }
      queue.isSuspended = true
      operations[0].cancel()
      queue.addOperations(operations, waitUntilFinished: false)
      operations[1].cancel()
      queue.cancelAllOperations()
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(runs.value == 0 && operations.allSatisfy { $0.isFinished && $0.isCancelled && $0.result == nil })
      try ended.wait(for: 4, "the bodies to go")
      // One that nobody adds, and one that is cancelled by hand.
      operations = [make(CountingToken(ended))]
      operations[0].cancel()
      operations[0].start()
      #expect(operations[0].isFinished)
      operations = [make(CountingToken(ended))]
      operations = []
      try ended.wait(for: 6, "the bodies to go")
      #expect(runs.value == 0)
    }
  }

  @Test("row 65.6: dependencies, barriers, suspension and completion blocks", arguments: allBackends)
  func citizen(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let order = EventLog<Int>()
      let gate = AsyncGate()
      let first = TaskOperation {
        await gate.pass()
        order.append(1)
      }
      let second = TaskOperation { order.append(2) }
      second.addDependency(first)
      let completed = Gate()
      first.completionBlock = { completed.open() }
      queue.addOperations([second, first], waitUntilFinished: false)
      queue.addBarrierBlock { order.append(3) }
      queue.addTask { order.append(4) }
      giveOthersAChance()
      #expect(order.events.isEmpty && !second.isExecuting)
      gate.open()
      try queue.drainInTime()
      #expect(order.events == [1, 2, 3, 4])
      try completed.wait("the completion block")
      queue.isSuspended = true
      let third = queue.addTask { order.append(5) }
      giveOthersAChance()
      #expect(!third.isExecuting)
      #expect(third.whyNotStarted().description.contains("suspended"))
      queue.isSuspended = false
      try queue.drainInTime()
      #expect(order.events.last == 5)
    }
  }

  @Test("row 65.6: started by hand", arguments: allBackends)
  func byHand(backend: TestBackend) throws {
    let gate = AsyncGate()
    let operation = TaskOperation {
      await gate.pass()
      return 7
    }
    TaskWord.$word.withValue("by hand") { operation.start() }
    #expect(operation.isExecuting && operation.result == nil)
    gate.open()
    try operation.finishInTime()
    #expect(operation.result == .success(7))
  }

  @Test("row 65.7: the result is what the body returned or threw", arguments: allBackends)
  func results(backend: TestBackend) throws {
    try backend.withQueue { queue in
      let value = queue.addTask { "seven" }
      let failed = queue.addTask { () async throws(Refused) -> Int in throw Refused() }
      try queue.drainInTime()
      #expect(value.result == .success("seven"))
      #expect(failed.result == .failure(Refused()))
    }
  }

  @Test("row 65: thousands of bodies that suspend, with dependencies among them", arguments: allBackends)
  func many(backend: TestBackend) throws {
    try backend.withQueue { queue in
      for limit in [2, -1] {
        queue.maxConcurrentOperationCount = limit
        let runs = Counter()
        var last: Operation?
        for number in 0..<2_000 {
          let operation = TaskOperation {
            if number % 3 != 0 { await Task.yield() }
            runs.increment()
          }
          if number % 5 == 0, let last { operation.addDependency(last) }
          queue.addOperation(operation)
          last = operation
        }
        try queue.drainInTime("2,000 bodies")
        #expect(runs.value == 2_000)
      }
    }
  }
}

/// Counts the submits.
private final class CountingBackend: Backend {
  let name = "counting"
  let count = Counter()
  private let other: any Backend

  init(_ other: any Backend) { self.other = other }

  var workerCount: Int { other.workerCount }
  var replacesBlockedThreads: Bool { other.replacesBlockedThreads }

  func submit(_ job: Job) {
    count.increment()
    other.submit(job)
  }
}

/// Counts how many of its kind have gone.
private final class CountingToken: Sendable {
  private let ended: Counter
  init(_ ended: Counter) { self.ended = ended }
  deinit { ended.increment() }
}

/// Goes to another backend and back. The threads of Swift's own pool may all be in tests that block.
@concurrent private func elsewhere() async {
  await withTaskExecutorPreference(StealingBackend.shared.taskExecutor) { await Task.yield() }
}

private func waitBlocking(_ operation: Operation) { operation.waitUntilFinished() }

extension OperationQueue {
  fileprivate func addOperation(of words: EventLog<String>) -> Operation {
    let operation = TaskOperation {
      words.append(TaskWord.word)
      await Task.yield()
      words.append(TaskWord.word)
    }
    // Added from a thread without task-local values.
    let added = Gate()
    startThread {
      self.addOperation(operation)
      added.open()
    }
    added.pass()
    return operation
  }
}
