import OperationComposition
import Operations
import TestSupport
import Testing

@Suite("Mutual exclusion")
struct MutualExclusionTests {
  @Test("one operation of a key at a time, in their order, in any queue", arguments: allBackends)
  func oneAtATime(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, workers: 4) { backend in
      let exclusion = MutualExclusion<Int>(backend: backend)
      let queues = (0..<3).map { _ in OperationQueue(backend: backend) }
      let meters = (0..<5).map { _ in ConcurrencyMeter() }
      let logs = (0..<5).map { _ in EventLog<Int>() }
      for number in 0..<500 {
        let key = number % 5
        queues[number % 3].addTask(conditions: [exclusion.turn(of: key)]) {
          meters[key].enter()
          logs[key].append(number)
          if number % 7 == 0 { await Task.yield() }
          meters[key].leave()
        }
      }
      for queue in queues { await queue.drained() }
      #expect(meters.allSatisfy { $0.maximum == 1 && $0.total == 100 })
      #expect(logs.allSatisfy { $0.events == $0.events.sorted() })
      // The last turns end behind their operations.
      while exclusion.keyCount > 0 { await Task.yield() }
    }
  }

  @Test("who is cancelled in the line lets nobody through", arguments: allBackends)
  func cancelledInTheLine(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (queue, exclusion) = (OperationQueue(backend: backend), MutualExclusion<String>(backend: backend))
      let (started, gate, log) = (AsyncGate(), AsyncGate(), EventLog<String>())
      let first = queue.addTask(conditions: [exclusion.turn(of: "file")]) {
        log.append("first begins")
        started.open()
        await gate.pass()
        log.append("first ends")
      }
      let second = queue.addTask(conditions: [exclusion.turn(of: "file")]) { log.append("second") }
      let third = queue.addTask(conditions: [exclusion.turn(of: "file")]) { log.append("third") }
      await started.pass()
      second.cancel()
      await second.finished()
      for _ in 0..<100 { await Task.yield() }
      #expect(log.events == ["first begins"] && !third.isFinished)
      gate.open()
      try await first.value
      try await third.value
      #expect(log.events == ["first begins", "first ends", "third"])
    }
  }

  @Test("several keys: no deadlock, whatever their order", arguments: allBackends)
  func severalKeys(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, workers: 4) { backend in
      let exclusion = MutualExclusion<Int>(backend: backend)
      let meters = (0..<6).map { _ in ConcurrencyMeter() }
      await withTaskGroup(of: Void.self) { tasks in
        for producer in 0..<4 {
          tasks.addTask {
            var random = SeededGenerator(seed: UInt64(producer))
            let queue = OperationQueue(backend: backend)
            queue.maxConcurrentOperationCount = 2
            for _ in 0..<100 {
              let (a, b) = (Int.random(in: 0..<6, using: &random), Int.random(in: 0..<6, using: &random))
              let operation = BlockOperation {
                for key in Set([a, b]) { meters[key].enter() }
                for key in Set([a, b]) { meters[key].leave() }
              }
              exclusion.order(operation, by: a, b)
              queue.addOperation(operation)
            }
            await queue.drained()
          }
        }
      }
      #expect(meters.allSatisfy { $0.maximum <= 1 } && meters.map(\.total).reduce(0, +) > 400)
      while exclusion.keyCount > 0 { await Task.yield() }
    }
  }

  @Test("an operation may be ordered twice by the same key", arguments: allBackends)
  func twiceByOneKey(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (queue, exclusion, log) = (
        OperationQueue(backend: backend), MutualExclusion<String>(backend: backend), EventLog<Int>()
      )
      for number in 1...3 {
        let operation = BlockOperation { log.append(number) }
        exclusion.order(operation, by: "a")
        exclusion.order(operation, by: "a", "b")
        queue.addOperation(operation)
      }
      queue.addTask(conditions: [exclusion.turn(of: "a"), exclusion.turn(of: "a")]) { log.append(4) }
      await queue.drained()
      #expect(log.events == [1, 2, 3, 4])
      while exclusion.keyCount > 0 { await Task.yield() }
    }
  }

  @Test("an operation that awaits another one of its own key is told so", arguments: allBackends)
  func takenTwice(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (queue, exclusion) = (OperationQueue(backend: backend), MutualExclusion<String>(backend: backend))
      let outer = queue.addTask(name: "outer", conditions: [exclusion.turn(of: "file")]) {
        try await queue.addTask(name: "inner", conditions: [exclusion.turn(of: "file")]) { 1 }.value
      }
      let error = await #expect(throws: CircularWait.self) { try await outer.value }
      #expect(error?.description.contains("\"outer\"") == true && error?.description.contains("\"inner\"") == true)
      await queue.drained()
      try await AsynchronousTest.eventually("the key to be free") { exclusion.keyCount == 0 }
    }
  }
}
