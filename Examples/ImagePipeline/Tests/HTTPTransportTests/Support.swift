#if HTTP
  import HTTPTransport
  import ImagePipeline
  import PictureServer
  import Synchronization
  import Testing

  /// How long a transport of a test waits. The server's code shares its threads with tests that compute for minutes on
  /// a busy machine.
  let patience = Duration.seconds(1800)

  /// A server with a hundred pictures of made-up bytes, and a transport, for the time of `body`.
  func withServer(
    network: NetworkModel? = nil, connectionsPerHost: Int = 8, connectTimeout: Duration = patience,
    readTimeout: Duration = patience, _ body: (Subject) async throws -> Void
  ) async throws {
    let server = PictureServer(network: network) { (0..<100).contains($0) ? pictureAt($0) : nil }
    let port = try await server.start()
    let transport = HTTPTransport(
      connectionsPerHost: connectionsPerHost, connectTimeout: connectTimeout, readTimeout: readTimeout)
    let result: Result<Void, any Error>
    do {
      result = .success(try await body(Subject(server: server, transport: transport, port: port)))
    } catch {
      result = .failure(error)
    }
    try await transport.shutdown()
    await server.stop()
    #expect(server.statistics.openConnections == 0)
    try result.get()
  }

  /// The bytes of the picture at a place. They are 100,000 and a few more.
  func bytesAt(_ index: Int) -> [UInt8] { bytes[index] }

  private let bytes = (0..<100).map { index in
    (0..<100_000 + index).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8 &+ index) }
  }
  private let pictures = (0..<100).map { ServedPicture(bytes: bytesAt($0), etag: "v\($0)") }
  func pictureAt(_ index: Int) -> ServedPicture { pictures[index] }

  struct Subject: Sendable {
    let server: PictureServer
    let transport: HTTPTransport
    let port: Int

    func request(_ path: String, _ headers: [String: String] = [:]) -> TransportRequest {
      TransportRequest(url: "http://127.0.0.1:\(port)\(path)", headers: headers)
    }

    /// The whole answer.
    @discardableResult
    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Reception {
      let inbox = Inbox()
      do {
        try await transport.send(request(path, headers), head: inbox.head, chunk: inbox.chunk)
      } catch {
        throw Failure(error: error, reception: inbox.reception)
      }
      return inbox.reception
    }

    /// Expects the whole picture.
    func expectPicture(_ index: Int, _ query: String = "") async throws {
      let got = try await get("/picture/\(index).jpg\(query)")
      #expect(got.status == 200)
      #expect(got.body == bytesAt(index))
    }

    /// The failure of a request that is to fail.
    func failure(_ path: String, _ headers: [String: String] = [:]) async throws -> Failure {
      try #require(await #expect(throws: Failure.self) { try await get(path, headers) })
    }
  }

  struct Reception: Sendable {
    var heads: [TransportHead] = []
    var body: [UInt8] = []
    var chunks = 0

    var status: Int? { heads.first?.status }
    subscript(name: String) -> String? { heads.first?.headers[name] }
  }

  /// What came of a request that failed.
  struct Failure: Error {
    var error: any Error
    var reception: Reception

    var text: String { (error as? TransportError)?.description ?? "not a TransportError: \(error)" }
  }

  /// Keeps what arrives.
  final class Inbox: Sendable {
    private let state = Mutex(Reception())

    var reception: Reception { state.withLock { $0 } }
    var head: @Sendable (TransportHead) -> Void { { [self] head in state.withLock { $0.heads.append(head) } } }
    var chunk: @Sendable ([UInt8]) -> Void {
      { [self] bytes in
        state.withLock {
          $0.body += bytes
          $0.chunks += 1
        }
      }
    }
  }

  /// Waits until the condition holds. The limit is far above what any machine needs.
  func eventually(
    _ text: Comment, at location: SourceLocation = #_sourceLocation, _ condition: () -> Bool
  ) async throws {
    let limit = ContinuousClock.now + patience
    while !condition() {
      guard ContinuousClock.now < limit else {
        Issue.record(text, sourceLocation: location)
        return
      }
      try await Task.sleep(for: .milliseconds(5))
    }
  }
#endif
