import DeterministicOperations
import FoundationEssentials
import ImagePipeline
import Operations
import Pictures
import Synchronization
import Testing

/// Where a test runs: a backend and a clock. Virtual time passes by itself; real time is only a bound against a hang.
struct Stage: Sendable {
  let backend: any Backend
  let clock: PipelineClock
  /// Nil on real threads.
  let virtual: DeterministicBackend?
  let seed: UInt64

  /// A configuration on the stage's clock, without random numbers.
  func configuration(_ change: (inout ImagePipeline.Configuration) -> Void = { _ in }) -> ImagePipeline.Configuration {
    var configuration = ImagePipeline.Configuration()
    configuration.clock = clock
    configuration.seed = seed
    configuration.retryBudget = nil
    // A busy machine fails no test: those that are about deadlines set one on the virtual clock.
    configuration.timeout = .seconds(3600)
    change(&configuration)
    return configuration
  }

  func pipeline(
    _ network: SimulatedNetwork, _ change: (inout ImagePipeline.Configuration) -> Void = { _ in }
  ) -> ImagePipeline {
    ImagePipeline(transport: network, backend: backend, configuration: configuration(change))
  }

  /// Lets others go on until a condition holds. A hang ends the test with an error.
  func until(_ what: String, _ condition: @Sendable () -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(1800)
    while !condition() {
      if ContinuousClock.now > end { throw NeverHappened(what: what) }
      try await clock.sleep(until: clock.now.advanced(by: .microseconds(200)))
    }
  }

  /// Nothing is left of a pipeline's work.
  func expectNothingLeft(
    _ pipeline: ImagePipeline, _ network: SimulatedNetwork, at location: SourceLocation = #_sourceLocation
  ) async throws {
    try await until("the pipeline and the network to come to rest") {
      pipeline.pendingSteps == 0 && network.running == 0 && pipeline.operationCount == 0
    }
    #expect(pipeline.pendingSteps == 0 && network.running == 0, sourceLocation: location)
  }
}

struct NeverHappened: Error, CustomStringConvertible {
  let what: String
  var description: String { "waited in vain for \(what)" }
}

/// The backends under test.
enum Surroundings: String, CaseIterable, Sendable, CustomTestStringConvertible {
  case dispatch, threadPool, stealing, deterministic

  static let real: [Surroundings] = [.dispatch, .threadPool, .stealing]
  var testDescription: String { rawValue }

  /// Runs a test once, or once for each seed where seeds decide the order.
  func run(seeds: ClosedRange<UInt64> = 1...12, _ body: @escaping @Sendable (Stage) async throws -> Void) async throws {
    guard self == .deterministic else { return try await onRealThreads(body) }
    for seed in seeds { try await Self.inVirtualTime(seed: seed, body) }
  }

  /// Runs a test with a pipeline on a network of its own. Nothing may be left of the pipeline's work behind the test.
  func withPipeline(
    seeds: ClosedRange<UInt64> = 1...12, chunkSize: Int = 200, forgets: Bool = false,
    _ change: @escaping @Sendable (inout ImagePipeline.Configuration) -> Void = { _ in },
    test body: @escaping @Sendable (Stage, SimulatedNetwork, ImagePipeline) async throws -> Void
  ) async throws {
    try await run(seeds: seeds) { stage in
      let network = SimulatedNetwork(stage, chunkSize: chunkSize)
      let pipeline = forgets ? stage.forgetful(network, nil, change) : stage.pipeline(network, change)
      try await body(stage, network, pipeline)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  /// The same with a cache on disk, and nothing in memory.
  func withDisk(
    seeds: ClosedRange<UInt64> = 1...12,
    _ change: @escaping @Sendable (inout ImagePipeline.Configuration) -> Void = { _ in },
    test body: @escaping @Sendable (Stage, SimulatedNetwork, ImagePipeline, Folder) async throws -> Void
  ) async throws {
    try await run(seeds: seeds) { stage in
      let (network, folder) = (SimulatedNetwork(stage), Folder())
      let pipeline = stage.forgetful(network, try folder.cache(), change)
      try await body(stage, network, pipeline, folder)
      try await stage.expectNothingLeft(pipeline, network)
    }
  }

  private func onRealThreads(_ body: @escaping @Sendable (Stage) async throws -> Void) async throws {
    let backend: any Backend =
      switch self {
      case .dispatch: .dispatch
      case .threadPool: .threadPool(workers: 2)
      default: .stealing(workers: 2)
      }
    try await Self.spawn {
      try await body(Stage(backend: backend, clock: .continuous, virtual: nil, seed: 1))
    }.value
  }

  /// The body itself is an operation of the deterministic backend: the seed decides its order too.
  static func inVirtualTime(seed: UInt64, _ body: @escaping @Sendable (Stage) async throws -> Void) async throws {
    if let only = onlySeed, only != seed { return }
    prepare()
    try await spawn {
      // A body that waits for a slow disk is not given up: what runs beside it would not be decided by the seed.
      let backend = DeterministicBackend(seed: seed, runsByItself: false, patience: .seconds(30))
      // Seconds since 1970 begin far from 0, and go on with the virtual time.
      let clock = PipelineClock(backend.clock) { 1_000_000 + backend.clock.now.offset / .seconds(1) }
      let stage = Stage(backend: backend, clock: clock, virtual: backend, seed: seed)
      let queue = OperationQueue(backend: backend)
      defer { backend.shutdown() }
      do { try await queue.addTask { try await body(stage) }.value } catch { throw Failed(seed: seed, error: error) }
    }.value
  }

  /// What tests share is made before they begin. A body that waits for it on a deterministic backend would be given up.
  private static func prepare() { _ = Sample.jpeg(0).count + Sample.png(0).count + Wanted.prepared }

  /// `OPERATIONS_SEED=7` runs that seed alone.
  private static let onlySeed = ProcessInfo.processInfo.environment["OPERATIONS_SEED"].flatMap { UInt64($0) }

  private struct Failed: Error, CustomStringConvertible {
    let seed: UInt64
    let error: any Error
    var description: String { "with seed \(seed): \(error)" }
  }

  private static let executor = StealingBackend(workers: 2).taskExecutor

  /// A task beside Swift's own threads: those run tests that block.
  static func spawn<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) -> Task<Result, any Error>
  {
    Task(executorPreference: executor, operation: body)
  }
}

extension ImagePipeline {
  /// The operations in all stages.
  var operationCount: Int { everyQueue.reduce(0) { $0 + $1.operationCount } }
  private var everyQueue: [OperationQueue] { [queues.fetch, queues.decode, queues.process, queues.store] }
}

/// Closed until somebody opens it. A cancelled task leaves at once.
final class Gate: Sendable {
  private struct State: Sendable {
    var isOpen = false
    var last = 0
    var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    var left: Set<Int> = []
  }

  private let state = Mutex(State())

  var waiters: Int { state.withLock { $0.waiting.count } }

  func open() {
    let waiting = state.withLock { state in
      defer { state.waiting = [:] }
      state.isOpen = true
      return state.waiting.values
    }
    for task in waiting { task.resume() }
  }

  func pass() async throws {
    let number = state.withLock {
      $0.last += 1
      return $0.last
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          if state.isOpen || state.left.remove(number) != nil { return true }
          state.waiting[number] = continuation
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        let waiting = state.waiting.removeValue(forKey: number)
        if waiting == nil { state.left.insert(number) }
        return waiting
      }
      waiting?.resume()
    }
    try Task.checkCancellation()
  }
}

/// A number that several threads count up.
final class Counter: Sendable {
  private let number = Atomic(0)
  var value: Int { number.load(ordering: .sequentiallyConsistent) }
  @discardableResult func increment() -> Int { number.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// Small pictures whose files are real. They are made once.
enum Sample {
  static let count = 12
  private static let all: [(picture: Picture, png: [UInt8])] = (0..<count).map {
    let picture = TestPicture.make(seed: UInt64($0), width: 24 + $0, height: 16)
    return (picture, (try? picture.encodedPNG()) ?? [])
  }
  private static let jpegs: [[UInt8]] = all.map { (try? $0.picture.encodedJPEG(quality: 90)) ?? [] }

  static func picture(_ number: Int) -> Picture { all[number % count].picture }
  static func png(_ number: Int) -> [UInt8] { all[number % count].png }
  static func jpeg(_ number: Int) -> [UInt8] { jpegs[number % count] }
}

func url(_ number: Int) -> String { "http://pictures.test/\(number)" }

extension ImageRequest {
  init(
    _ number: Int, processing: Processing = Processing(), priority: Operation.QueuePriority = .normal,
    fields: [String: String] = [:]
  ) {
    self.init(url: ImagePipelineTests.url(number), processing: processing, priority: priority, fields: fields)
  }
}

/// A folder that is deleted when nobody holds the folder any more.
final class Folder: Sendable {
  let path = FileManager.default.temporaryDirectory.appending(path: "pipeline-\(UUID().uuidString)").path
  deinit { try? FileManager.default.removeItem(atPath: path) }

  var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted() }
  var files: [String] { names.filter { $0 != "version" } }
  func file(_ name: String) -> URL { URL(filePath: path).appending(path: name) }
  func cache(sizeLimit: Int = 1 << 20) throws -> DiskCache { try DiskCache(path: path, sizeLimit: sizeLimit) }
}
