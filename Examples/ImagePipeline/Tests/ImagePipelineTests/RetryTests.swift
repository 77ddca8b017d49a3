import ImagePipeline
import OperationComposition
import Operations
import Testing

/// All times are exact: the clock is virtual.
@Suite("Attempts and rates")
struct RetryTests {
  /// The times between requests, in whole nanoseconds as the clock counts.
  private static func gaps(_ network: SimulatedNetwork) -> [Duration] {
    zip(network.times.dropFirst(), network.times).map { $0 - $1 }
  }

  private static func isEqual(_ one: [Duration], _ other: [Duration]) -> Bool {
    one.count == other.count
      && zip(one, other).allSatisfy { max($0, $1) - min($0, $1) <= .nanoseconds(1) }
  }

  @Test("500 twice and then 200: the waits are those of the seed, and hold no place")
  func backoff() async throws {
    try await Surroundings.deterministic.withPipeline {
      $0.fetchLimit = 1
    } test: { (stage, network, pipeline) async throws in
      network.script([.status(500), .status(503)], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      var jitter = SeededGenerator(seed: stage.seed)
      var backoff = Backoff.exponential(factor: 2, initial: .milliseconds(100)).maximum(.seconds(8))
        .fullJitter(using: SeededGenerator(seed: jitter.next()))
      #expect(Self.isEqual(Self.gaps(network), [backoff.nextDuration(), backoff.nextDuration()]))
      #expect(pipeline.statistics[.retries] == 2 && pipeline.statistics[.fetches] == 3)
    }
  }

  @Test("no attempt follows the last one, and the error is that of the server")
  func lastAttempt() async throws {
    try await Surroundings.deterministic.withPipeline(seeds: 1...4) { (_, network, pipeline) async throws in
      network.script([SimulatedNetwork.Fault](repeating: .status(500), count: 9), at: url(1))
      await #expect(throws: ImagePipelineError.status(500, url: url(1))) {
        try await pipeline.image(for: ImageRequest(1))
      }
      #expect(network.requests.count == 4 && pipeline.statistics[.retries] == 3)
      network.script([SimulatedNetwork.Fault](repeating: .refused, count: 9), at: url(2))
      await #expect(throws: TransportError("refused")) { try await pipeline.image(for: ImageRequest(2)) }
      // 404 is final.
      network.script([.status(404)], at: url(3))
      await #expect(throws: ImagePipelineError.status(404, url: url(3))) {
        try await pipeline.image(for: ImageRequest(3))
      }
      #expect(network.requests(of: url(3)).count == 1)
      // What the fault has left of the script is served to those that ask later: they begin anew.
      #expect(try await pipeline.image(for: ImageRequest(3)) == Sample.picture(3))
    }
  }

  @Test("an address that cannot be loaded is tried once, and costs nothing of the budget")
  func lastingErrors() async throws {
    try await Surroundings.deterministic.run(seeds: 1...4) { stage in
      let network = SimulatedNetwork(stage)
      network.script([.impossible], at: url(1))
      let budget = RetryBudget(maxTokens: 100, tokenRatio: 0.5)
      let pipeline = stage.pipeline(network) { $0.retryBudget = budget }
      await #expect(throws: TransportError("impossible", isPassing: false)) {
        try await pipeline.image(for: ImageRequest(1))
      }
      #expect(network.requests.count == 1 && pipeline.statistics[.retries] == 0)
      #expect(budget.tokens == 100)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test(
    "Retry-After may be a date; one that makes no sense is none",
    arguments: [
      ("Mon, 12 Jan 1970 13:46:50 GMT", 10), ("Mon, 12 Jan 1970 13:46:00 GMT", 0),
      ("Mon, 12 Foo 1970 13:46:50 GMT", 0), ("Mon, 12 Jan 1970 13:46:50 CET", 0), ("Mon, 99 Jan 1970 13:46:50 GMT", 0),
      ("Mon, 12 Jan 1970 13:46 GMT", 0),
    ])
  func retryAfterADate(date: String, seconds: Int) async throws {
    try await Surroundings.deterministic.withPipeline(seeds: 1...2) {
      $0.backoff = .zero
    } test: { (_, network, pipeline) async throws in
      // The virtual clock begins on Monday, 12 January 1970, at 13:46:40.
      network.script([.status(503, retryAfter: date)], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      let gaps = Self.gaps(network)
      // Seconds since 1970 are a floating-point number.
      #expect(gaps.count == 1 && abs(gaps[0] / .seconds(1) - Double(seconds)) < 1e-3, "\(gaps)")
    }
  }

  @Test("a redirect takes a token too")
  func tokensOfRedirects() async throws {
    try await Surroundings.deterministic.withPipeline(seeds: 1...4) {
      $0.rate = (perSecond: 1, burst: 1)
    } test: { (_, network, pipeline) async throws in
      network.script([.redirect("/2")], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(2))
      #expect(Self.isEqual(Self.gaps(network), [.seconds(1)]))
    }
  }

  @Test("Retry-After is waited for, up to the longest wait")
  func retryAfter() async throws {
    try await Surroundings.deterministic.withPipeline(seeds: 1...4) {
      $0.backoff = .zero
    } test: { (stage, network, pipeline) async throws in
      network.script([.status(429, retryAfter: "7")], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(Self.gaps(network) == [.seconds(7)])
      for odd in ["soon", "-3", "", "0"] {
        let count = network.requests.count
        network.script([.status(503, retryAfter: odd)], at: url(2))
        pipeline.memoryWarning()
        #expect(try await pipeline.image(for: ImageRequest(2)) == Sample.picture(2))
        #expect(network.requests.count == count + 2 && Self.gaps(network).last == .zero, "\(odd)")
      }
      for long in ["31", "Mon, 12 Jan 2970 13:46:50 GMT", "9223372036854775807", "99999999999999999999"] {
        let (count, now) = (network.requests.count, stage.clock.now)
        network.script([.status(429, retryAfter: long)], at: url(3))
        await #expect(throws: ImagePipelineError.status(429, url: url(3))) {
          try await pipeline.image(for: ImageRequest(3))
        }
        #expect(network.requests.count == count + 1 && stage.clock.now == now)
      }
    }
  }

  @Test("a budget that is spent ends the attempts of all downloads")
  func budget() async throws {
    try await Surroundings.deterministic.withPipeline(seeds: 1...4) {
      $0.retryBudget = RetryBudget(maxTokens: 4, tokenRatio: 0.001)
    } test: { (_, network, pipeline) async throws in
      for number in 1...3 {
        network.script([SimulatedNetwork.Fault](repeating: .status(500), count: 9), at: url(number))
      }
      for number in 1...3 {
        await #expect(throws: ImagePipelineError.self) { try await pipeline.image(for: ImageRequest(number)) }
      }
      #expect((1...3).map { network.requests(of: url($0)).count } == [2, 1, 1])
      #expect(pipeline.statistics[.retries] == 1)
      // Errors that are final cost nothing: the budget is about servers that are busy.
      #expect(try await pipeline.image(for: ImageRequest(4)) == Sample.picture(4))
    }
  }

  @Test("each attempt has a deadline of its own")
  func deadline() async throws {
    try await Surroundings.deterministic.withPipeline(seeds: 1...4) {
      $0.timeout = .seconds(5)
      $0.backoff = .zero
      $0.maximumAttempts = 3
      $0.fetchLimit = 1
    } test: { (_, network, pipeline) async throws in
      network.script([.stall(after: nil), .stall(after: 50)], at: url(1))
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(Self.gaps(network) == [.seconds(5), .seconds(5)] && network.cancelled == 2)
      network.script([.stall(after: nil), .stall(after: nil), .stall(after: nil)], at: url(2))
      await #expect(throws: DeadlineExceeded.self) { try await pipeline.image(for: ImageRequest(2)) }
      // Waiting for a place in the queue costs an attempt nothing.
      network.script([.stall(after: nil)], at: url(3))
      let (first, second) = (
        pipeline.task(for: ImageRequest(3)), pipeline.task(for: ImageRequest(4))
      )
      #expect(try await first.value == Sample.picture(3))
      #expect(try await second.value == Sample.picture(4))
      #expect(network.requests(of: url(4)).count == 1)
    }
  }

  @Test("a token bucket spaces all requests out, further attempts included")
  func rate() async throws {
    try await Surroundings.deterministic.withPipeline {
      $0.rate = (perSecond: 2, burst: 3)
      $0.backoff = .zero
    } test: { (_, network, pipeline) async throws in
      network.script([.status(500)], at: url(0))
      let tasks = (0..<7).map { pipeline.task(for: ImageRequest($0)) }
      for (number, task) in tasks.enumerated() { #expect(try await task.value == Sample.picture(number)) }
      let start = network.times[0]
      #expect(network.times.map { $0 - start } == [0, 0, 0, 500, 1000, 1500, 2000, 2500].map { .milliseconds($0) })
    }
  }

  @Test("a visible picture waits for one turn of prefetching, and not for all that stand before it")
  func rateAndPriority() async throws {
    try await Surroundings.deterministic.withPipeline {
      $0.rate = (perSecond: 10, burst: 1)
    } test: { stage, network, pipeline in
      let prefetcher = pipeline.prefetcher()
      prefetcher.start((0..<20).map { ImageRequest($0) })
      try await stage.until("prefetches to wait for their turns") { network.requests.count == 1 }
      try await stage.sleep(.milliseconds(20))
      let (count, start) = (network.requests.count, stage.clock.now)
      _ = try await pipeline.image(for: ImageRequest(30))
      #expect(start.duration(to: stage.clock.now) <= .milliseconds(210))
      #expect(network.requests.dropFirst(count).map(\.url).firstIndex(of: url(30)) == 1)
      // A prefetch that becomes visible goes on before the others, too.
      let waiting = try #require((0..<20).last { network.requests(of: url($0)).isEmpty })
      let raised = stage.clock.now
      _ = try await pipeline.image(for: ImageRequest(waiting, priority: .veryHigh))
      #expect(raised.duration(to: stage.clock.now) <= .milliseconds(210))
      #expect(zip(network.times.dropFirst(), network.times).allSatisfy { $0 - $1 >= .milliseconds(99) })
      prefetcher.stopAll()
    }
  }

  @Test("a request that leaves while it waits for a token or an attempt takes nothing")
  func leavesWhileWaiting() async throws {
    try await Surroundings.deterministic.withPipeline {
      $0.rate = (perSecond: 1, burst: 1)
    } test: { stage, network, pipeline in
      network.script([.status(500, retryAfter: "20")], at: url(1))
      let waits = pipeline.task(for: ImageRequest(1))
      try await stage.until("the first answer") { network.requests.count == 1 && network.running == 0 }
      let other = pipeline.task(for: ImageRequest(2))
      try await stage.until("the wait for a token") { pipeline.queues.fetch.operationCount == 1 }
      other.cancel()
      waits.cancel()
      let now = stage.clock.now
      await #expect(throws: CancellationError.self) { try await waits.value }
      await #expect(throws: CancellationError.self) { try await other.value }
      try await stage.expectNothingLeft(pipeline, network)
      #expect(now.duration(to: stage.clock.now) < .milliseconds(10) && network.requests.count == 1)
      // Its token is there for the next one.
      #expect(try await pipeline.image(for: ImageRequest(3)) == Sample.picture(3))
      #expect(network.times[1] - network.times[0] == .seconds(1))
    }
  }

  @Test("a wait between attempts holds no place in the queue of downloads")
  func backoffHoldsNoPlace() async throws {
    try await Surroundings.deterministic.withPipeline {
      $0.fetchLimit = 1
    } test: { stage, network, pipeline in
      network.script([.status(503, retryAfter: "10")], at: url(1))
      let waits = pipeline.task(for: ImageRequest(1))
      try await stage.until("the first answer") { network.requests.count == 1 && network.running == 0 }
      let now = stage.clock.now
      #expect(try await pipeline.image(for: ImageRequest(2)) == Sample.picture(2))
      #expect(now.duration(to: stage.clock.now) < .seconds(1))
      #expect(try await waits.value == Sample.picture(1))
      #expect(network.times[2] - network.times[0] >= .seconds(10) && network.greatest == 1)
    }
  }
}
