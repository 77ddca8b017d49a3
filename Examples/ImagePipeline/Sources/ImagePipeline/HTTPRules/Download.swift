import OperationComposition
import Synchronization

/// A picture's bytes, and where they are from.
struct Download: Sendable {
  var entry: DiskCache.Entry
  /// When the download began, as the disk cache counts.
  var moment: UInt64
  /// Bytes of an earlier answer are among them. When they make no picture, a whole new answer may.
  var hasKeptBytes: Bool
  /// The disk does not have the entry yet.
  var isNew = true
  /// The server asked that nothing be kept.
  var mustNotBeStored = false
  /// Nothing has said where the body ends. When the bytes make no picture, another answer may.
  var mayBeCut = false
}

/// A failure that may be gone at the next attempt.
struct Passing: Error, Sendable {
  var underlying: any Error
  /// What the server asked for.
  var retryAfter: Duration?
}

/// The beginning of a body, and what says whether the server still has the same file.
struct Part: Sendable {
  var bytes: [UInt8]
  var etag: String?
  var lastModified: String?
  /// Whose answer it is the beginning of: its validators mean nothing to others.
  var address: String

  /// HTTP compares strong validators only.
  var validator: String? { etag.flatMap { $0.hasPrefix("W/") ? nil : $0 } ?? lastModified }

  /// Whether an answer can be the rest of this file. A server that does not know `If-Range` may send the rest of
  /// another one.
  func mayBe(_ head: TransportHead) -> Bool {
    func differ(_ one: String?, _ other: String?) -> Bool { one != nil && other != nil && one != other }
    return !differ(etag, head.headers["etag"]) && !differ(lastModified, head.headers["last-modified"])
  }
}

/// What attempts of one download hand on to each other. A request may end at any time: the part is what it leaves.
final class DownloadMemory: Sendable {
  enum State: Sendable {
    /// As on disk, where there may be none.
    case unchanged(Part?)
    case grown(Part)
    /// The server does not have the rest of it.
    case useless
  }

  let state: Mutex<State>
  init(_ part: Part?) { state = Mutex(.unchanged(part)) }

  var part: Part? {
    switch state.withLock({ $0 }) {
    case .unchanged(let part): part
    case .grown(let part): part
    case .useless: nil
    }
  }
}

/// The answer does not fit the part: the whole file is to be asked for.
private struct StartAgain: Error {}

/// One attempt: follows redirects, asks for what is missing, and says what the answer means.
struct Attempt: Sendable {
  let transport: any Transport
  let configuration: ImagePipeline.Configuration
  let clock: PipelineClock
  let statistics: PipelineStatistics
  /// The first address, and what the picture is called on disk.
  let url: Address
  let file: String
  /// Fields of the request, beside those that ask for a part or confirm an entry.
  let fields: [String: String]
  let moment: UInt64
  /// An entry that is too old to be used unasked.
  let stale: DiskCache.Entry?
  let memory: DownloadMemory
  /// Waits until another request may be sent.
  let permit: @Sendable () async throws -> Void
  let progress: @Sendable (Int, Int?) -> Void

  /// The first request has its permit already.
  func run() async throws -> Download {
    var (address, visited, fields): (Address, Set<String>, [String: String]) = (url, [url.text], fields)
    // An answer behind redirects is fresh while all of them are.
    var freshness = Double.infinity
    while true {
      let part = memory.part.flatMap { $0.address == address.text && $0.validator != nil ? $0 : nil }
      // One question at a time: whoever asks for the rest is not told that an entry still holds.
      let stale = part == nil ? stale.flatMap { ($0.address ?? url.text) == address.text ? $0 : nil } : nil
      let receiver = Receiver(attempt: self, address: address.text, part: part, stale: stale)
      statistics.add(1, to: .fetches)
      do {
        try await transport.send(
          TransportRequest(url: address.text, headers: fields.merging(Self.conditions(part, stale)) { $1 }),
          head: receiver.head, chunk: receiver.chunk)
      } catch is StartAgain {
        guard part != nil else { throw ImagePipelineError.wrongRange(url: url.text) }
        memory.state.withLock { $0 = .useless }
        try await permit()
        continue
      } catch let error as TransportError {
        receiver.keepPart()
        guard error.isPassing else { throw error }
        throw Passing(underlying: error)
      } catch is CancellationError {
        receiver.keepPart()
        throw CancellationError()
      }
      switch try receiver.outcome() {
      case .redirect(let target, let age):
        guard visited.count <= configuration.maximumRedirects, !target.isEmpty,
          let next = Address(target, relativeTo: address), visited.insert(next.text).inserted
        else { throw ImagePipelineError.redirects(url: url.text) }
        // What proves who asks is for the servers of one origin.
        if !next.hasSameOrigin(as: address) { (fields["authorization"], fields["cookie"]) = (nil, nil) }
        fields["authorization"] = next.authorization ?? fields["authorization"]
        (address, freshness) = (next, min(freshness, age))
        try await permit()
      case .download(var download):
        download.entry.maximumAge = min(download.entry.maximumAge, freshness)
        return download
      }
    }
  }

  private static func conditions(_ part: Part?, _ stale: DiskCache.Entry?) -> [String: String] {
    var headers: [String: String] = [:]
    if let part, let validator = part.validator {
      headers["range"] = "bytes=\(part.bytes.count)-"
      headers["if-range"] = validator
    } else if let stale {
      headers["if-none-match"] = stale.etag
      headers["if-modified-since"] = stale.lastModified
    }
    return headers
  }
}

/// Reads one answer.
private final class Receiver: Sendable {
  enum Outcome {
    /// To where, and how long it holds in seconds.
    case redirect(String, Double)
    case download(Download)
  }

  private struct State: Sendable {
    var head = TransportHead(status: 0)
    /// What is kept of the body, and how long the body is so far. Only pictures are kept.
    var bytes: [UInt8] = []
    var count = 0
    var expected: Int?

    var isPicture: Bool { head.status == 200 || head.status == 206 }
  }

  private let attempt: Attempt
  private let address: String
  /// What the request has asked to go on with, or to confirm.
  private let part: Part?
  private let stale: DiskCache.Entry?
  private let state = Mutex(State())

  init(attempt: Attempt, address: String, part: Part?, stale: DiskCache.Entry?) {
    (self.attempt, self.address, self.part, self.stale) = (attempt, address, part, stale)
  }

  @Sendable func head(_ head: TransportHead) throws {
    let url = attempt.url.text
    let limit = attempt.configuration.maximumBodyBytes
    let tooLong = ImagePipelineError.bodyTooLong(limit: limit, url: url)
    var (kept, length): ([UInt8], Int?) = ([], head.contentLength)
    if let length, length > limit { throw tooLong }
    switch head.status {
    case 200: break
    case 206:
      guard let part, let range = head.contentRange, range.start == part.bytes.count, part.mayBe(head) else {
        throw StartAgain()
      }
      kept = part.bytes
      length =
        range.total
        ?? length.map { length in
          let (sum, overflows) = length.addingReportingOverflow(kept.count)
          return overflows ? .max : sum
        }
      attempt.statistics.add(kept.count, to: .resumedBytes)
    case 304 where stale != nil: break
    case _ where head.isRedirect: break
    case 416: throw StartAgain()
    case 408, 425, 429, 500...599:
      throw Passing(
        underlying: ImagePipelineError.status(head.status, url: url),
        retryAfter: head.retryAfter(attempt.clock.wallTime()))
    default: throw ImagePipelineError.status(head.status, url: url)
    }
    if let length, length > limit { throw tooLong }
    if head.status == 200 || head.status == 206, let coding = head.coding {
      throw ImagePipelineError.coding(coding, url: url)
    }
    let isPicture = state.withLock {
      $0 = State(head: head, bytes: kept, count: kept.count, expected: length)
      return $0.isPicture
    }
    if isPicture { attempt.progress(kept.count, length) }
  }

  @Sendable func chunk(_ bytes: [UInt8]) throws {
    attempt.statistics.add(bytes.count, to: .bytes)
    let limit = attempt.configuration.maximumBodyBytes
    let progress = try state.withLock { state -> (Int, Int?)? in
      guard state.count + bytes.count <= limit else {
        throw ImagePipelineError.bodyTooLong(limit: limit, url: attempt.url.text)
      }
      state.count += bytes.count
      guard state.isPicture else { return nil }
      state.bytes += bytes
      return (state.count, state.expected)
    }
    if let progress { attempt.progress(progress.0, progress.1) }
  }

  /// The answer broke off: what has come of a picture is kept, when the server can be asked for the rest.
  func keepPart() {
    let state = state.withLock { $0 }
    let isRest = state.head.status == 206
    guard state.isPicture, !state.bytes.isEmpty, !state.head.mustNotBeStored,
      state.expected.map({ state.bytes.count < $0 }) ?? true
    else { return }
    let part = Part(
      bytes: state.bytes, etag: state.head.headers["etag"] ?? (isRest ? part?.etag : nil),
      lastModified: state.head.headers["last-modified"] ?? (isRest ? part?.lastModified : nil), address: address)
    guard part.validator != nil, state.head.headers["accept-ranges"]?.lowercased() == "bytes" || isRest else { return }
    attempt.memory.state.withLock { $0 = .grown(part) }
  }

  /// What a complete answer means.
  func outcome() throws -> Outcome {
    let state = state.withLock { $0 }
    let head = state.head
    let now = attempt.clock.wallTime()
    // The answer of a cache on the way is as old as the cache says.
    let confirmed = now - head.age
    switch head.status {
    case 304:
      guard var entry = stale else { throw ImagePipelineError.status(304, url: attempt.url.text) }
      entry.confirmed = confirmed
      entry.maximumAge = head.maximumAge(now) ?? entry.maximumAge
      entry.etag = head.headers["etag"] ?? entry.etag
      entry.lastModified = head.headers["last-modified"] ?? entry.lastModified
      attempt.statistics.add(1, to: .notModified)
      return .download(
        Download(
          entry: entry, moment: attempt.moment, hasKeptBytes: true, mustNotBeStored: head.mustNotBeStored))
    case _ where head.isRedirect:
      // Of the redirects without an age, those that hold for good say so by their status.
      let age = head.maximumAge(now) ?? ([301, 308].contains(head.status) ? .infinity : 0)
      return .redirect(head.headers["location"] ?? "", max(0, age - head.age))
    default:
      let isRest = head.status == 206
      // A server may send less of the rest than was asked for.
      if isRest, let expected = state.expected, state.bytes.count < expected {
        keepPart()
        throw Passing(underlying: ImagePipelineError.wrongRange(url: attempt.url.text))
      }
      let entry = DiskCache.Entry(
        url: attempt.file, bytes: state.bytes, etag: head.headers["etag"] ?? (isRest ? part?.etag : nil),
        lastModified: head.headers["last-modified"] ?? (isRest ? part?.lastModified : nil), confirmed: confirmed,
        maximumAge: head.maximumAge(now) ?? 0, address: address)
      return .download(
        Download(
          entry: entry, moment: attempt.moment, hasKeptBytes: isRest, mustNotBeStored: head.mustNotBeStored,
          mayBeCut: !isRest && !head.tellsEndOfBody))
    }
  }
}
