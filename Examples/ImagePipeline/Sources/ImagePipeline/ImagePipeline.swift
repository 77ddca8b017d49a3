import OperationComposition
import Operations
import Pictures
import Synchronization

/// Downloads, decodes, changes and keeps pictures.
///
/// The idea is in this file. A stage is a queue with a limit. A step is an operation of a stage, which all requests
/// share that need it (`Coalescer`), and asks in its body for the step before. So priorities and cancelling pass from a
/// request through all steps down to its connection.
///
/// ```swift
/// let pipeline = ImagePipeline(transport: HTTPTransport(), backend: .stealing)
/// let picture = try await pipeline.image(for: ImageRequest(url: "http://127.0.0.1:8080/picture/1.jpg"))
/// ```
///
/// There is one download for a URL, one decoding for a URL and a size, one picture for a URL and its processing. A step
/// is as urgent as its most urgent request, and ends when the last request has left.
public final class ImagePipeline: Sendable {
  /// The queues of the stages. Their operations are named after their URLs: `diagnosis()` and a trace show them.
  public struct Queues: Sendable {
    public let fetch: OperationQueue
    public let decode: OperationQueue
    public let process: OperationQueue
    public let store: OperationQueue
    /// Requests that wait until they may be sent, the first of them at the bucket.
    let rate: OperationQueue
    /// Steps that wait for other steps. They hold no place anywhere else.
    let joints: OperationQueue

    var all: [OperationQueue] { [joints, fetch, rate, decode, process, store] }
  }

  struct Key: Hashable, Sendable {
    /// Without a name and a password: they are among the fields.
    var url: String
    /// Those of the request, with names in lower case.
    var fields: [String: String]
    var processing: Processing
    /// Differs for each request where nothing is shared.
    var number: Int

    /// What the download is called on disk. Fields may be secret: no more than their checksum is written down.
    var file: String { fields.isEmpty ? url : "\(url) \(DiskCache.checksum(of: fields))" }

    func with(_ processing: Processing) -> Key {
      var key = self
      key.processing = processing
      return key
    }
  }

  public let queues: Queues
  public let statistics = PipelineStatistics()
  public let backend: any Backend

  let configuration: Configuration
  let transport: any Transport
  private let memory: MemoryCache<Key, Picture>
  let bucket: TokenBucket<PipelineClock>?
  let jitter: Mutex<SeededGenerator>
  private let isShutDown = Atomic(false)
  /// What `isSuspended` was set to last.
  private let suspension = Mutex(false)
  let lastNumber = Atomic(0)
  let listeners = ProgressListeners()

  private let pictures: Coalescer<Key, Picture>
  private let sources: Coalescer<Key, DecodedPicture>
  private let downloads: Coalescer<Key, Download>
  let fetches: Coalescer<Key, Download>
  let permits: Coalescer<Key, Void>
  private let decodes: Coalescer<Key, DecodedPicture>
  private let processes: Coalescer<Key, Picture>

  public init(
    transport: any Transport, backend: any Backend = .stealing, configuration: Configuration = Configuration()
  ) {
    func queue(_ name: String, limit: Int?) -> OperationQueue {
      let queue = OperationQueue(backend: backend)
      queue.name = name
      if let limit { queue.maxConcurrentOperationCount = limit }
      return queue
    }
    let work = configuration.workLimit ?? backend.workerCount
    queues = Queues(
      fetch: queue("fetch", limit: configuration.fetchLimit), decode: queue("decode", limit: work),
      process: queue("process", limit: work), store: queue("store", limit: 1), rate: queue("rate", limit: 1),
      joints: queue("joints", limit: nil))
    if let limit = configuration.prefetchLimit, limit < configuration.fetchLimit {
      queues.fetch.limits[below: .normal] = limit
    }
    (self.transport, self.backend, self.configuration) = (transport, backend, configuration)
    memory = MemoryCache(
      costLimit: configuration.memoryLimit, ageLimit: configuration.memoryAgeLimit, clock: configuration.clock)
    bucket = configuration.rate.map { TokenBucket(rate: $0.perSecond, burst: $0.burst, clock: configuration.clock) }
    jitter = Mutex(SeededGenerator(seed: configuration.seed))
    pictures = Coalescer(queue: queues.joints) { $0.url }
    sources = Coalescer(queue: queues.joints) { $0.url }
    downloads = Coalescer(queue: queues.joints) { $0.url }
    fetches = Coalescer(queue: queues.fetch) { $0.url }
    // A bucket serves who came first. So one request at a time stands there, and the queue in front knows who is
    // urgent.
    permits = Coalescer(queue: queues.rate) { $0.url }
    decodes = Coalescer(queue: queues.decode) { $0.url }
    processes = Coalescer(queue: queues.process) { $0.url }
  }

  // MARK: Asking

  /// Waits for a picture. A cancelled task leaves at once; the work ends when no other request needs the work.
  ///
  /// Throws `ImagePipelineError`, `TransportError`, `DeadlineExceeded`, `PictureError`, `CancellationError`.
  public func image(for request: ImageRequest) async throws -> Picture {
    let task = task(for: request)
    defer { task.cancel() }
    return try await task.value
  }

  /// Asks for a picture. The request lasts until the request is cancelled, or nobody holds the request any more.
  public func task(for request: ImageRequest) -> ImageTask {
    statistics.add(1, to: .requests)
    guard !isShutDown.load(ordering: .acquiring) else {
      return ImageTask(.failure(ImagePipelineError.shutDown), request)
    }
    let key = key(for: request)
    if let picture = memory.value(for: kept(key)) {
      statistics.add(1, to: .memoryHits)
      return ImageTask(.success(picture), request)
    }
    let work = pictures.request(for: key, priority: request.priority) { [self] in try await self.picture(key) }
    // What was asked for while the pipeline was shut down has nobody to end it.
    if isShutDown.load(ordering: .sequentiallyConsistent) {
      work.cancel()
      return ImageTask(.failure(ImagePipelineError.shutDown), request)
    }
    return ImageTask(work, request)
  }

  // MARK: Steering

  /// While true, no stage starts anything: the thread that scrolls has the CPUs. What runs goes on, and what is in
  /// memory is found.
  public var isSuspended: Bool {
    get { suspension.withLock { $0 } }
    set {
      // A pipeline that is shut down goes on to its end.
      suspension.withLock { $0 = newValue && !isShutDown.load(ordering: .sequentiallyConsistent) }
      applySuspension()
    }
  }

  /// Several threads may set `isSuspended`. Each looks again behind its own stores, so the last value counts in all
  /// queues.
  private func applySuspension() {
    var (wanted, applied): (Bool, Bool?) = (isSuspended, nil)
    while applied != wanted {
      for queue in [queues.fetch, queues.decode, queues.process] { queue.isSuspended = wanted }
      (applied, wanted) = (wanted, isSuspended)
    }
  }

  /// Drops the pictures in memory and cancels everything.
  public func memoryWarning() {
    queues.joints.cancelAllOperations()
    memory.removeAll()
  }

  /// Takes no more requests, cancels what is under way, and returns when nothing runs any more. What was written to
  /// disk is whole.
  public func shutdown() async {
    // Under the lock: a suspension that another thread sets now comes before, and is lifted, or is refused.
    suspension.withLock {
      isShutDown.store(true, ordering: .sequentiallyConsistent)
      $0 = false
    }
    applySuspension()
    queues.joints.cancelAllOperations()
    for queue in queues.all { await queue.drained() }
  }

  /// Requests and steps under way: 0 when nobody waits for anything.
  public var pendingSteps: Int {
    pictures.count + sources.count + downloads.count + fetches.count + permits.count + decodes.count
      + processes.count
  }

  // MARK: Steps

  /// Decodes, and does to the picture what is asked.
  private func picture(_ key: Key) async throws -> Picture {
    // A request that came while the pipeline was shut down: `shutdown()` may have missed it.
    guard !isShutDown.load(ordering: .sequentiallyConsistent) else { throw ImagePipelineError.shutDown }
    let generation = memory.generation
    let decoded = key.with(Processing(size: key.processing.size))
    let source = try await sources.step(for: decoded) { [self] in try await self.source(decoded) }
    var picture = source.picture
    if key.processing != Processing() {
      picture = try await processes.step(for: key) { [self] in
        statistics.add(1, to: .processed)
        return await backend.run { key.processing.apply(to: source.picture) }
      }
    }
    try Task.checkCancellation()
    source.isWanted()
    // A memory warning that has come since has emptied the cache: this picture does not come back into it.
    memory.store(picture, for: kept(key), cost: picture.byteCount, ifStill: generation)
    return picture
  }

  /// Downloads and decodes: again when the end of the body may be missing.
  private func source(_ key: Key) async throws -> DecodedPicture {
    try await again(budget: nil) { try await self.decoded(key) }
  }

  /// Downloads and decodes. What was kept of an earlier download and makes no picture is dropped, and the picture is
  /// downloaded again.
  private func decoded(_ key: Key) async throws -> DecodedPicture {
    let file = key.with(Processing())
    var mayGoOn = 2
    while true {
      let download = try await downloads.step(for: file) { [self] in try await self.download(file) }
      do {
        let decoded = try await decodes.step(for: key) { [self] in
          statistics.add(1, to: .decodes)
          let picture = try Picture.decode(
            download.entry.bytes, limits: configuration.decoding, fitting: key.processing.size)
          return DecodedPicture(picture, statistics)
        }
        try Task.checkCancellation()
        keep(download)
        return decoded
      } catch let error as PictureError where download.hasKeptBytes {
        // Another size may have found the same file at the same time, and have begun the next download with it.
        if mayGoOn == 0 { throw error }
        mayGoOn -= 1
        if configuration.diskCache?.removeAll(of: key.file) == true { statistics.add(1, to: .droppedFiles) }
      } catch let error as PictureError where download.mayBeCut && Self.mayLackBytes(error, download.entry) {
        guard configuration.retryBudget?.failed() ?? true else { throw error }
        throw Passing(underlying: error)
      }
    }
  }

  /// The first bytes of a file say what kind of file it is.
  private static func mayLackBytes(_ error: PictureError, _ entry: DiskCache.Entry) -> Bool {
    if case .damaged = error { return true }
    return error == .unknownFormat && entry.bytes.count < 4
  }
}

extension Coalescer {
  /// As `value(for:)`, for a step in the body of another step. The cancelling of the waiting task leaves in that very
  /// call, and does not wait until a thread is free for the task: so it passes through all steps at once, down to the
  /// connection.
  func step(for key: Key, _ body: @escaping @Sendable () async throws -> Success) async throws -> Success {
    try Task.checkCancellation()
    let request = request(for: key, body)
    defer { request.cancel() }
    return try await withTaskCancellationHandler {
      try await request.value
    } onCancel: {
      request.cancel()
    }
  }
}
