import Operations
import TestSupport
import Testing

/// Row 54: the image loader of the tutorials, on every backend.
@Suite("Tutorial: image loader")
struct ImageLoaderTests {
  private func withLoader(
    _ backend: TestBackend, _ body: (ImageLoader, FakeServer, EventLog<String>) throws -> Void
  ) throws {
    try backend.withBackend { backend in
      let server = FakeServer()
      let loader = ImageLoader(server: server, backend: backend)
      try body(loader, server, EventLog<String>())
      try loader.settle()
    }
  }

  @Test("row 54: at most six downloads at a time, each image delivered", arguments: allBackends)
  func atMostSix(backend: TestBackend) throws {
    try withLoader(backend) { loader, server, log in
      for index in 0..<40 { loader.load("\(index)") { log.append($0 ?? "failed") } }
      try eventually("six downloads") { server.meter.current == 6 }
      giveOthersAChance()
      #expect(server.meter.current == 6)
      server.gate.open()
      try log.wait(count: 40, "40 images")
      #expect(Set(log.events) == Set((0..<40).map { "image of \($0)" }))
      #expect(server.meter.maximum == 6)
    }
  }

  @Test("row 54: a second request joins the first, a third comes from memory", arguments: allBackends)
  func joins(backend: TestBackend) throws {
    try withLoader(backend) { loader, server, log in
      let first = loader.load("a") { log.append("first \($0 ?? "failed")") }
      let second = loader.load("a") { log.append("second \($0 ?? "failed")") }
      #expect(first === second)
      server.gate.open()
      try log.wait(count: 2, "both handlers")
      #expect(loader.load("a") { log.append("third \($0 ?? "failed")") } == nil)
      #expect(log.events == ["first image of a", "second image of a", "third image of a"])
      #expect(server.requests.value == ["a": 1])
    }
  }

  @Test("row 54: a failed download can be retried", arguments: allBackends)
  func retries(backend: TestBackend) throws {
    try withLoader(backend) { loader, server, log in
      server.gate.open()
      server.broken.with { $0 = ["a"] }
      loader.load("a") { log.append($0 ?? "failed") }
      try log.wait(count: 1, "the failure")
      server.broken.with { $0 = [] }
      loader.load("a") { log.append($0 ?? "failed") }
      try log.wait(count: 2, "the second attempt")
      #expect(log.events == ["failed", "image of a"])
      #expect(server.requests.value == ["a": 2])
    }
  }

  @Test("row 54: what scrolled away is cancelled, running or not; the rest arrives", arguments: allBackends)
  func scrolling(backend: TestBackend) throws {
    try withLoader(backend) { loader, server, log in
      let operations = (0..<20).map { index in loader.load("\(index)") { log.append($0 ?? "failed \(index)") } }
      try eventually("six downloads") { server.meter.current == 6 }
      for operation in operations.prefix(10) { operation?.cancel() }
      try eventually("six others to take the places") { server.requests.with { $0.count } >= 12 }
      server.gate.open()
      try log.wait(count: 20, "all handlers")
      let expected = (0..<10).map { "failed \($0)" } + (10..<20).map { "image of \($0)" }
      #expect(Set(log.events) == Set(expected))
      // What was cancelled before it started never reached the server.
      #expect(server.requests.value.count == 16)
    }
  }

  @Test("row 54: what is on screen now overtakes what waits", arguments: allBackends)
  func urgency(backend: TestBackend) throws {
    try withLoader(backend) { loader, server, log in
      loader.queue.maxConcurrentOperationCount = 1
      loader.load("running") { log.append($0 ?? "failed") }
      try eventually("one download") { server.meter.current == 1 }
      let later = (0..<5).map { index in loader.load("\(index)") { log.append($0 ?? "failed") } }
      loader.load("urgent", urgent: true) { log.append($0 ?? "failed") }
      later[3]?.queuePriority = .high
      server.gate.open()
      try log.wait(count: 7, "all images")
      let order = ["running", "urgent", "3", "0", "1", "2", "4"]
      #expect(log.events == order.map { "image of \($0)" })
    }
  }

  @Test(
    "row 54: a memory warning drops the cache and cancels everything; the disk cache remains",
    arguments: allBackends)
  func memoryWarning(backend: TestBackend) throws {
    try withLoader(backend) { loader, server, log in
      server.gate.open()
      loader.load("kept") { log.append($0 ?? "failed") }
      try log.wait(count: 1, "the first image")
      try loader.queue.drainInTime()
      #expect(loader.inMemory == 1)
      loader.queue.isSuspended = true
      for index in 0..<30 { loader.load("\(index)") { log.append($0 ?? "failed") } }
      loader.memoryWarning()
      #expect(loader.inMemory == 0)
      loader.queue.isSuspended = false
      try loader.queue.drainInTime()
      try log.wait(count: 31, "all handlers")
      #expect(log.events.filter { $0 == "failed" }.count == 30)
      #expect(server.requests.value == ["kept": 1])
      loader.load("kept") { log.append("again \($0 ?? "failed")") }
      #expect(log.events.last == "again image of kept" && server.requests.value == ["kept": 1])
      loader.load("0") { log.append($0 ?? "failed") }
      try log.wait(count: 33, "a download after the warning")
      #expect(log.events.last == "image of 0")
    }
  }
}
