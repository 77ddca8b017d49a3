import OperationComposition
import Operations
import Synchronization
import TestSupport
import Testing

@Suite("Coalescing")
struct CoalescerTests {
  @Test("requests of one key share an operation, those of other keys do not", arguments: allBackends)
  func shares(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let coalescer = Coalescer<Int, Int>(queue: queue)
      let (gate, ran) = (AsyncGate(), Counter())
      let requests = (0..<300).map { number in
        coalescer.request(for: number % 3) {
          ran.increment()
          await gate.pass()
          return number
        }
      }
      #expect(coalescer.count == 3 && queue.operationCount == 3)
      gate.open()
      for (number, request) in requests.enumerated() {
        let value = try await request.value
        #expect(value == number % 3)
      }
      #expect(ran.value == 3 && coalescer.count == 0)
      // Nothing is kept: the next request begins anew.
      let again = try await coalescer.value(for: 0) { 100 + ran.increment() }
      #expect(again == 104 && coalescer.count == 0)
    }
  }

  @Test("the work goes on until the last request leaves, whoever made it", arguments: allBackends)
  func leaving(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let coalescer = Coalescer<String, Int>(queue: queue)
      let (started, gate, cancelled) = (AsyncGate(), AsyncGate(), Counter())
      let body: @Sendable () async throws -> Int = {
        started.open()
        await gate.pass()
        if Task.isCancelled { cancelled.increment() }
        return 1
      }
      // The one that made the operation is cancelled; its follower goes on and inherits nothing.
      let leader = AsynchronousTest.spawn { try await coalescer.value(for: "a", body) }
      await started.pass()
      let follower = coalescer.request(for: "a", body)
      leader.cancel()
      await #expect(throws: CancellationError.self) { try await leader.value }
      // The entry is there as long as the work runs.
      #expect(coalescer.count == 1)
      let third = coalescer.request(for: "a") {
        Issue.record("a second operation")
        return 3
      }
      #expect(queue.operationCount == 1)
      follower.cancel()
      #expect(follower.isCancelled)
      await #expect(throws: CancellationError.self) { try await follower.value }
      gate.open()
      let value = try await third.value
      #expect(value == 1 && cancelled.value == 0)
      await queue.drained()
      #expect(coalescer.count == 0)
    }
  }

  @Test("what a coalesced body asks for has its priority, and follows each change", arguments: allBackends)
  func priorityGoesDown(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let (joints, work) = (OperationQueue(backend: backend), OperationQueue(backend: backend))
      let (pictures, downloads) = (
        Coalescer<String, Int>(queue: joints), Coalescer<String, Int>(queue: work) { "download of \($0)" }
      )
      work.isSuspended = true
      let begun = AsyncGate()
      @Sendable func picture(_ name: String, _ priority: Operation.QueuePriority) -> CoalescedRequest<Int> {
        pictures.request(for: name, priority: priority) {
          // Two steps, as a picture is downloaded for its size and then drawn: the priority passes through both.
          try await pictures.value(for: "source of \(name)") {
            let download = downloads.request(for: "shared") { 1 }
            if downloads.count == 1 { begun.open() }
            return try await download.value
          }
        }
      }
      let first = picture("a", .veryLow)
      await begun.pass()
      let download = try #require(work.operations.first)
      #expect(download.queuePriority == .veryLow && download.name == "download of shared")
      first.priority = .high
      #expect(download.queuePriority == .high)
      // Another one that shares the download is more urgent, and leaves again.
      let second = picture("b", .veryHigh)
      while download.queuePriority != .veryHigh { await Task.yield() }
      second.cancel()
      while download.queuePriority != .high { await Task.yield() }
      // A request with a priority of its own follows nobody.
      let own = pictures.request(for: "c", priority: .low) {
        try await downloads.value(for: "own", priority: .veryHigh) { 2 }
      }
      while work.operationCount < 2 { await Task.yield() }
      own.priority = .normal
      #expect(work.operations.last?.queuePriority == .veryHigh)
      first.priority = .low
      #expect(download.queuePriority == .low)
      work.isSuspended = false
      let (value, ownValue) = (try await first.value, try await own.value)
      #expect(value == 1 && ownValue == 2 && downloads.count == 0)
    }
  }

  @Test("an operation that never began leaves no entry, also while its request is held", arguments: allBackends)
  func cancelledBeforeItsStart(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let coalescer = Coalescer<Int, Int>(queue: queue)
      let requests = (0..<10).map { number in coalescer.request(for: number) { number } }
      queue.cancelAllOperations()
      queue.isSuspended = false
      await queue.drained()
      for _ in 0..<100_000 where coalescer.count > 0 { await Task.yield() }
      #expect(coalescer.count == 0)
      for request in requests { await #expect(throws: CancellationError.self) { try await request.value } }
    }
  }

  @Test("cancel() ends a wait for the value at once", arguments: allBackends)
  func cancelEndsTheWait(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let coalescer = Coalescer<String, Int>(queue: queue)
      let (started, gate) = (AsyncGate(), AsyncGate())
      let stays = coalescer.request(for: "a") {
        started.open()
        await gate.pass()
        return 1
      }
      let leaves = coalescer.request(for: "a") { 2 }
      let wait = AsynchronousTest.spawn { try await leaves.value }
      await started.pass()
      leaves.cancel()
      await #expect(throws: CancellationError.self) { try await wait.value }
      gate.open()
      let value = try await stays.value
      #expect(value == 1)
    }
  }

  @Test(
    "when the last one leaves, the operation is cancelled, and a new request starts another", arguments: allBackends)
  func lastLeaves(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let coalescer = Coalescer<String, String>(queue: queue)
      let (started, gate) = (AsyncGate(), AsyncGate())
      let wasCancelled = Mutex(false)
      let old = coalescer.request(for: "a") {
        started.open()
        await gate.pass()
        wasCancelled.withLock { $0 = Task.isCancelled }
        return "old"
      }
      await started.pass()
      old.cancel()
      #expect(coalescer.count == 0)
      // The old one's body runs on, being cancelled. The new caller must not get its end.
      let new = coalescer.request(for: "a") { "new" }
      let value = try await new.value
      #expect(value == "new")
      let newest = coalescer.request(for: "a") { "newest" }
      gate.open()
      let last = try await newest.value
      #expect(last == "newest")
      await queue.drained()
      #expect(wasCancelled.withLock { $0 } && coalescer.count == 0)
    }
  }

  @Test("a request that nobody holds leaves", arguments: allBackends)
  func released(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let coalescer = Coalescer<Int, Int>(queue: queue)
      let ran = Counter()
      queue.isSuspended = true
      for key in 0..<100 { _ = coalescer.request(for: key) { ran.increment() } }
      #expect(coalescer.count == 0)
      queue.isSuspended = false
      await queue.drained()
      #expect(ran.value == 0)
    }
  }

  @Test("errors go to all who asked; operations that others cancel free their key", arguments: allBackends)
  func errors(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let coalescer = Coalescer<Int, Int>(queue: queue)
      let gate = AsyncGate()
      let requests = (0..<10).map { _ in
        coalescer.request(for: 1) {
          await gate.pass()
          throw Refused(number: 8)
        }
      }
      gate.open()
      for request in requests { await #expect(throws: Refused(number: 8)) { try await request.value } }
      #expect(coalescer.count == 0)
      queue.isSuspended = true
      let waiting = coalescer.request(for: 2) { 2 }
      queue.cancelAllOperations()
      let new = coalescer.request(for: 2) { 3 }
      queue.isSuspended = false
      await #expect(throws: CancellationError.self) { try await waiting.value }
      let value = try await new.value
      #expect(value == 3)
      waiting.cancel()
      #expect(coalescer.count == 0)
    }
  }

  @Test("the operation is as urgent as its most urgent request", arguments: allBackends)
  func priorities(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let coalescer = Coalescer<Int, Int>(queue: queue)
      func now() -> Operation.QueuePriority? { queue.operations.first?.queuePriority }
      let prefetch = coalescer.request(for: 1, priority: .veryLow) { 1 }
      #expect(now() == .veryLow)
      let visible = coalescer.request(for: 1, priority: .high) { 1 }
      #expect(now() == .high)
      prefetch.priority = .veryHigh
      #expect(now() == .veryHigh && prefetch.priority == .veryHigh)
      prefetch.priority = .low
      #expect(now() == .high)
      visible.cancel()
      #expect(now() == .low)
      // A request that has left changes nothing.
      visible.priority = .veryHigh
      #expect(now() == .low)
      // Threads that change priorities at the same time: the last values hold.
      let others = (0..<8).map { _ in coalescer.request(for: 1, priority: .low) { 1 } }
      await withTaskGroup(of: Void.self) { tasks in
        for (number, request) in others.enumerated() {
          tasks.addTask {
            for round in 0..<200 { request.priority = (round + number) % 2 == 0 ? .veryHigh : .veryLow }
            request.priority = .veryLow
          }
        }
      }
      #expect(now() == .low)
      queue.isSuspended = false
      await queue.drained()
    }
  }

  @Test("an operation whose body has ended is not cancelled by those who leave", arguments: allBackends)
  func leavingAfterTheEnd(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let log = EventTests.Log()
      let queue = ObservedOperationQueue(backend: backend, observers: [log])
      let coalescer = Coalescer<Int, Int>(queue: queue)
      for number in 0..<300 {
        let value = try await coalescer.value(for: 1) { number }
        #expect(value == number)
      }
      await queue.drained()
      try await AsynchronousTest.eventually("the events") { log.lines.events.count >= 900 }
      #expect(log.events.events.allSatisfy { $0.kind != .cancelled && !$0.isCancelled })
    }
  }

  @Test("100,000 requests of one key, of mixed priorities, each of which leaves")
  func manyOfOneKey() async throws {
    try await AsynchronousTest.run(on: .stealing) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let coalescer = Coalescer<Int, Int>(queue: queue)
      let requests = (0..<100_000).map { number in
        coalescer.request(for: 1, priority: number % 1000 == 0 ? .high : .low) { 1 }
      }
      #expect(queue.operations.map(\.queuePriority) == [.high])
      for (number, request) in requests.enumerated() where number % 1000 == 0 { request.cancel() }
      #expect(queue.operations.map(\.queuePriority) == [.low])
      for request in requests { request.cancel() }
      #expect(coalescer.count == 0)
      queue.isSuspended = false
      await queue.drained()
    }
  }

  @Test(
    "requests that come and leave at random: nothing is left, and every value is right", arguments: allBackends)
  func stress(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend, workers: 4) { backend in
      let queue = OperationQueue(backend: backend)
      queue.maxConcurrentOperationCount = 4
      let coalescer = Coalescer<Int, Int>(queue: queue)
      let wrong = Counter()
      await withTaskGroup(of: Void.self) { tasks in
        for producer in 0..<4 {
          tasks.addTask {
            var random = SeededGenerator(seed: UInt64(producer))
            for _ in 0..<part(500, of: 2_500) {
              let key = Int.random(in: 0..<16, using: &random)
              let request = coalescer.request(for: key, priority: Bool.random(using: &random) ? .low : .high) {
                if key % 3 == 0 { await Task.yield() }
                if key == 5 { throw Refused(number: 5) }
                return key * key
              }
              switch Int.random(in: 0..<4, using: &random) {
              case 0: request.cancel()
              case 1: request.priority = .veryHigh
              default:
                do {
                  if try await request.value != key * key { wrong.increment() }
                } catch {
                  if error as? Refused != Refused(number: 5) { wrong.increment() }
                }
              }
            }
          }
        }
      }
      await queue.drained()
      #expect(wrong.value == 0 && coalescer.count == 0)
    }
  }

  @Test("the closure that names an operation may use the coalescer", arguments: allBackends)
  func nameWithoutALock(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.isSuspended = true
      let box = Mutex<Coalescer<Int, Int>?>(nil)
      let coalescer = Coalescer<Int, Int>(queue: queue) { _ in "\(box.withLock { $0 }?.count ?? -1) of them" }
      box.withLock { $0 = coalescer }
      let request = coalescer.request(for: 7) { 1 }
      #expect(queue.operations.map(\.name) == ["1 of them"])
      queue.isSuspended = false
      let value = try await request.value
      #expect(value == 1)
      box.withLock { $0 = nil }
    }
  }

  @Test("a request at normal is at normal, whatever the queue's quality of service", arguments: allBackends)
  func normalIsSaid(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      queue.qualityOfService = .background
      queue.maxConcurrentOperationCount = 1
      queue.isSuspended = true
      let (coalescer, order) = (Coalescer<String, Void>(queue: queue), EventLog<String>())
      let requests = [Operation.QueuePriority.low, .normal].map { priority in
        coalescer.request(for: "\(priority.rawValue)", priority: priority) { order.append("\(priority.rawValue)") }
      }
      queue.isSuspended = false
      for request in requests { try await request.value }
      #expect(order.events == ["0", "-4"])
    }
  }

  @Test(
    "a body that asks for its own key is told so, also through others, and the key is free again",
    arguments: allBackends)
  func circle(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let pages = Coalescer<String, Int>(queue: queue)
      let next = ["itself": "itself", "a": "b", "b": "a", "c": "d", "d": "e", "e": "c", "tail": "a", "last": "end"]
      @Sendable func depth(_ page: String) async throws -> Int {
        try await pages.value(for: page) {
          guard let link = next[page] else { return 0 }
          return try await depth(link) + 1
        }
      }
      for page in ["itself", "a", "c", "tail"] {
        let error = await #expect(throws: CircularWait.self) { try await depth(page) }
        if page == "itself" { #expect(error?.description.contains("itself") == true) }
        if page == "a" { #expect(error?.description.contains("a") == true && error?.description.contains("b") == true) }
        #expect(pages.count == 0)
      }
      let value = try await depth("last")
      #expect(value == 1)
      // A body may ask for its own key and not wait.
      let asks = try await pages.value(for: "x") {
        let own = pages.request(for: "x") { 9 }
        own.priority = .high
        return 5
      }
      #expect(asks == 5)
      await queue.drained()
      #expect(pages.count == 0)
    }
  }

  @Test("a wait for itself that nobody can see ends when all others have left", arguments: allBackends)
  func hiddenCircle(backend: TestBackend) async throws {
    try await AsynchronousTest.run(on: backend) { backend in
      let queue = OperationQueue(backend: backend)
      let pages = Coalescer<String, Int>(queue: queue)
      let asked = AsyncGate()
      let asker = pages.request(for: "a") {
        // A task of its own: nobody knows that the body waits for it.
        let task = Task {
          let own = pages.request(for: "a") { 1 }
          asked.open()
          return try await own.value
        }
        return try await task.value
      }
      await asked.pass()
      asker.cancel()
      await queue.drained()
      #expect(pages.count == 0)
    }
  }

  @Test("20,000 bodies, each of which asks for the next key: raised, and then cancelled")
  func longChain() async throws {
    try await AsynchronousTest.run(on: .stealing) { backend in
      let (queue, count) = (OperationQueue(backend: backend), 20_000)
      let chain = Coalescer<Int, Int>(queue: queue)
      @Sendable func link(_ number: Int, _ end: AsyncGate, _ gate: AsyncGate) -> CoalescedRequest<Int> {
        chain.request(for: number, priority: number == 0 ? .low : nil) {
          if number == count - 1 {
            end.open()
            await gate.pass()
            return number
          }
          return try await link(number + 1, end, gate).value
        }
      }
      let (end, gate) = (AsyncGate(), AsyncGate())
      let first = link(0, end, gate)
      await end.pass()
      first.priority = .veryHigh
      #expect(queue.operations.last?.queuePriority == .veryHigh)
      gate.open()
      let value = try await first.value
      #expect(value == count - 1)
      await queue.drained()
      let (otherEnd, otherGate) = (AsyncGate(), AsyncGate())
      let again = link(0, otherEnd, otherGate)
      await otherEnd.pass()
      again.cancel()
      otherGate.open()
      await queue.drained()
      #expect(chain.count == 0)
    }
  }
}
