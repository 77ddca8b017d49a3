#if HTTP
  import HTTPTransport
  import ImagePipeline
  import PictureServer
  import Synchronization
  import Testing

  private struct Refused: Error {}

  /// How a request ends early, and how many connections there are.
  @Suite struct CancellationTests {
    @Test(arguments: ["stall", "stall=5000", "endless", "slow=1000", "delay=3600000"])
    func cancellingClosesTheConnection(_ fault: String) async throws {
      try await withServer { subject in
        let inbox = Inbox()
        let task = Task {
          try await subject.transport.send(
            subject.request("/picture/1.jpg?\(fault)"), head: inbox.head, chunk: inbox.chunk)
        }
        try await eventually("asked") {
          switch fault {
          case "delay=3600000": subject.server.statistics.requests == 1
          case "stall": !inbox.reception.heads.isEmpty
          default: inbox.reception.chunks > 0
          }
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await eventually("closed") { subject.server.statistics.openConnections == 0 }
        #expect(subject.server.statistics.cancelledRequests == 1)
        #expect(try await subject.get("/picture/1.jpg").body == bytesAt(1))
      }
    }

    @Test func cancellingBeforeTheStart() async throws {
      try await withServer { subject in
        let task = Task {
          withUnsafeCurrentTask { $0?.cancel() }
          try await subject.transport.send(subject.request("/picture/1.jpg"), head: { _ in }, chunk: { _ in })
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(subject.server.statistics.requests == 0)
      }
    }

    @Test func cancellingWhileWaitingForATurn() async throws {
      try await withServer(connectionsPerHost: 1) { subject in
        let first = Task { try await subject.get("/picture/1.jpg?stall") }
        try await eventually("asked") { subject.server.statistics.requests == 1 }
        let waiting = (2..<6).map { index in Task { try await subject.get("/picture/\(index).jpg") } }
        try await Task.sleep(for: .milliseconds(20))
        for task in waiting[..<2] {
          task.cancel()
          let failure = await #expect(throws: Failure.self) { try await task.value }
          #expect(failure?.error is CancellationError)
        }
        #expect(subject.server.statistics.requests == 1)
        first.cancel()
        for (index, task) in waiting.enumerated().dropFirst(2) {
          #expect(try await task.value.body == bytesAt(index + 2))
        }
        #expect(subject.server.statistics.requests == 3)
      }
    }

    @Test func anErrorOfHeadIsThrownOn() async throws {
      try await withServer { subject in
        for fault in ["endless", "stall", "slow=1000"] {
          await #expect(throws: Refused.self) {
            try await subject.transport.send(
              subject.request("/picture/1.jpg?\(fault)"), head: { _ in throw Refused() }, chunk: { _ in Issue.record() }
            )
          }
          try await eventually("closed") { subject.server.statistics.openConnections == 0 }
        }
        #expect(subject.server.statistics.cancelledRequests == 3)
      }
    }

    @Test func anErrorOfChunkIsThrownOn() async throws {
      try await withServer { subject in
        for fault in ["endless", "stall=5000", "slow=1000"] {
          let calls = Mutex(0)
          await #expect(throws: Refused.self) {
            try await subject.transport.send(subject.request("/picture/1.jpg?\(fault)"), head: { _ in }) { _ in
              calls.withLock { $0 += 1 }
              throw Refused()
            }
          }
          #expect(calls.withLock { $0 } == 1)
          try await eventually("closed") { subject.server.statistics.openConnections == 0 }
        }
        #expect(subject.server.statistics.cancelledRequests == 3)
      }
    }

    @Test func anEndlessBodyIsNotKept() async throws {
      try await withServer { subject in
        let received = Mutex(0)
        await #expect(throws: Refused.self) {
          try await subject.transport.send(subject.request("/picture/1.jpg?endless"), head: { _ in }) { bytes in
            let total = received.withLock {
              $0 += bytes.count
              return $0
            }
            if total > 20_000_000 { throw Refused() }
          }
        }
        try await eventually("closed") { subject.server.statistics.openConnections == 0 }
        // What lies between is in the buffers of the kernel and the client.
        #expect(subject.server.statistics.bytesSent < 40_000_000)
      }
    }

    @Test func theNumberOfConnectionsIsLimited() async throws {
      try await withServer { subject in
        try await withThrowingTaskGroup { group in
          for index in 0..<200 {
            group.addTask {
              try await subject.expectPicture(index % 100, "?delay=5")
            }
          }
          try await group.waitForAll()
        }
        let statistics = subject.server.statistics
        #expect(statistics.requests == 200)
        #expect(statistics.largestOpenConnections == 8)
        #expect(statistics.acceptedConnections == 8)
      }
    }

    @Test func waitingForATurnHasNoTimeLimit() async throws {
      try await withServer(connectionsPerHost: 1, connectTimeout: .seconds(1)) { subject in
        try await withThrowingTaskGroup { group in
          for index in 0..<5 {
            group.addTask {
              try await subject.expectPicture(index, "?delay=500")
            }
          }
          try await group.waitForAll()
        }
        #expect(subject.server.statistics.largestOpenConnections == 1)
      }
    }

    @Test func manyAreCancelledAtOnce() async throws {
      try await withServer { subject in
        let tasks = (0..<200).map { index in
          Task { try await subject.get("/picture/\(index % 100).jpg?slow=50000") }
        }
        try await eventually("asked") { subject.server.statistics.requests >= 8 }
        for task in tasks { task.cancel() }
        for task in tasks {
          let failure = await #expect(throws: Failure.self) { try await task.value }
          #expect(failure?.error is CancellationError)
        }
        try await eventually("closed") { subject.server.statistics.openConnections == 0 }
        #expect(try await subject.get("/picture/1.jpg").body == bytesAt(1))
      }
    }
  }
#endif
