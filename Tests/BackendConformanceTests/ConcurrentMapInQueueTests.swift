import DeterministicOperations
import Operations
import TestSupport
import Testing

/// Row 74: the asynchronous map on a queue.
@Suite("A map in a queue")
struct ConcurrentMapInQueueTests {
  struct Refused: Error, Equatable { var number = 0 }

  private func queue(on backend: TestBackend, limit: Int = -1) -> OperationQueue {
    OperationQueue(backend: backend.leftRunning(), maxConcurrentOperationCount: limit)
  }

  @Test("row 74.1: results stand in the order of the elements", arguments: allBackends)
  func order(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      for (queueLimit, limit) in [(-1, nil), (-1, 3), (2, nil), (2, 1), (2, 100)] as [(Int, Int?)] {
        let queue = queue(on: backend, limit: queueLimit)
        for count in [0, 1, 2, 3, 50] {
          let numbers = try await (0..<count).concurrentMap(in: queue, limit: limit) { number in
            // The later ones end first.
            for _ in 0..<(number % 7) { await Task.yield() }
            return number * 2
          }
          #expect(numbers == (0..<count).map { $0 * 2 })
        }
        await queue.drained()
        // A sequence that is no collection.
        let words = try await sequence(first: 1) { $0 < 5 ? $0 + 1 : nil }.concurrentMap(in: queue, limit: limit) {
          "\($0)"
        }
        #expect(words == ["1", "2", "3", "4", "5"])
      }
    }
  }

  @Test(
    "row 74.2: no more run than the queue's limit, no more are in the queue than the map's", arguments: allBackends)
  func limits(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      for (queueLimit, limit, most) in [(3, nil, 3), (-1, 2, 2), (4, 2, 2), (2, 5, 2)] as [(Int, Int?, Int)] {
        let queue = queue(on: backend, limit: queueLimit)
        let meter = ConcurrencyMeter()
        let mostWaiting = Monitor(0)
        _ = try await (0..<60).concurrentMap(in: queue, limit: limit) { _ in
          meter.enter()
          let waiting = queue.operations.count { !$0.isExecuting && !$0.isFinished }
          mostWaiting.with { $0 = max($0, waiting) }
          await Task.yield()
          meter.leave()
        }
        #expect(meter.total == 60 && meter.maximum <= most)
        if let limit { #expect(mostWaiting.value <= limit) }
      }
    }
  }

  @Test("row 74.2: the calls are operations of the queue, with its settings", arguments: allBackends)
  func operations(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let queue = queue(on: backend)
      queue.isSuspended = true
      let begun = Counter()
      let map = AsynchronousTest.spawn {
        try await [1, 2, 3].concurrentMap(in: queue, priority: .high) { number in
          begun.increment()
          return OperationQueue.current === queue ? number : 0
        }
      }
      try await AsynchronousTest.eventually("three operations") { queue.operationCount == 3 }
      #expect(queue.operations.allSatisfy { $0.queuePriority == .high } && begun.value == 0)
      queue.isSuspended = false
      let numbers = try await map.value
      #expect(numbers == [1, 2, 3])
    }
  }

  @Test("row 74.3: the first error cancels the others, and comes when all have ended", arguments: allBackends)
  func error(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      for limit in [nil, 4] as [Int?] {
        let queue = queue(on: backend)
        let (gate, begun, ended, cancelled) = (AsyncGate(), Counter(), Counter(), Counter())
        let firstThree = Counter()
        let map = AsynchronousTest.spawn {
          try await (0..<40).concurrentMap(in: queue, limit: limit) { number in
            begun.increment()
            defer { ended.increment() }
            if number <= 2 { firstThree.increment() }
            if number == 2 {
              // The first ones have begun.
              await gate.pass()
              throw Refused(number: number)
            }
            if number < 2 {
              while !Task.isCancelled { await Task.yield() }
              cancelled.increment()
              // A body may go on, and may throw something else.
              await Task.yield()
              throw Refused(number: -1)
            }
            return number
          }
        }
        try await AsynchronousTest.eventually("the first three calls") { firstThree.value == 3 }
        gate.open()
        await #expect(throws: Refused(number: 2)) { try await map.value }
        #expect(begun.value == ended.value && cancelled.value == 2 && queue.operationCount == 0)
      }
    }
  }

  @Test("row 74.4: cancelling the waiting task cancels the calls, and waits for them", arguments: allBackends)
  func cancelling(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      for limit in [nil, 2] as [Int?] {
        let queue = queue(on: backend, limit: 2)
        let (begun, ended) = (Counter(), Counter())
        let map = AsynchronousTest.spawn {
          try await (0..<100).concurrentMap(in: queue, limit: limit) { _ in
            begun.increment()
            defer { ended.increment() }
            while !Task.isCancelled { await Task.yield() }
            for _ in 0..<5 { await Task.yield() }
          }
        }
        try await AsynchronousTest.eventually("two calls") { begun.value == 2 }
        map.cancel()
        await #expect(throws: CancellationError.self) { try await map.value }
        #expect(begun.value == 2 && ended.value == 2)
        await queue.drained()
        // A task that was cancelled before.
        let late = AsynchronousTest.spawn {
          withUnsafeCurrentTask { $0?.cancel() }
          return try await [1, 2].concurrentMap(in: queue) { number in
            begun.increment()
            return number
          }
        }
        await #expect(throws: CancellationError.self) { try await late.value }
        #expect(begun.value == 2)
        await queue.drained()
      }
    }
  }

  @Test("row 74.4: cancelAllOperations of the queue ends the map, and nothing begins after it", arguments: allBackends)
  func cancelAll(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      for limit in [nil, 3] as [Int?] {
        let queue = queue(on: backend, limit: 3)
        let (gate, begun) = (AsyncGate(), Counter())
        let map = AsynchronousTest.spawn {
          try await (0..<100).concurrentMap(in: queue, limit: limit) { number in
            begun.increment()
            await gate.pass()
            return number
          }
        }
        try await AsynchronousTest.eventually("three calls") {
          begun.value == 3 && queue.operationCount == limit ?? 100
        }
        queue.cancelAllOperations()
        gate.open()
        await #expect(throws: CancellationError.self) { try await map.value }
        #expect(begun.value == 3 && queue.operationCount == 0)
      }
    }
  }

  @Test("row 74.4: cancelAllOperations while the map adds its calls", arguments: allBackends)
  func cancelAllWhileAdding(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let queue = queue(on: backend, limit: 3)
      for _ in 0..<20 {
        let begun = Counter()
        let map = AsynchronousTest.spawn {
          try await (0..<300).concurrentMap(in: queue) { number in
            begun.increment()
            while !Task.isCancelled { await Task.yield() }
            return number
          }
        }
        try await AsynchronousTest.eventually("a call") { begun.value > 0 }
        queue.cancelAllOperations()
        // A call that came later, and had begun before it was cancelled, would go on for ever.
        await #expect(throws: CancellationError.self) { try await map.value }
        #expect(queue.operationCount == 0)
      }
    }
  }

  @Test("row 74.4: one call that is cancelled before its start ends the map", arguments: allBackends)
  func cancelOne(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let queue = queue(on: backend)
      queue.isSuspended = true
      let begun = Counter()
      let map = AsynchronousTest.spawn {
        try await (0..<5).concurrentMap(in: queue) { number in
          begun.increment()
          return number
        }
      }
      try await AsynchronousTest.eventually("five operations") { queue.operationCount == 5 }
      queue.operations[3].cancel()
      queue.isSuspended = false
      await #expect(throws: CancellationError.self) { try await map.value }
      #expect(begun.value <= 4 && queue.operationCount == 0)
    }
  }

  @Test("row 74.2: a map in an operation of another queue, and many maps in one queue", arguments: allBackends)
  func nested(backend: TestBackend) async throws {
    try await AsynchronousTest.run {
      let shared = backend.leftRunning()
      let (outer, inner) = (
        OperationQueue(backend: shared), OperationQueue(backend: shared, maxConcurrentOperationCount: 3)
      )
      let sums = try await (0..<10).concurrentMap(in: outer) { row in
        let numbers: [Int] = try await (0..<10).concurrentMap(in: inner, limit: 2) { row * 10 + $0 }
        return numbers.reduce(0, +)
      }
      #expect(sums.reduce(0, +) == 4_950)
    }
  }

  @Test("row 74.1: in a deterministic test, from the body of the test", arguments: 1...20)
  func deterministic(seed: Int) async throws {
    try await AsynchronousTest.run {
      let numbers = try await withDeterministicOperations(seed: UInt64(seed)) { backend in
        let queue = OperationQueue(backend: backend, maxConcurrentOperationCount: 2)
        return try await (0..<20).concurrentMap(in: queue, limit: 4) { number in
          await Task.yield()
          return number
        }
      }
      #expect(numbers == Array(0..<20))
    }
  }

  @Test("row 74.3: nothing is kept: elements, results and the closure go with the call", arguments: allBackends)
  func lifetime(backend: TestBackend) async throws {
    let tracker = LifetimeTracker()
    try await AsynchronousTest.run {
      let queue = queue(on: backend)
      for limit in [nil, 2] as [Int?] {
        let kept = tracker.token()
        let elements = (0..<20).map { _ in tracker.token() }
        let values = try await elements.concurrentMap(in: queue, limit: limit) { _ in
          withExtendedLifetime(kept) { tracker.token() }
        }
        #expect(values.count == 20)
        await #expect(throws: Refused.self) {
          try await elements.concurrentMap(in: queue, limit: limit) { _ in
            try withExtendedLifetime(kept) { throw Refused() }
          }
        }
      }
      await queue.drained()
    }
    try tracker.waitUntilAllReleased("everything of the maps")
  }
}
