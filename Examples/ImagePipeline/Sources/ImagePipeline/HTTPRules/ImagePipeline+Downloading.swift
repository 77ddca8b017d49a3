import OperationComposition
import Operations
import Synchronization

extension ImagePipeline {
  /// Attempts again what is `Passing`, after waits that hold no place.
  func again<Value>(
    budget: RetryBudget?, _ attempt: nonisolated(nonsending) () async throws -> Value
  ) async throws -> Value {
    lazy var backoff = Backoff.exponential(factor: 2, initial: configuration.backoff).maximum(.seconds(8))
      .fullJitter(using: SeededGenerator(seed: jitter.withLock { $0.next() }))
    var attempts = 0
    do {
      return try await retry(
        maxAttempts: configuration.maximumAttempts, clock: configuration.clock, budget: budget
      ) {
        attempts += 1
        if attempts > 1 { statistics.add(1, to: .retries) }
        return try await attempt()
      } strategy: { error in
        guard let error = error as? Passing else { return .stop }
        let wait = max(backoff.nextDuration(), error.retryAfter ?? .zero)
        return wait <= configuration.longestBackoff ? .backoff(wait) : .stop
      }
    } catch let error as Passing {
      throw error.underlying
    }
  }

  /// Writing delays nobody, and a disk that is full costs no picture.
  private func onDisk(_ body: @escaping @Sendable (DiskCache) throws -> Void) {
    guard let cache = configuration.diskCache else { return }
    queues.store.addOperation { [statistics] in
      do { try body(cache) } catch { statistics.add(1, to: .failedStores) }
    }
  }

  func keep(_ download: Download) {
    if download.mustNotBeStored {
      // What was kept is not what the server has now.
      onDisk { $0.removeAll(of: download.entry.url) }
    } else if download.isNew {
      onDisk { try $0.store(download.entry, at: download.moment) }
    }
  }

  /// Finds the file on disk, or fetches the file: again when that may help.
  func download(_ key: Key) async throws -> Download {
    let cache = configuration.diskCache
    let moment = cache?.moment() ?? 0
    let stale = cache?.entry(for: key.file)
    if let stale, stale.isFresh(at: configuration.clock.wallTime()) {
      statistics.add(1, to: .diskHits)
      return Download(entry: stale, moment: moment, hasKeptBytes: true, isNew: false)
    }
    let part = cache?.part(for: key.file).map {
      Part(bytes: $0.bytes, etag: $0.etag, lastModified: $0.lastModified, address: $0.address ?? key.url)
    }
    let memory = DownloadMemory(part)
    guard let url = Address(key.url) else { throw TransportError.noAddress(key.url) }
    let fields = ["accept": "image/jpeg, image/png", "accept-encoding": "identity"]
      .merging(Self.fields(configuration.fields)) { $1 }.merging(key.fields) { $1 }
    let attempt = Attempt(
      transport: transport, configuration: configuration, clock: configuration.clock, statistics: statistics,
      url: url, file: key.file, fields: fields, moment: moment, stale: stale, memory: memory,
      permit: { [bucket, permits] in
        if let bucket { try await permits.step(for: key) { try await bucket.take() } }
      },
      progress: { [listeners] in listeners.report($0, $1, of: key.file) })
    do {
      return try await again(budget: configuration.retryBudget) {
        try await fetches.step(for: key) { [self] in try await fetch(attempt) }
      }
    } catch {
      keep(attempt)
      throw error
    }
  }

  private func fetch(_ attempt: Attempt) async throws -> Download {
    do {
      try await attempt.permit()
      let deadline = configuration.clock.now.advanced(by: configuration.timeout)
      return try await withDeadline(deadline, clock: configuration.clock) { try await attempt.run() }
    } catch {
      // The download that asked has ended before, and has seen nothing of what came last.
      if Task.isCancelled { keep(attempt) }
      throw error is DeadlineExceeded ? Passing(underlying: error) : error
    }
  }

  /// What an interrupted download leaves for the next one.
  private func keep(_ attempt: Attempt) {
    switch attempt.memory.state.withLock({ $0 }) {
    case .unchanged: break
    case .useless: onDisk { $0.removePart(of: attempt.file) }
    case .grown(let part):
      let entry = DiskCache.Entry(
        url: attempt.file, bytes: part.bytes, etag: part.etag, lastModified: part.lastModified,
        confirmed: configuration.clock.wallTime(), address: part.address)
      onDisk { try $0.storePart(entry, at: attempt.moment) }
    }
  }
}
