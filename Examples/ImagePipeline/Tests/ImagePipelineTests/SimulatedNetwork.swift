import ImagePipeline
import Operations
import Pictures
import Synchronization

/// Servers without sockets. Each address has a file, and faults that its next requests meet, one each.
final class SimulatedNetwork: Transport {
  /// What an address serves when nothing is wrong.
  struct File: Sendable {
    var bytes: [UInt8]
    var etag: String?
    var lastModified: String?
    var cacheControl: String?
    var acceptsRanges = true
    var tellsLength = true
    var type = "image/png"
  }

  enum Fault: Sendable {
    /// The connection is refused.
    case refused
    /// No request can be sent to the address, whenever that is tried.
    case impossible
    case status(Int, retryAfter: String? = nil)
    /// The connection breaks off after so many bytes of the body.
    case cut(after: Int)
    /// Right in length, and no picture.
    case wrongBytes
    case wrongType
    case redirect(String)
    /// A part is sent that begins elsewhere, and breaks off.
    case wrongRange
    /// Bytes without an end.
    case endless
    /// Nothing comes after so many bytes of the body; nil: not even the head.
    case stall(after: Int?)
    /// Waits at a gate after so many bytes of the body; nil: before the head.
    case gate(Gate, after: Int?)
    case head(TransportHead, [UInt8])
    /// What is to happen is decided when the request comes.
    case change(@Sendable (inout File) -> Void)
  }

  private struct State: Sendable {
    var files: [String: File] = [:]
    var faults: [String: [Fault]] = [:]
    var requests: [TransportRequest] = []
    var running: [String: Int] = [:]
    var greatest = 0
    var greatestOfOne = 0
    var cancelled = 0
    var times: [PipelineClock.Instant] = []
  }

  private let state = Mutex(State())
  private let clock: PipelineClock
  private let latency: @Sendable (String) -> Duration
  private let chunkSize: Int
  /// The same for all requests: a test that holds everything back.
  let entrance: Gate?
  /// What a request meets where nothing is written down: by its address and its number, from 1 on.
  private let chance: @Sendable (String, Int) -> Fault?

  init(
    _ stage: Stage, chunkSize: Int = 200, entrance: Gate? = nil,
    latency: @escaping @Sendable (String) -> Duration = { _ in .zero },
    chance: @escaping @Sendable (String, Int) -> Fault? = { _, _ in nil }
  ) {
    (clock, self.latency, self.chunkSize, self.entrance) = (stage.clock, latency, chunkSize, entrance)
    self.chance = chance
    for number in 0..<100 { serve(File(bytes: Sample.png(number)), at: url(number)) }
  }

  func serve(_ file: File, at url: String) { state.withLock { $0.files[url] = file } }
  func script(_ faults: [Fault], at url: String) { state.withLock { $0.faults[url, default: []] += faults } }

  var requests: [TransportRequest] { state.withLock { $0.requests } }
  func requests(of url: String) -> [TransportRequest] { requests.filter { $0.url == url } }
  /// When the requests came, since the clock was made.
  var times: [Duration] { state.withLock { $0.times.map(\.offset) } }
  var running: Int { state.withLock { $0.running.values.reduce(0, +) } }
  /// The most requests at once, of all addresses.
  var greatest: Int { state.withLock { $0.greatest } }
  /// The most requests at once of one address.
  var greatestOfOne: Int { state.withLock { $0.greatestOfOne } }
  var cancelled: Int { state.withLock { $0.cancelled } }

  func send(
    _ request: TransportRequest, head: @Sendable (TransportHead) throws -> Void,
    chunk: @Sendable ([UInt8]) throws -> Void
  ) async throws {
    let now = clock.now
    let fault = state.withLock { state -> Fault? in
      state.requests.append(request)
      state.times.append(now)
      state.running[request.url, default: 0] += 1
      state.greatest = max(state.greatest, state.running.values.reduce(0, +))
      state.greatestOfOne = max(state.greatestOfOne, state.running[request.url] ?? 0)
      guard state.faults[request.url]?.isEmpty == false else { return chance(request.url, state.requests.count) }
      return state.faults[request.url]?.removeFirst()
    }
    defer {
      state.withLock {
        $0.running[request.url, default: 1] -= 1
        if Task.isCancelled { $0.cancelled += 1 }
      }
    }
    try await entrance?.pass()
    let latency = latency(request.url)
    if latency > .zero { try await clock.sleep(until: clock.now.advanced(by: latency)) }
    try Task.checkCancellation()
    try await answer(request, fault, head: head, chunk: chunk)
  }

  private func answer(
    _ request: TransportRequest, _ fault: Fault?, head: @Sendable (TransportHead) throws -> Void,
    chunk: @Sendable ([UInt8]) throws -> Void
  ) async throws {
    // A query names the same file.
    let address = String(request.url.prefix { $0 != "?" })
    switch fault {
    case .refused: throw TransportError("refused")
    case .impossible: throw TransportError("impossible", isPassing: false)
    case .status(let status, let after):
      return try head(TransportHead(status: status, headers: after.map { ["retry-after": $0] } ?? [:]))
    case .redirect(let target): return try head(TransportHead(status: 302, headers: ["location": target]))
    case .head(let answer, let bytes):
      try head(answer)
      return try await deliver(bytes, chunk)
    case .wrongRange:
      try head(
        TransportHead(
          status: 206, headers: ["content-range": "bytes 3-20/900", "etag": "\"a\"", "accept-ranges": "bytes"]))
      try await deliver([UInt8](repeating: 7, count: 18), chunk)
      throw TransportError("cut")
    case .endless:
      try head(TransportHead(status: 200, headers: ["content-type": "image/png"]))
      while true { try await deliver([UInt8](repeating: 1, count: chunkSize), chunk) }
    case .stall(after: nil): return try await Gate().pass()
    case .gate(let gate, after: nil): try await gate.pass()
    case .change(let change):
      state.withLock { state in
        guard var file = state.files[address] else { return }
        change(&file)
        state.files[address] = file
      }
    default: break
    }
    guard let file = state.withLock({ $0.files[address] }) else { return try head(TransportHead(status: 404)) }
    let (answer, bytes) = Self.answer(file, request, fault)
    try head(answer)
    switch fault {
    case .cut(let count):
      try await deliver(Array(bytes.prefix(count)), chunk)
      throw TransportError("cut after \(count) bytes")
    case .stall(let count?):
      try await deliver(Array(bytes.prefix(count)), chunk)
      try await Gate().pass()
    case .gate(let gate, let count?):
      try await deliver(Array(bytes.prefix(count)), chunk)
      try await gate.pass()
      try await deliver(Array(bytes.dropFirst(count)), chunk)
    default: try await deliver(bytes, chunk)
    }
  }

  /// As a server does that knows conditions and ranges.
  private static func answer(_ file: File, _ request: TransportRequest, _ fault: Fault?) -> (TransportHead, [UInt8]) {
    var headers = ["content-type": file.type]
    headers["etag"] = file.etag
    headers["last-modified"] = file.lastModified
    headers["cache-control"] = file.cacheControl
    if file.acceptsRanges { headers["accept-ranges"] = "bytes" }
    let asked = request.headers
    let isSame =
      asked["if-none-match"].map { $0 == file.etag } ?? asked["if-modified-since"].map { $0 == file.lastModified }
    if isSame == true { return (TransportHead(status: 304, headers: headers), []) }
    if file.acceptsRanges, let range = asked["range"], let condition = asked["if-range"],
      condition == file.etag || condition == file.lastModified,
      let start = Int(range.dropFirst("bytes=".count).dropLast())
    {
      guard start < file.bytes.count else {
        return (TransportHead(status: 416, headers: ["content-range": "bytes */\(file.bytes.count)"]), [])
      }
      headers["content-range"] = "bytes \(start)-\(file.bytes.count - 1)/\(file.bytes.count)"
      if file.tellsLength { headers["content-length"] = "\(file.bytes.count - start)" }
      return (TransportHead(status: 206, headers: headers), Array(file.bytes[start...]))
    }
    if file.tellsLength { headers["content-length"] = "\(file.bytes.count)" }
    var bytes = file.bytes
    if case .wrongBytes = fault { bytes = bytes.map { $0 ^ 0x55 } }
    if case .wrongType = fault {
      headers["content-type"] = "text/html"
      bytes = Array("<html></html>".utf8)
      headers["content-length"] = "\(bytes.count)"
    }
    return (TransportHead(status: 200, headers: headers), bytes)
  }

  private func deliver(_ bytes: [UInt8], _ chunk: @Sendable ([UInt8]) throws -> Void) async throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      try Task.checkCancellation()
      try chunk(Array(rest.prefix(chunkSize)))
      rest = rest.dropFirst(chunkSize)
    }
  }
}
