import ImagePipeline
import OperationComposition
import Operations
import Pictures
import Testing

@Suite("Priorities and prefetching")
struct PriorityTests {
  static let priorities: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]

  @Test("prefetching leaves places to what is visible", arguments: Surroundings.allCases)
  func roomForVisible(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let gate = Gate()
      let network = SimulatedNetwork(stage, entrance: gate)
      let pipeline = stage.pipeline(network) { ($0.fetchLimit, $0.prefetchLimit) = (3, 1) }
      let prefetcher = pipeline.prefetcher()
      prefetcher.start((0..<8).map { ImageRequest($0) })
      try await stage.until("all prefetches to stand in line") { pipeline.queues.fetch.operationCount == 8 }
      try await stage.until("the first one to run") { network.running == 1 }
      let visible = pipeline.task(for: ImageRequest(9))
      try await stage.until("the visible one to run beside it") { network.requests(of: url(9)).count == 1 }
      #expect(network.running == 2)
      // A prefetch that becomes visible takes the third place.
      let waiting = (0..<8).first { network.requests(of: url($0)).isEmpty } ?? 0
      let raised = pipeline.task(for: ImageRequest(waiting, priority: .high))
      try await stage.until("the raised one to run") { network.requests(of: url(waiting)).count == 1 }
      #expect(network.running == 3)
      gate.open()
      #expect(try await visible.value == Sample.picture(9))
      #expect(try await raised.value == Sample.picture(waiting))
      try await stage.until("the end of prefetching") { prefetcher.count == 0 }
      #expect(network.greatest == 3)
      // They are in memory now.
      for number in 0..<8 { #expect(try await pipeline.image(for: ImageRequest(number)) == Sample.picture(number)) }
      #expect(pipeline.statistics[.memoryHits] == 8 && network.requests.count == 9)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("many threads change a priority: the last change is the operation's", arguments: Surroundings.allCases)
  func concurrentChanges(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let network = SimulatedNetwork(stage)
      let pipeline = stage.pipeline(network)
      for round in 0..<(stage.virtual == nil ? 20 : 3) {
        pipeline.isSuspended = true
        let request = ImageRequest(round % 3, processing: Processing(size: 8 + round))
        let task = pipeline.task(for: request)
        try await stage.until("the fetch") { pipeline.queues.fetch.operationCount == 1 }
        let fetch = try #require(pipeline.queues.fetch.operations.first)
        try await inParallel(4, on: stage) { thread in
          var generator = SeededGenerator(seed: UInt64(round * 10 + thread))
          for _ in 0..<50 { task.priority = Self.priorities.randomElement(using: &generator) ?? .normal }
        }
        #expect(fetch.queuePriority == task.priority)
        for priority in Self.priorities {
          task.priority = priority
          #expect(fetch.queuePriority == priority)
        }
        pipeline.isSuspended = false
        _ = try await task.value
        // What is done keeps quiet.
        task.priority = .high
        try await stage.expectNothingLeft(pipeline, network)
      }
    }
  }

  @Test("a prefetcher's priority reaches those that have not begun, whoever sets it", arguments: Surroundings.allCases)
  func prefetchPriority(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let network = SimulatedNetwork(stage)
      for round in 0..<(stage.virtual == nil ? 20 : 3) {
        let pipeline = stage.pipeline(network)
        pipeline.isSuspended = true
        let prefetcher = pipeline.prefetcher()
        #expect(prefetcher.priority == .veryLow)
        // Threads set it while others start.
        try await inParallel(4, on: stage) { thread in
          var generator = SeededGenerator(seed: UInt64(round * 10 + thread))
          for number in 0..<6 {
            prefetcher.start([ImageRequest(number * 2 + thread % 2)])
            prefetcher.priority = Self.priorities.randomElement(using: &generator) ?? .normal
          }
        }
        try await stage.until("the fetches") { pipeline.queues.fetch.operationCount == 12 }
        let last = prefetcher.priority
        #expect(pipeline.queues.fetch.operations.allSatisfy { $0.queuePriority == last })
        #expect(prefetcher.count == 12)
        prefetcher.priority = .low
        #expect(pipeline.queues.fetch.operations.allSatisfy { $0.queuePriority == .low })
        prefetcher.stopAll()
        #expect(prefetcher.count == 0)
        pipeline.isSuspended = false
        try await stage.expectNothingLeft(pipeline, network)
        #expect(network.requests.isEmpty)
      }
    }
  }

  @Test("the most urgent request begins first", arguments: [Surroundings.stealing, .threadPool, .deterministic])
  func order(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline {
      $0.fetchLimit = 1
    } test: { stage, network, pipeline in
      pipeline.isSuspended = true
      let tasks = Self.priorities.enumerated().map { pipeline.task(for: ImageRequest($0, priority: $1)) }
      try await stage.until("the fetches") { pipeline.queues.fetch.operationCount == 5 }
      tasks[0].priority = .veryHigh
      tasks[4].priority = .veryLow
      // Of two that are as urgent the one that came first is first. The third is raised by a request of its own.
      let visible = pipeline.task(
        for: ImageRequest(2, processing: Processing(size: 8), priority: .veryHigh))
      try await stage.until("the third to be raised") {
        pipeline.queues.fetch.operations.filter { $0.queuePriority == .veryHigh }.count == 2
      }
      pipeline.isSuspended = false
      for task in tasks { _ = try await task.value }
      _ = try await visible.value
      let order = network.requests.map(\.url)
      #expect(Set(order.prefix(2)) == [url(0), url(2)] && Array(order.dropFirst(2)) == [url(3), url(1), url(4)])
    }
  }

  @Test("a stop leaves nothing behind, neither running nor waiting", arguments: Surroundings.allCases)
  func stop(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let gate = Gate()
      let network = SimulatedNetwork(stage, entrance: gate)
      let pipeline = stage.pipeline(network) { ($0.fetchLimit, $0.prefetchLimit) = (4, 2) }
      let prefetcher = pipeline.prefetcher()
      let requests = (0..<10).map { ImageRequest($0, processing: Processing(size: 9)) }
      prefetcher.start(requests)
      prefetcher.start(requests)
      #expect(prefetcher.count == 10)
      try await stage.until("two to run") { network.running == 2 }
      // What a request holds too goes on.
      let kept = pipeline.task(for: requests[9])
      try await stage.until("the third to run") { network.running == 3 }
      prefetcher.stop(Array(requests[0..<5]))
      prefetcher.stop(requests)
      #expect(prefetcher.count == 0)
      try await stage.until("all but one to end") { network.running == 1 && pipeline.queues.fetch.operationCount == 1 }
      gate.open()
      _ = try await kept.value
      try await stage.expectNothingLeft(pipeline, network)
      #expect(pipeline.statistics[.decodes] == 1)
      // Those that have been stopped can be started again.
      prefetcher.start(requests)
      try await stage.until("the end of prefetching") { prefetcher.count == 0 }
      #expect(pipeline.statistics[.decodes] == 10)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("threads that start and stop the same pictures leave nothing behind", arguments: Surroundings.allCases)
  func startAgainstStop(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      // Nobody passes the gate: what is left would be left for good.
      let network = SimulatedNetwork(stage, entrance: Gate())
      let pipeline = stage.pipeline(network)
      let prefetcher = pipeline.prefetcher()
      for round in 0..<(stage.virtual == nil ? 20 : 3) {
        try await inParallel(4, on: stage) { thread in
          var generator = SeededGenerator(seed: UInt64(round * 10 + thread))
          for _ in 0..<40 {
            let request = ImageRequest(Int.random(in: 0..<2, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1: prefetcher.start([request])
            case 2, 3: prefetcher.stop([request])
            default: prefetcher.stopAll()
            }
          }
        }
        prefetcher.stopAll()
        #expect(prefetcher.count == 0)
        try await stage.expectNothingLeft(pipeline, network)
      }
    }
  }

  @Test("a prefetcher that nobody holds stops", arguments: Surroundings.allCases)
  func released(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let network = SimulatedNetwork(stage, entrance: Gate())
      let pipeline = stage.pipeline(network)
      var prefetcher: ImagePrefetcher? = pipeline.prefetcher()
      prefetcher?.start((0..<10).map { ImageRequest($0) })
      try await stage.until("the fetches") { network.running == 3 }
      prefetcher = nil
      try await stage.expectNothingLeft(pipeline, network)
    }
  }
}

/// Runs a body several times at once: on threads of its own, or as operations whose order the seed decides.
func inParallel(_ count: Int, on stage: Stage, _ body: @escaping @Sendable (Int) async throws -> Void) async throws {
  let queue = OperationQueue(backend: stage.virtual ?? .threadPool(workers: count))
  let operations = (0..<count).map { number in queue.addTask { try await body(number) } }
  for operation in operations { try await operation.value }
}
