import FoundationEssentials
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

  /// HTTP compares strong validators only.
  var validator: String? { etag.flatMap { $0.hasPrefix("W/") ? nil : $0 } ?? lastModified }

  /// Whether an answer can be the rest of this file. A server that does not know `If-Range` may send the rest of another one.
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
  let url: String
  let moment: UInt64
  /// An entry that is too old to be used unasked.
  let stale: DiskCache.Entry?
  let memory: DownloadMemory
  let progress: @Sendable (Int, Int?) -> Void

  func run() async throws -> Download {
    var (address, visited): (String, Set<String>) = (url, [url])
    while true {
      let part = memory.part
      let receiver = Receiver(attempt: self, part: part)
      statistics.add(1, to: .fetches)
      do {
        try await transport.send(
          TransportRequest(url: address, headers: headers(part)), head: receiver.head, chunk: receiver.chunk)
      } catch is StartAgain {
        guard part != nil else { throw ImagePipelineError.wrongRange(url: url) }
        memory.state.withLock { $0 = .useless }
        continue
      } catch let error as TransportError {
        receiver.keepPart()
        throw Passing(underlying: error)
      } catch is CancellationError {
        receiver.keepPart()
        throw CancellationError()
      }
      switch try receiver.outcome() {
      case .redirect(let target):
        guard visited.count <= configuration.maximumRedirects, let next = Self.resolve(target, from: address),
          visited.insert(next).inserted
        else { throw ImagePipelineError.redirects(url: url) }
        address = next
      case .download(let download): return download
      }
    }
  }

  private func headers(_ part: Part?) -> [String: String] {
    var headers = ["accept": "image/*"]
    if let part, let validator = part.validator {
      headers["range"] = "bytes=\(part.bytes.count)-"
      headers["if-range"] = validator
    } else if let stale {
      headers["if-none-match"] = stale.etag
      headers["if-modified-since"] = stale.lastModified
    }
    return headers
  }

  private static func resolve(_ target: String, from address: String) -> String? {
    guard let url = URL(string: target, relativeTo: URL(string: address))?.absoluteURL,
      ["http", "https"].contains(url.scheme?.lowercased()), url.host()?.isEmpty == false
    else { return nil }
    return url.absoluteString
  }
}

/// Reads one answer.
private final class Receiver: Sendable {
  enum Outcome {
    case redirect(String)
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
  private let part: Part?
  private let state = Mutex(State())

  init(attempt: Attempt, part: Part?) { (self.attempt, self.part) = (attempt, part) }

  @Sendable func head(_ head: TransportHead) throws {
    let url = attempt.url
    let limit = attempt.configuration.maximumBodyBytes
    let tooLong = ImagePipelineError.bodyTooLong(limit: limit, url: url)
    var (kept, length): ([UInt8], Int?) = ([], Self.length(head))
    if let length, length > limit { throw tooLong }
    switch head.status {
    case 200: break
    case 206:
      guard let part, let range = Self.range(head), range.start == part.bytes.count, part.mayBe(head) else {
        throw StartAgain()
      }
      kept = part.bytes
      length = range.total ?? length.map { $0 + kept.count }
      attempt.statistics.add(kept.count, to: .resumedBytes)
    case 304 where attempt.stale != nil: break
    case _ where isRedirect(head): break
    case 416: throw StartAgain()
    case 408, 425, 429, 500...599:
      let seconds = head.headers["retry-after"].flatMap { Self.number($0) }
      throw Passing(
        underlying: ImagePipelineError.status(head.status, url: url), retryAfter: seconds.map { .seconds($0) })
    default: throw ImagePipelineError.status(head.status, url: url)
    }
    if let length, length > limit { throw tooLong }
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
        throw ImagePipelineError.bodyTooLong(limit: limit, url: attempt.url)
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
    guard state.isPicture, !state.bytes.isEmpty, !Self.mustNotBeStored(state.head),
      state.expected.map({ state.bytes.count < $0 }) ?? true
    else { return }
    let part = Part(
      bytes: state.bytes, etag: state.head.headers["etag"] ?? (isRest ? part?.etag : nil),
      lastModified: state.head.headers["last-modified"] ?? (isRest ? part?.lastModified : nil))
    guard part.validator != nil, state.head.headers["accept-ranges"]?.lowercased() == "bytes" || isRest else { return }
    attempt.memory.state.withLock { $0 = .grown(part) }
  }

  /// What a complete answer means.
  func outcome() throws -> Outcome {
    let state = state.withLock { $0 }
    let (head, now) = (state.head, attempt.clock.wallTime())
    switch head.status {
    case 304:
      guard var entry = attempt.stale else { throw ImagePipelineError.status(304, url: attempt.url) }
      entry.confirmed = now
      entry.maximumAge = Self.maximumAge(head) ?? entry.maximumAge
      attempt.statistics.add(1, to: .notModified)
      return .download(Download(entry: entry, moment: attempt.moment, hasKeptBytes: true))
    case _ where isRedirect(head): return .redirect(head.headers["location"] ?? "")
    default:
      let isRest = head.status == 206
      // A server may send less of the rest than was asked for.
      if isRest, let expected = state.expected, state.bytes.count < expected {
        keepPart()
        throw Passing(underlying: ImagePipelineError.wrongRange(url: attempt.url))
      }
      let entry = DiskCache.Entry(
        url: attempt.url, bytes: state.bytes, etag: head.headers["etag"] ?? (isRest ? part?.etag : nil),
        lastModified: head.headers["last-modified"] ?? (isRest ? part?.lastModified : nil), confirmed: now,
        maximumAge: Self.maximumAge(head) ?? 0)
      return .download(
        Download(
          entry: entry, moment: attempt.moment, hasKeptBytes: isRest, mustNotBeStored: Self.mustNotBeStored(head)))
    }
  }

  private func isRedirect(_ head: TransportHead) -> Bool {
    [301, 302, 303, 307, 308].contains(head.status) && head.headers["location"] != nil
  }

  /// Nil where there is none, or none that makes sense.
  private static func length(_ head: TransportHead) -> Int? {
    head.headers["content-length"].flatMap { number($0) }
  }

  /// A number without a sign. One that is too large for an `Int` is the largest.
  private static func number(_ text: some StringProtocol) -> Int? {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text) ?? .max
  }

  /// The first and the last number of `bytes 100-199/200`. The last one may be unknown: `*`.
  private static func range(_ head: TransportHead) -> (start: Int, total: Int?)? {
    guard let range = head.headers["content-range"], range.hasPrefix("bytes "),
      case let parts = range.dropFirst(6).split(separator: "/"), parts.count == 2,
      let start = parts[0].split(separator: "-").first.flatMap({ number($0) })
    else { return nil }
    return (start, number(parts[1]))
  }

  private static func directives(_ head: TransportHead) -> [String] {
    (head.headers["cache-control"] ?? "").split(separator: ",").map {
      $0.filter { !$0.isWhitespace }.lowercased()
    }
  }

  private static func mustNotBeStored(_ head: TransportHead) -> Bool { directives(head).contains("no-store") }

  private static func maximumAge(_ head: TransportHead) -> Double? {
    let directives = directives(head)
    if directives.contains("no-cache") { return 0 }
    // RFC 9111: what is too large counts as 2^31 seconds.
    return directives.first { $0.hasPrefix("max-age=") }.flatMap { number($0.dropFirst(8)) }
      .map { min(Double($0), 2_147_483_648) }
  }
}
