import Glibc
import ImagePipeline
import OperationComposition
import Operations
import Pictures
import Synchronization
import Testing

/// Random requests on a bad network: whatever happens, pictures are right, and nothing is left.
@Suite("Random programs")
struct RandomProgramTests {
  /// With FEW_PROGRAMS a fifth of all: for a check that does not take long.
  private static let share = getenv("FEW_PROGRAMS") == nil ? 5 : 1

  @Test("thousands of requests on real threads", arguments: Surroundings.real)
  func manyRequests(on surroundings: Surroundings) async throws {
    try await surroundings.run { stage in try await Program(stage, seed: 1, requests: 2_000 * Self.share).run() }
  }

  @Test("programs of 100 requests, in the orders of their seeds", arguments: 0..<8 as Range<UInt64>)
  func manyOrders(part: UInt64) async throws {
    let count = 5 * UInt64(Self.share)
    for seed in (part * count + 1)...(part * count + count) {
      try await Surroundings.inVirtualTime(seed: seed) { stage in
        try await Program(stage, seed: seed, requests: 100).run()
      }
    }
  }
}

/// What may come of an address: the server changes its file now and then.
enum Wanted {
  static let addresses = 24
  static let processings = ["", "size:8", "size:12", "grey", "size:8,sepia", "size:8,grey", "round:3"].map {
    (try? Processing(parsing: $0)) ?? Processing()
  }
  /// By the number of the sample.
  private static let checksums: [[Processing: UInt64]] = {
    let backend = StealingBackend(workers: 1)
    return (0..<Sample.count).map { number in
      let picture = Sample.picture(number)
      return Dictionary(
        uniqueKeysWithValues: processings.map { processing in
          (processing, backend.run { processing.apply(to: picture) }.checksum)
        })
    }
  }()

  static var prepared: Int { checksums.count }

  static func samples(of address: Int) -> [Int] { [address % Sample.count, (address + 5) % Sample.count] }

  static func address(of url: String) -> Int? { Int(url.prefix { $0 != "?" }.split(separator: "/").last ?? "") }

  static func isRight(_ picture: Picture, _ request: ImageRequest) -> Bool {
    guard let address = address(of: request.url) else { return false }
    return samples(of: address).contains { checksums[$0][request.processing] == picture.checksum }
  }
}

private final class Program: Sendable {
  private let stage: Stage
  private let seed: UInt64
  private let requests: Int
  private let network: SimulatedNetwork
  private let pipeline: ImagePipeline
  private let folder = Folder()
  private let (pictures, errors, completions, loads) = (Counter(), Counter(), Counter(), Counter())
  private let actors = 4

  init(_ stage: Stage, seed: UInt64, requests: Int) throws {
    (self.stage, self.seed, self.requests) = (stage, seed, requests)
    let isVirtual = stage.virtual != nil
    network = SimulatedNetwork(
      stage, chunkSize: 100,
      latency: { isVirtual ? .milliseconds($0.utf8.reduce(0) { $0 + Int($1) } % 40) : .zero },
      chance: { Self.fault(seed: seed, url: $0, request: $1) })
    for address in 0..<Wanted.addresses { network.serve(Self.file(address, version: 0), at: url(address)) }
    // Both caches are too small for all, so entries leave and come back.
    let cache = try DiskCache(path: folder.path, sizeLimit: 20_000)
    pipeline = stage.pipeline(network) {
      $0.diskCache = cache
      $0.memoryLimit = 30_000
      $0.maximumBodyBytes = 5_000
      $0.backoff = .milliseconds(1)
      $0.timeout = .milliseconds(isVirtual ? 2_000 : 100)
    }
  }

  private static func file(_ address: Int, version: Int) -> SimulatedNetwork.File {
    var file = SimulatedNetwork.File(bytes: Sample.png(Wanted.samples(of: address)[version]))
    if address % 5 != 4 { file.etag = "\"\(version)\"" }
    if address % 5 == 3 { file.lastModified = "version \(version)" }
    file.cacheControl = ["max-age=1000", "no-cache", "no-store", nil][address % 4]
    file.acceptsRanges = address % 3 != 2
    file.tellsLength = address % 7 != 6
    return file
  }

  /// One request of four meets a fault.
  private static func fault(seed: UInt64, url: String, request: Int) -> SimulatedNetwork.Fault? {
    var generator = SeededGenerator(seed: seed &* 1_000_003 &+ UInt64(request))
    switch Int.random(in: 0..<100, using: &generator) {
    case 0..<5: return .cut(after: Int.random(in: 0...900, using: &generator))
    case 5..<7: return .status([500, 502, 503, 429, 408].randomElement(using: &generator) ?? 500)
    case 7: return .status(429, retryAfter: "0")
    case 8: return .status(404)
    case 9: return .refused
    case 10: return .wrongBytes
    case 11: return .wrongType
    case 12: return .wrongRange
    case 13: return .status(416)
    case 14: return .endless
    case 15: return .stall(after: [nil, 0, 300].randomElement(using: &generator) ?? nil)
    case 16: return .redirect("?other")
    case 17: return .redirect("/loop")
    case 18..<24:
      let version = Int.random(in: 0...1, using: &generator)
      guard let address = Wanted.address(of: url) else { return nil }
      return .change { $0 = Self.file(address, version: version) }
    default: return nil
    }
  }

  func run() async throws {
    let prefetcher = pipeline.prefetcher()
    try await inParallel(actors, on: stage) { actor in
      try await self.act(SeededGenerator(seed: self.seed &* 31 &+ UInt64(actor)), prefetcher)
    }
    pipeline.isSuspended = false
    prefetcher.stopAll()
    try await stage.until("the handlers") { self.completions.value == self.loads.value }
    try await stage.expectNothingLeft(pipeline, network)
    #expect(completions.value == loads.value && prefetcher.count == 0)
    #expect(network.greatest <= 6)
    if requests >= 10_000 { #expect(pictures.value > 100 && errors.value > 100) }
    try checkDisk()
    // Nothing is broken for good: behind the faults each picture comes.
    let healthy = SimulatedNetwork(stage)
    for address in 0..<Wanted.addresses { healthy.serve(Self.file(address, version: 1), at: url(address)) }
    let next = stage.forgetful(healthy, try DiskCache(path: folder.path, sizeLimit: 20_000))
    for address in 0..<Wanted.addresses {
      let request = ImageRequest(address)
      #expect(Wanted.isRight(try await next.image(for: request), request), "\(address)")
    }
    await next.shutdown()
    await pipeline.shutdown()
  }

  private func checkDisk() throws {
    let cache = try DiskCache(path: folder.path, sizeLimit: 1 << 20)
    #expect(folder.files.allSatisfy { $0.hasSuffix(".image") || $0.hasSuffix(".part") })
    let count = cache.count
    #expect(count == folder.files.count)
    var found = 0
    for address in 0..<Wanted.addresses {
      let files = Wanted.samples(of: address).map { Sample.png($0) }
      if let entry = cache.entry(for: url(address)) {
        found += 1
        #expect(files.contains(entry.bytes), "entry of \(address)")
      }
      if let part = cache.part(for: url(address)) {
        found += 1
        #expect(files.contains { $0.starts(with: part.bytes) }, "part of \(address)")
      }
    }
    // Each file was whole, and is known.
    #expect(found == count && cache.count == count)
  }

  /// One of those who use the pipeline.
  private func act(_ generator: SeededGenerator, _ prefetcher: ImagePrefetcher) async throws {
    var generator = generator
    var held: [ImageTask] = []
    var left = requests / actors
    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &generator) }
    func request() -> ImageRequest {
      ImageRequest(
        url: url(number(0..<Wanted.addresses)), processing: Wanted.processings[number(0..<Wanted.processings.count)],
        priority: PriorityTests.priorities[number(0..<5)])
    }
    while left > 0 {
      switch number(0..<100) {
      case 0..<50:
        held.append(pipeline.task(for: request()))
        left -= 1
      case 50..<60:
        let request = request()
        loads.increment()
        held.append(pipeline.load(request) { self.completed(request, $0) })
        left -= 1
      case 60..<70: if !held.isEmpty { held.remove(at: number(0..<held.count)).cancel() }
      case 70..<80: if !held.isEmpty { held[number(0..<held.count)].priority = PriorityTests.priorities[number(0..<5)] }
      case 80..<86: prefetcher.start((0..<number(1..<6)).map { _ in request() })
      case 86..<90: prefetcher.stop((0..<number(1..<12)).map { _ in request() })
      case 90: prefetcher.stopAll()
      case 91: prefetcher.priority = PriorityTests.priorities[number(0..<5)]
      case 92..<94:
        try await watch(request(), updates: number(0..<12))
        left -= 1
      case 94: if number(0..<10) == 0 { pipeline.memoryWarning() }
      case 95:
        pipeline.isSuspended = true
        await Task.yield()
        pipeline.isSuspended = false
      default: if !held.isEmpty { await check(held.remove(at: number(0..<held.count))) }
      }
      if held.count > 40 { await check(held.removeFirst()) }
    }
    for task in held { await check(task) }
  }

  private func check(_ task: ImageTask) async {
    let result: Result<Picture, any Error>
    do { result = .success(try await task.value) } catch { result = .failure(error) }
    note(task.request, result)
  }

  private func completed(_ request: ImageRequest, _ result: Result<Picture, any Error>) {
    note(request, result)
    completions.increment()
  }

  private func note(_ request: ImageRequest, _ result: Result<Picture, any Error>) {
    switch result {
    case .success(let picture):
      pictures.increment()
      #expect(Wanted.isRight(picture, request), "\(request)")
    case .failure(let error):
      errors.increment()
      #expect(
        error is CancellationError || error is ImagePipelineError || error is TransportError || error is PictureError
          || error is DeadlineExceeded, "\(error)")
      #expect(error as? ImagePipelineError != .shutDown)
    }
  }

  /// Reads some updates, and leaves.
  private func watch(_ request: ImageRequest, updates: Int) async throws {
    var count = 0
    do {
      for try await update in pipeline.updates(for: request) {
        if case .picture(let picture) = update { note(request, .success(picture)) }
        count += 1
        if count > updates { break }
      }
    } catch { note(request, .failure(error)) }
  }
}
