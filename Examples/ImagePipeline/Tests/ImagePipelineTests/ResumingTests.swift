import ImagePipeline
import Operations
import Pictures
import Testing

@Suite("Resuming")
struct ResumingTests {
  @Test("an attempt goes on where the last one broke off", arguments: Surroundings.allCases)
  func withinAttempts(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(chunkSize: 50, forgets: true) {
      $0.backoff = .zero
    } test: { (_, network, pipeline) async throws in
      let bytes = Sample.png(1)
      network.serve(HTTPRuleTests.file(1), at: url(1))
      // The second cut counts from where the rest begins. The third request breaks off before the head.
      network.script([.cut(after: 150), .cut(after: 100), .refused], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(network.requests.map { $0.headers["range"] } == [nil, "bytes=150-", "bytes=250-", "bytes=250-"])
      #expect(network.requests.dropFirst().allSatisfy { $0.headers["if-range"] == "\"a\"" })
      #expect(pipeline.statistics[.bytes] == bytes.count && pipeline.statistics[.retries] == 3)
      #expect(pipeline.statistics[.resumedBytes] == 150 + 250)
    }
  }

  @Test("Last-Modified is a validator where there is no tag", arguments: Surroundings.allCases)
  func lastModified(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(seeds: 1...4, forgets: true) {
      $0.backoff = .zero
    } test: { (_, network, pipeline) async throws in
      network.serve(HTTPRuleTests.file(1) { ($0.etag, $0.lastModified) = (nil, "Thu, 01 Jan 1970") }, at: url(1))
      network.script([.cut(after: 200)], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(network.requests[1].headers["if-range"] == "Thu, 01 Jan 1970")
      // Without a validator, or without ranges, all is fetched again.
      network.serve(HTTPRuleTests.file(2) { $0.etag = nil }, at: url(2))
      network.serve(HTTPRuleTests.file(3) { $0.acceptsRanges = false }, at: url(3))
      for number in 2...3 {
        network.script([.cut(after: 200)], at: url(number))
        #expect(try await pipeline.image(for: ImageRequest(number)) == Sample.picture(number))
        #expect(network.requests(of: url(number)).allSatisfy { $0.headers["range"] == nil })
      }
    }
  }

  @Test("a download that failed goes on in another pipeline, through the disk", arguments: Surroundings.allCases)
  func acrossPipelines(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      network.serve(HTTPRuleTests.file(1), at: url(1))
      network.script([.cut(after: 200)], at: url(1))
      let first = stage.forgetful(network, try folder.cache()) { $0.maximumAttempts = 1 }
      await #expect(throws: TransportError.self) { try await first.image(for: ImageRequest(1)) }
      await first.shutdown()
      #expect(folder.files.count == 1)
      let second = stage.forgetful(network, try folder.cache())
      #expect(try await second.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(network.requests.last?.headers["range"] == "bytes=200-")
      #expect(second.statistics[.resumedBytes] == 200)
      try await stage.settled(second)
      // The whole file has taken the place of the part.
      let cache = try folder.cache()
      #expect(cache.part(for: url(1)) == nil && cache.entry(for: url(1))?.bytes == Sample.png(1) && cache.count == 1)
    }
  }

  @Test("a download that was left keeps its part, whoever ends it", arguments: Surroundings.allCases)
  func leftDownloads(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...30) { stage in
      for way in 0..<4 {
        let (network, folder) = (SimulatedNetwork(stage, chunkSize: 100), Folder())
        network.serve(HTTPRuleTests.file(1), at: url(1))
        network.script([.stall(after: 200)], at: url(1))
        let pipeline = stage.forgetful(network, try folder.cache())
        let task = pipeline.task(for: ImageRequest(1))
        try await stage.until("the bytes") { pipeline.statistics[.bytes] == 200 }
        switch way {
        case 0: task.cancel()
        case 1: pipeline.memoryWarning()
        case 2: await pipeline.shutdown()
        default: pipeline.queues.fetch.cancelAllOperations()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        try await stage.expectNothingLeft(pipeline, network)
        let part = try folder.cache().part(for: url(1))
        #expect(part?.bytes == Array(Sample.png(1).prefix(200)) && part?.etag == "\"a\"", "way \(way)")
        // The next one ends before the head of the answer: the part is still there.
        network.script([.stall(after: nil)], at: url(1))
        let next = stage.forgetful(network, try folder.cache())
        let leaves = next.task(for: ImageRequest(1))
        try await stage.until("the request") { network.running == 1 }
        leaves.cancel()
        try await stage.expectNothingLeft(next, network)
        #expect(try folder.cache().part(for: url(1))?.bytes.count == 200)
        #expect(try await next.image(for: ImageRequest(1)) == Sample.picture(1))
        #expect(network.requests.last?.headers["range"] == "bytes=200-")
        try await stage.expectNothingLeft(next, network)
      }
    }
  }

  @Test("a file that has changed is fetched whole", arguments: Surroundings.allCases)
  func changedTag(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(seeds: 1...6, forgets: true) {
      $0.backoff = .zero
    } test: { (_, network, pipeline) async throws in
      network.serve(HTTPRuleTests.file(1), at: url(1))
      network.script(
        [
          .cut(after: 200),
          .change {
            $0.bytes = Sample.png(2)
            $0.etag = "\"b\""
          },
        ], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(2))
      #expect(network.requests.count == 2 && pipeline.statistics[.resumedBytes] == 0)
      // A server that ignores If-Range and sends the rest of another file, and tells so by its tag.
      network.serve(HTTPRuleTests.file(3), at: url(3))
      let rest = TransportHead(
        status: 206,
        headers: ["etag": "\"b\"", "content-range": "bytes 200-\(Sample.png(4).count - 1)/\(Sample.png(4).count)"])
      network.script([.cut(after: 200), .head(rest, Array(Sample.png(4).dropFirst(200)))], at: url(3))
      #expect(try await pipeline.image(for: ImageRequest(3)) == Sample.picture(3))
      #expect(network.requests(of: url(3)).count == 3 && pipeline.statistics[.resumedBytes] == 0)
    }
  }

  @Test("416 and a wrong range begin anew, and a server that insists is given up", arguments: Surroundings.allCases)
  func wrongRanges(on surroundings: Surroundings) async throws {
    try await surroundings.withDisk(seeds: 1...6) {
      $0.backoff = .zero
    } test: { stage, network, pipeline, folder in
      for fault in [SimulatedNetwork.Fault.status(416), .wrongRange] {
        network.serve(HTTPRuleTests.file(1), at: url(1))
        let before = network.requests.count
        network.script([.cut(after: 200), fault], at: url(1))
        #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
        #expect(network.requests.count - before == 3)
        #expect(network.requests.last?.headers["range"] == nil)
        try await stage.settled(pipeline)
        try folder.cache().removeAll()
        pipeline.memoryWarning()
      }
      // Nobody asked for a part.
      for fault in [SimulatedNetwork.Fault.status(416), .wrongRange] {
        network.script([fault], at: url(2))
        await #expect(throws: ImagePipelineError.wrongRange(url: url(2))) {
          try await pipeline.image(for: ImageRequest(2))
        }
      }
      // Hostile numbers.
      network.serve(HTTPRuleTests.file(3), at: url(3))
      let hostile = TransportHead(
        status: 206,
        headers: ["etag": "\"a\"", "content-range": "bytes 200-300/301", "content-length": "9223372036854775807"])
      network.script([.cut(after: 200), .head(hostile, [])], at: url(3))
      await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: ImageRequest(3)) }
      // Without a limit the sum of what is there and of what is announced is no Int.
      let endless = TransportHead(
        status: 206,
        headers: ["etag": "\"a\"", "content-range": "bytes 200-300/*", "content-length": "9223372036854775807"])
      let boundless = stage.forgetful(network) {
        $0.maximumBodyBytes = .max
        $0.backoff = .zero
      }
      network.serve(HTTPRuleTests.file(4), at: url(4))
      network.script([.cut(after: 200), .head(endless, [])], at: url(4))
      #expect(try await boundless.image(for: ImageRequest(4)) == Sample.picture(4))
      try await stage.expectNothingLeft(boundless, network)
    }
  }

  @Test("a server that sends less of the rest than asked for is asked again", arguments: Surroundings.allCases)
  func shortRanges(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(seeds: 1...6, forgets: true) {
      $0.backoff = .zero
    } test: { (_, network, pipeline) async throws in
      network.serve(HTTPRuleTests.file(1), at: url(1))
      let bytes = Sample.png(1)
      let short = TransportHead(
        status: 206,
        headers: ["etag": "\"a\"", "content-range": "bytes 200-299/\(bytes.count)", "content-length": "100"])
      network.script([.cut(after: 200), .head(short, Array(bytes[200..<300]))], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(network.requests.last?.headers["range"] == "bytes=300-" && pipeline.statistics[.bytes] == bytes.count)
    }
  }

  @Test("a part that makes no picture is dropped, and the picture comes", arguments: Surroundings.allCases)
  func partOfAnotherFile(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...6) { stage in
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      let cache = try folder.cache()
      // The server has given the same tag to two files.
      try cache.storePart(
        DiskCache.Entry(url: url(1), bytes: [UInt8](repeating: 3, count: 200), etag: "\"a\"", confirmed: 0))
      network.serve(HTTPRuleTests.file(1), at: url(1))
      let pipeline = stage.forgetful(network, cache)
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(network.requests.map { $0.headers["range"] } == ["bytes=200-", nil])
      try await stage.settled(pipeline)
      #expect(cache.part(for: url(1)) == nil && cache.entry(for: url(1))?.bytes == Sample.png(1))
      try await stage.expectNothingLeft(pipeline, network)
    }
  }
}
