import ImagePipeline
import Operations
import Pictures
import Testing

extension Stage {
  /// Makes up to five requests of one URL that share a fetch. Each is more urgent than the last: when the fetch is as
  /// urgent as the request, the request has arrived there.
  func joined(_ requests: [ImageRequest], _ pipeline: ImagePipeline) async throws -> [ImageTask] {
    let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]
    var tasks: [ImageTask] = []
    for (request, priority) in zip(requests, priorities) {
      var request = request
      request.priority = priority
      tasks.append(pipeline.task(for: request))
      try await until("the request to reach the fetch") {
        pipeline.queues.fetch.operations.first?.queuePriority == priority
      }
    }
    return tasks
  }
}

@Suite("Coalescing in the pipeline")
struct CoalescingTests {
  @Test("one URL with different processings is fetched once", arguments: Surroundings.allCases)
  func oneFetch(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let gate = Gate()
      let network = SimulatedNetwork(stage, entrance: gate)
      let pipeline = stage.pipeline(network)
      let requests = [
        ImageRequest(1), ImageRequest(1, processing: Processing(size: 8)),
        ImageRequest(1, processing: Processing(size: 12)),
        ImageRequest(1, processing: Processing(filters: [.sepia])),
      ]
      let tasks = try await stage.joined(requests, pipeline)
      gate.open()
      for (request, task) in zip(requests, tasks) {
        let picture = try await task.value
        #expect(picture == request.processing.apply(to: Sample.picture(1)))
      }
      #expect(network.requests.count == 1)
      // One decoding for each size: the whole picture, 8 and 12.
      #expect(pipeline.statistics[.decodes] == 3 && pipeline.statistics[.fetches] == 1)
      try await stage.expectNothingLeft(pipeline, network)
      #expect(pipeline.statistics[.wastedDecodes] == 0)
    }
  }

  @Test("one URL and one size with different filters is decoded once", arguments: Surroundings.allCases)
  func oneDecode(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let gate = Gate()
      let network = SimulatedNetwork(stage, entrance: gate)
      let pipeline = stage.pipeline(network)
      let filters: [[Processing.Filter]] = [[], [.sepia], [.grey], [.round(radius: 2)], [.sepia, .grey]]
      let requests = filters.map { ImageRequest(2, processing: Processing(size: 10, filters: $0)) }
      let tasks = try await stage.joined(requests, pipeline)
      gate.open()
      for (request, task) in zip(requests, tasks) {
        let picture = try await task.value
        #expect(picture == request.processing.apply(to: Sample.picture(2)))
      }
      #expect(pipeline.statistics[.decodes] == 1 && pipeline.statistics[.processed] == filters.count)
      try await stage.expectNothingLeft(pipeline, network)
      #expect(pipeline.statistics[.wastedDecodes] == 0)
    }
  }

  @Test("the same request is processed once, and then found in memory", arguments: Surroundings.allCases)
  func oneProcessing(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let gate = Gate()
      let network = SimulatedNetwork(stage, entrance: gate)
      let pipeline = stage.pipeline(network)
      let request = ImageRequest(3, processing: Processing(size: 10, filters: [.grey]))
      let tasks = (0..<20).map { _ in pipeline.task(for: request) }
      try await stage.until("the fetch") { gate.waiters == 1 }
      gate.open()
      let wanted = request.processing.apply(to: Sample.picture(3))
      for task in tasks { #expect(try await task.value == wanted) }
      #expect(pipeline.statistics[.processed] == 1 && network.requests.count == 1)
      #expect(try await pipeline.image(for: request) == wanted)
      #expect(pipeline.statistics[.memoryHits] == 1 && network.requests.count == 1)
      #expect(pipeline.statistics[.requests] == 21)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("the last one who leaves cancels the fetch and frees its place at once", arguments: Surroundings.allCases)
  func lastLeaves(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline {
      $0.fetchLimit = 1
    } test: { stage, network, pipeline in
      network.script([.stall(after: 10), .stall(after: nil)], at: url(1))
      let tasks = try await stage.joined(
        [ImageRequest(1), ImageRequest(1, processing: Processing(size: 8))], pipeline)
      let (first, second) = (tasks[0], tasks[1])
      try await stage.until("the fetch") { network.running == 1 }
      let other = pipeline.task(for: ImageRequest(2))
      try await stage.until("the second fetch to stand in line") { pipeline.queues.fetch.operationCount == 2 }
      first.cancel()
      await #expect(throws: CancellationError.self) { try await first.value }
      // The other one keeps the fetch, and its place.
      #expect(network.running == 1 && network.cancelled == 0 && network.requests.count == 1)
      second.cancel()
      // The stalled connection would go on for ever. Its place is free, so the other picture comes.
      #expect(try await other.value == Sample.picture(2))
      #expect(network.cancelled == 1)
    }
  }

  @Test(
    "a request that leaves while its fetch ends begins anew or shares, and is right", arguments: Surroundings.allCases)
  func leavingAtTheEnd(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...30) { stage in
      let network = SimulatedNetwork(stage)
      let pipeline = stage.pipeline(network) { $0.memoryLimit = 0 }
      for round in 0..<(stage.virtual == nil ? 100 : 5) {
        let first = pipeline.task(for: ImageRequest(round % Sample.count))
        let second = pipeline.task(for: ImageRequest(round % Sample.count))
        if round % 2 == 1 { await Task.yield() }
        first.cancel()
        #expect(try await second.value == Sample.picture(round))
      }
      try await stage.expectNothingLeft(pipeline, network)
      #expect(network.greatestOfOne == 1)
    }
  }

  @Test("pictures that differ in nothing but priority share everything", arguments: Surroundings.allCases)
  func prioritiesShare(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let gate = Gate()
      let network = SimulatedNetwork(stage, entrance: gate)
      let pipeline = stage.pipeline(network)
      let tasks = [Operation.QueuePriority.veryLow, .low, .normal, .high, .veryHigh].map {
        pipeline.task(for: ImageRequest(4, priority: $0))
      }
      try await stage.until("the fetch") { gate.waiters == 1 }
      #expect(pipeline.queues.fetch.operations.first?.queuePriority == .veryHigh)
      tasks[4].cancel()
      try await stage.until("the fetch to be less urgent") {
        pipeline.queues.fetch.operations.first?.queuePriority == .high
      }
      gate.open()
      for task in tasks.prefix(4) { #expect(try await task.value == Sample.picture(4)) }
      #expect(network.requests.count == 1)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("without coalescing each request does the work itself", arguments: Surroundings.allCases)
  func withoutCoalescing(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...4) { stage in
      let gate = Gate()
      let network = SimulatedNetwork(stage, entrance: gate)
      let pipeline = stage.pipeline(network) { $0.coalesces = false }
      let tasks = (0..<4).map { _ in pipeline.task(for: ImageRequest(5)) }
      try await stage.until("the fetches") { gate.waiters == 4 }
      gate.open()
      for task in tasks { #expect(try await task.value == Sample.picture(5)) }
      #expect(network.requests.count == 4 && pipeline.statistics[.decodes] == 4)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }
}
