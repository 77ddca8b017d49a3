import ImagePipeline
import OperationComposition
import Operations
import Pictures
import Synchronization
import Testing

@Suite("Leaving and failing")
struct CancellingTests {
  @Test("work for a request that left before its start is never begun", arguments: Surroundings.allCases)
  func beforeTheStart(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let network = SimulatedNetwork(stage)
      network.script([.stall(after: nil)], at: url(0))
      let pipeline = stage.pipeline(network) { $0.fetchLimit = 1 }
      // Behind a download that takes the one place.
      let stalls = pipeline.task(for: ImageRequest(0))
      try await stage.until("the stalled one") { network.running == 1 }
      let waiting = (1...5).map { pipeline.task(for: ImageRequest($0)) }
      try await stage.until("the others to stand in line") { pipeline.queues.fetch.operationCount == 6 }
      for task in waiting { task.cancel() }
      for task in waiting { await #expect(throws: CancellationError.self) { try await task.value } }
      stalls.cancel()
      try await stage.expectNothingLeft(pipeline, network)
      // In stages that are suspended.
      pipeline.isSuspended = true
      let suspended = (1...5).map { pipeline.task(for: ImageRequest($0)) }
      try await stage.until("the others to stand in line") { pipeline.queues.fetch.operationCount == 5 }
      for task in suspended { task.cancel() }
      try await stage.until("no step to be left") { pipeline.pendingSteps == 0 }
      pipeline.isSuspended = false
      try await stage.expectNothingLeft(pipeline, network)
      #expect(network.requests.map(\.url) == [url(0)])
      #expect(pipeline.statistics[.fetches] == 1 && pipeline.statistics[.decodes] == 0)
    }
  }

  @Test("a step that failed leaves its place: the next request begins anew", arguments: Surroundings.allCases)
  func failuresLeaveNothing(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline {
      $0.maximumAttempts = 1
    } test: { stage, network, pipeline in
      let faults: [SimulatedNetwork.Fault] = [
        .refused, .status(404), .status(500), .wrongBytes, .cut(after: 10), .redirect("/none"), .wrongRange,
      ]
      for (number, fault) in faults.enumerated() {
        let request = ImageRequest(number, processing: Processing(size: 9, filters: [.grey]))
        network.script([fault], at: request.url)
        pipeline.isSuspended = true
        let (first, second) = (pipeline.task(for: request), pipeline.task(for: request))
        pipeline.isSuspended = false
        // All who ask at that time get the error; only one has met the fault.
        await #expect(throws: (any Error).self) { try await first.value }
        await #expect(throws: (any Error).self) { try await second.value }
        try await stage.expectNothingLeft(pipeline, network)
        let wanted = request.processing.apply(to: Sample.picture(number))
        #expect(try await pipeline.image(for: request) == wanted, "fault \(number)")
      }
    }
  }

  @Test("completion handlers are called once, whatever happens", arguments: Surroundings.allCases)
  func completions(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let network = SimulatedNetwork(stage)
      let pipeline = stage.pipeline(network)
      let counts = (0..<60).map { _ in Counter() }
      let (pictures, errors) = (Counter(), Counter())
      for number in 0..<60 {
        let task = pipeline.load(ImageRequest(number)) { result in
          counts[number].increment()
          switch result {
          case .success(let picture):
            pictures.increment()
            #expect(picture == Sample.picture(number))
          case .failure(let error):
            errors.increment()
            #expect(error is CancellationError)
          }
        }
        if number % 3 == 1 { task.cancel() }
        if number % 6 == 1 { task.cancel() }
        if number == 30 { pipeline.memoryWarning() }
      }
      try await stage.until("the handlers") { pictures.value + errors.value >= 60 }
      try await stage.expectNothingLeft(pipeline, network)
      // Behind the end too.
      await pipeline.shutdown()
      let late = Counter()
      pipeline.load(ImageRequest(1)) { result in
        #expect(throws: ImagePipelineError.shutDown) { try result.get() }
        late.increment()
      }
      try await stage.until("the handler behind the end") { late.value == 1 }
      #expect(counts.allSatisfy { $0.value == 1 })
    }
  }

  private final class Weak<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?
    init(_ object: Object) { self.object = object }
  }

  @Test("nothing is left of requests that have ended, at once or later", arguments: Surroundings.allCases)
  func lifetimes(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let network = SimulatedNetwork(stage)
      let held = Mutex<ImagePipeline?>(stage.pipeline(network))
      let tasks = Mutex<[Weak<ImageTask>]>([])
      let prefetcher: Weak<ImagePrefetcher>
      let whole: Weak<ImagePipeline>
      do {
        let pipeline = try #require(held.withLock { $0 })
        whole = Weak(pipeline)
        func note(_ task: ImageTask) { tasks.withLock { $0.append(Weak(task)) } }
        let first = pipeline.task(for: ImageRequest(1))
        note(first)
        _ = try await first.value
        // From memory; failed; cancelled; with a handler; with updates; prefetched.
        note(pipeline.task(for: ImageRequest(1)))
        let fails = pipeline.task(for: ImageRequest(url: "http://pictures.test/none"))
        note(fails)
        await #expect(throws: ImagePipelineError.self) { try await fails.value }
        let leaves = pipeline.task(for: ImageRequest(2))
        note(leaves)
        leaves.cancel()
        note(pipeline.load(ImageRequest(3)) { _ in })
        note(pipeline.load(ImageRequest(1)) { _ in })
        for try await _ in pipeline.updates(for: ImageRequest(4)) {}
        for try await _ in pipeline.updates(for: ImageRequest(5)) { break }
        let prefetching = pipeline.prefetcher()
        prefetcher = Weak(prefetching)
        prefetching.start([ImageRequest(6), ImageRequest(1)])
        try await stage.until("the end of prefetching") { prefetching.count == 0 }
        try await stage.expectNothingLeft(pipeline, network)
        held.withLock { $0 = nil }
      }
      try await stage.until("the tasks to be let go") {
        tasks.withLock { $0.allSatisfy { $0.object == nil } } && prefetcher.object == nil && whole.object == nil
      }
    }
  }

  /// A clock that does something when somebody looks at it.
  private struct Watched: Clock {
    let inner = ContinuousClock()
    let onLook: @Sendable () -> Void

    var now: ContinuousClock.Instant {
      onLook()
      return inner.now
    }
    var minimumResolution: Duration { inner.minimumResolution }
    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
      try await inner.sleep(until: deadline, tolerance: tolerance)
    }
  }

  @Test("a picture that is ready at a memory warning does not come back into memory", arguments: Surroundings.real)
  func lateAnswer(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let armed = Mutex(true)
      let pipelines = Mutex<ImagePipeline?>(nil)
      let warnings = Counter()
      let network = SimulatedNetwork(stage)
      // The cache reads the clock when a picture is stored. The warning comes in that very moment.
      let clock = PipelineClock(
        Watched {
          guard let pipeline = pipelines.withLock({ $0 }), pipeline.statistics[.processed] == 1,
            armed.withLock({ armed in
              defer { armed = false }
              return armed
            })
          else { return }
          pipeline.memoryWarning()
          warnings.increment()
        })
      let pipeline = stage.pipeline(network) { $0.clock = clock }
      pipelines.withLock { $0 = pipeline }
      defer { pipelines.withLock { $0 = nil } }
      let request = ImageRequest(1, processing: Processing(filters: [.grey]))
      _ = try? await pipeline.image(for: request)
      try await stage.expectNothingLeft(pipeline, network)
      #expect(warnings.value == 1)
      _ = try await pipeline.image(for: request)
      #expect(pipeline.statistics[.memoryHits] == 0 && network.requests.count == 2)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("decoded pictures count as wasted when nobody got them, once each", arguments: Surroundings.allCases)
  func wastedDecodes(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...20) { stage in
      let network = SimulatedNetwork(stage)
      let pipeline = stage.pipeline(network) { $0.workLimit = 1 }
      // Decoded, and then left while the processing waits.
      pipeline.queues.process.isSuspended = true
      let requests = [[Processing.Filter.grey], [.sepia], [.round(radius: 3)]].map {
        ImageRequest(1, processing: Processing(filters: $0))
      }
      let tasks = requests.map { pipeline.task(for: $0) }
      try await stage.until("the processing") { pipeline.queues.process.operationCount == 3 }
      let decodes = pipeline.statistics[.decodes]
      tasks[0].cancel()
      try await stage.until("one to leave") { pipeline.pendingSteps == 4 }
      // The others have the decoded picture still.
      if decodes == 1 { #expect(pipeline.statistics[.wastedDecodes] == 0) }
      tasks[1].cancel()
      tasks[2].cancel()
      pipeline.queues.process.isSuspended = false
      try await stage.expectNothingLeft(pipeline, network)
      try await stage.until("the count") { pipeline.statistics[.wastedDecodes] == decodes }
      #expect(pipeline.statistics[.processed] == 0)
      // One that is wanted by one of three is not wasted.
      pipeline.queues.process.isSuspended = true
      let others = requests.map { request in
        var request = request
        request.url = url(2)
        return pipeline.task(for: request)
      }
      try await stage.until("the processing") { pipeline.queues.process.operationCount == 3 }
      let further = pipeline.statistics[.decodes] - decodes
      others[0].cancel()
      others[2].cancel()
      pipeline.queues.process.isSuspended = false
      _ = try await others[1].value
      try await stage.expectNothingLeft(pipeline, network)
      if further == 1 { #expect(pipeline.statistics[.wastedDecodes] == decodes) }
    }
  }
}
