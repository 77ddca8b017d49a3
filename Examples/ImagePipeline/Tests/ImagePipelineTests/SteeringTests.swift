import ImagePipeline
import OperationComposition
import Operations
import Pictures
import Synchronization
import Testing

@Suite("Suspending, warnings, the end, and the ways to ask")
struct SteeringTests {
  @Test("nothing begins while the pipeline is suspended, and memory answers", arguments: Surroundings.allCases)
  func suspending(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let (network, gate) = (SimulatedNetwork(stage), Gate())
      let pipeline = stage.pipeline(network)
      _ = try await pipeline.image(for: ImageRequest(1))
      network.script([.gate(gate, after: 50)], at: url(2))
      let runs = pipeline.task(for: ImageRequest(2, processing: Processing(filters: [.grey])))
      try await stage.until("the download") { network.running == 1 }
      pipeline.isSuspended = true
      #expect(pipeline.isSuspended)
      let waits = pipeline.task(for: ImageRequest(3))
      // What runs goes on to its end, and no further.
      gate.open()
      try await stage.until("the decoding to stand in line") { pipeline.queues.decode.operationCount == 1 }
      try await stage.until("the download to stand in line") { pipeline.queues.fetch.operationCount == 1 }
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
      #expect(network.requests.count == 2 && pipeline.statistics[.decodes] == 1)
      // Who asks why a picture is not there yet reads its address.
      #expect(pipeline.queues.fetch.operations.map(\.name) == [url(3)])
      #expect(pipeline.queues.decode.diagnosis().description.contains(url(2)))
      pipeline.isSuspended = false
      #expect(try await runs.value == Sample.picture(2).grey())
      #expect(try await waits.value == Sample.picture(3))
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("threads that suspend and resume at once leave all stages alike", arguments: Surroundings.allCases)
  func suspendingAtOnce(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline { stage, _, pipeline in
      let stages = [pipeline.queues.fetch, pipeline.queues.decode, pipeline.queues.process]
      let rounds = stage.virtual == nil ? 2_000 : 20
      let arrived = Counter()
      // Both set it, and wait for each other before and behind the look.
      try await inParallel(2, on: stage) { thread in
        func meet(_ meeting: Int) async {
          arrived.increment()
          while arrived.value < meeting * 2 { await Task.yield() }
        }
        for round in 0..<rounds {
          pipeline.isSuspended = thread == 0
          await meet(2 * round + 1)
          if thread == 0 { #expect(stages.allSatisfy { $0.isSuspended == pipeline.isSuspended }) }
          await meet(2 * round + 2)
        }
      }
      pipeline.isSuspended = false
      #expect(try await pipeline.image(for: ImageRequest(1)) == Sample.picture(1))
    }
  }

  @Test("a memory warning in the midst cancels all, and what is asked then comes", arguments: Surroundings.allCases)
  func memoryWarning(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      let (gate, folder) = (Gate(), Folder())
      let network = SimulatedNetwork(stage)
      for number in 0..<3 { network.script([.gate(gate, after: number * 60)], at: url(number)) }
      let pipeline = stage.pipeline(network) { $0.diskCache = try? folder.cache() }
      _ = try await pipeline.image(for: ImageRequest(9))
      let prefetcher = pipeline.prefetcher()
      prefetcher.start((3..<8).map { ImageRequest($0) })
      let tasks = (0..<12).map { pipeline.task(for: ImageRequest($0 % 3, processing: Processing(size: 6 + $0))) }
      try await stage.until("the downloads") { (0..<3).allSatisfy { network.requests(of: url($0)).count == 1 } }
      pipeline.memoryWarning()
      for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
      try await stage.until("the prefetches to end") { prefetcher.count == 0 }
      for number in 0..<12 { #expect(try await pipeline.image(for: ImageRequest(number)) == Sample.picture(number)) }
      #expect(pipeline.statistics[.memoryHits] == 0)
      gate.open()
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  @Test("the end comes while everything is under way, and is final", arguments: Surroundings.allCases)
  func shutdown(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in
      for isSuspended in [false, true] {
        let folder = Folder()
        let network = SimulatedNetwork(stage)
        network.serve(HTTPRuleTests.file(2), at: url(2))
        network.script([.stall(after: nil)], at: url(0))
        network.script([.stall(after: 50)], at: url(2))
        network.script([.status(503, retryAfter: "25")], at: url(4))
        let pipeline = stage.pipeline(network) { $0.diskCache = try? folder.cache() }
        let tasks = (0..<20).map { pipeline.task(for: ImageRequest($0 / 2 * 2, processing: Processing(size: 6 + $0))) }
        let prefetcher = pipeline.prefetcher()
        prefetcher.start((20..<40).map { ImageRequest($0) })
        try await stage.until("the stalls") { (0..<3).allSatisfy { !network.requests(of: url($0 * 2)).isEmpty } }
        pipeline.isSuspended = isSuspended
        await pipeline.shutdown()
        let count = network.requests.count
        #expect(network.running == 0 && pipeline.operationCount == 0)
        // Nobody holds a pipeline back that is shut down.
        pipeline.isSuspended = true
        #expect(!pipeline.isSuspended)
        for task in tasks { _ = try? await task.value }
        let late = pipeline.task(for: ImageRequest(1))
        await #expect(throws: ImagePipelineError.shutDown) { try await late.value }
        await #expect(throws: ImagePipelineError.shutDown) { try await pipeline.image(for: ImageRequest(1)) }
        prefetcher.start([ImageRequest(1)])
        try await stage.until("the prefetch to be refused") { prefetcher.count == 0 }
        await pipeline.shutdown()
        #expect(network.requests.count == count)
        try await stage.expectNothingLeft(pipeline, network)
        // What is on disk is whole.
        for name in folder.files { #expect(name.hasSuffix(".image") || name.hasSuffix(".part")) }
        let cache = try folder.cache()
        #expect(cache.count == folder.files.count)
        for number in 0..<40 {
          if let entry = cache.entry(for: url(number)) { #expect(entry.bytes == Sample.png(number)) }
        }
        #expect(cache.count == folder.files.count)
      }
    }
  }

  @Test(
    "requests that come while the pipeline is shut down end, and nothing begins behind it",
    arguments: Surroundings.allCases)
  func shutdownAgainstRequests(on surroundings: Surroundings) async throws {
    try await surroundings.run(seeds: 1...30) { stage in
      for round in 0..<(stage.virtual == nil ? 30 : 1) {
        let network = SimulatedNetwork(stage)
        let pipeline = stage.pipeline(network)
        let (pictures, errors) = (Counter(), Counter())
        let end = Mutex<Int?>(nil)
        try await inParallel(4, on: stage) { thread in
          if thread == 0 {
            for _ in 0..<(round * 3) { await Task.yield() }
            await pipeline.shutdown()
            let requests = network.requests.count
            #expect(network.running == 0)
            end.withLock { $0 = requests }
          } else {
            let prefetcher = pipeline.prefetcher()
            for number in 0..<40 {
              do {
                prefetcher.start([ImageRequest(50 + number)])
                let picture = try await pipeline.image(for: ImageRequest(number * 3 + thread))
                #expect(picture == Sample.picture(number * 3 + thread))
                pictures.increment()
              } catch {
                #expect(error is CancellationError || error as? ImagePipelineError == .shutDown)
                errors.increment()
              }
            }
          }
        }
        #expect(pictures.value + errors.value == 120)
        #expect(end.withLock { $0 } == network.requests.count)
        try await stage.expectNothingLeft(pipeline, network)
      }
    }
  }

  @Test("a plain operation waits for pictures, and leaves when it is cancelled", arguments: Surroundings.allCases)
  func operations(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline { stage, network, pipeline in
      let queue = OperationQueue(backend: stage.backend)
      let pictures = (1...3).map { pipeline.operation(for: ImageRequest($0)) }
      let sum = Mutex(0)
      let sheet = BlockOperation {
        for picture in pictures { sum.withLock { $0 += (try? picture.result?.get().width) ?? 0 } }
      }
      for picture in pictures { sheet.addDependency(picture) }
      #expect(pictures[0].name == url(1))
      queue.addOperation(sheet)
      for picture in pictures.reversed() { queue.addOperation(picture) }
      await queue.drained()
      #expect(sum.withLock { $0 } == (1...3).reduce(0) { $0 + Sample.picture($1).width })
      network.script([.stall(after: nil)], at: url(4))
      let leaves = pipeline.operation(for: ImageRequest(4))
      queue.addOperation(leaves)
      try await stage.until("the request") { network.running == 1 }
      leaves.cancel()
      await queue.drained()
      #expect(throws: CancellationError.self) { try leaves.result?.get() }
    }
  }

  @Test("updates tell the progress in order, and the picture last", arguments: Surroundings.allCases)
  func updates(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(chunkSize: 100) {
      $0.backoff = .zero
    } test: { _, network, pipeline in
      let bytes = Sample.png(1)
      network.serve(HTTPRuleTests.file(1), at: url(1))
      network.script([.cut(after: 200)], at: url(1))
      var received: [Int] = []
      var picture: Picture?
      for try await update in pipeline.updates(for: ImageRequest(1)) {
        switch update {
        case .progress(let count, let expected):
          #expect(picture == nil && expected == bytes.count)
          received.append(count)
        case .picture(let last):
          #expect(picture == nil)
          picture = last
        }
      }
      #expect(picture == Sample.picture(1))
      // Two chunks, then the rest: the second attempt begins with what is there.
      let chunks = Array(stride(from: 200, to: bytes.count, by: 100)) + [bytes.count]
      #expect(received == [0, 100, 200] + chunks)
      // From memory there is the picture alone.
      var updates: [ImageUpdate] = []
      for try await update in pipeline.updates(for: ImageRequest(1)) { updates.append(update) }
      #expect(updates == [.picture(Sample.picture(1))])
      await #expect(throws: ImagePipelineError.status(404, url: "http://pictures.test/none")) {
        for try await _ in pipeline.updates(for: ImageRequest(url: "http://pictures.test/none")) {}
      }
    }
  }

  @Test("no progress of another request comes behind the picture", arguments: Surroundings.allCases)
  func updatesOfOthers(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(seeds: 1...30, chunkSize: 20, forgets: true) { stage, _, pipeline in
      for round in 0..<(stage.virtual == nil ? 50 : 3) {
        let others = (0..<3).map { pipeline.task(for: ImageRequest(1, processing: Processing(size: 5 + $0))) }
        var last: ImageUpdate?
        for try await update in pipeline.updates(for: ImageRequest(1)) {
          if case .picture? = last { Issue.record("an update behind the picture") }
          last = update
        }
        #expect(last == .picture(Sample.picture(1)))
        if round % 2 == 0 { for other in others { _ = try await other.value } }
      }
    }
  }

  @Test(
    "a reader that stops reading leaves, and one that reads late misses progress at most",
    arguments: Surroundings.allCases)
  func leavingUpdates(on surroundings: Surroundings) async throws {
    try await surroundings.withPipeline(chunkSize: 1) { stage, network, pipeline in
      network.script([.stall(after: 30)], at: url(1))
      for try await update in pipeline.updates(for: ImageRequest(1)) { if case .progress(30, _) = update { break } }
      try await stage.expectNothingLeft(pipeline, network)
      #expect(network.cancelled == 1)
      // One that is never read.
      network.script([.stall(after: 30)], at: url(1))
      do {
        let unread = pipeline.updates(for: ImageRequest(1))
        try await stage.until("the stall") { network.running == 1 && pipeline.statistics[.bytes] == 60 }
        _ = unread
      }
      try await stage.expectNothingLeft(pipeline, network)
      // A thousand small parts come before the reader reads the first.
      let late = pipeline.updates(for: ImageRequest(2))
      try await stage.until("the picture") { pipeline.pendingSteps == 0 && pipeline.statistics[.decodes] == 1 }
      let updates = try await late.reduce(into: [ImageUpdate]()) { $0.append($1) }
      #expect(updates.last == .picture(Sample.picture(2)) && updates.count <= 66)
    }
  }
}
