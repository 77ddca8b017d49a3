#if HTTP
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import Synchronization

  /// A server of pictures on the loopback address 127.0.0.1, with faults on demand. The address of a request says what
  /// happens.
  /// ```swift
  /// let server = PictureServer { $0 < 100 ? picture($0) : nil }
  /// let port = try await server.start()
  /// // http://127.0.0.1:<port>/picture/17.jpg              a good picture
  /// // http://127.0.0.1:<port>/picture/17.jpg?cut=500&times=1   the first answer breaks off
  /// await server.stop()
  /// ```
  /// `/picture/17.jpg` has a strong `ETag`, `Last-Modified`, `Cache-Control: max-age` and `Accept-Ranges: bytes`. It
  /// answers `If-None-Match` and `If-Modified-Since` with 304. It answers `Range` with 206 or 416. With an `If-Range`
  /// that does not hold it answers 200 and the whole picture. Several ranges in one request count as none.
  ///
  /// Words in the query make faults. Several may be joined with `&`. `fault=WORD` is the same as `WORD`.
  /// - `status=500`, or `500`, or `status500`: this status in place of the picture. Any from 200 to 599.
  /// - `retry-after=1`: the header `Retry-After`, for a status of the query.
  /// - `delay=MS`: silence before the head.
  /// - `slow=BYTES_PER_SECOND`: the rate of this answer's body.
  /// - `cut=BYTES`: the connection is closed after so many bytes of the body.
  /// - `stall`, `stall=BYTES`: silence after so many bytes of the body, until the client closes.
  /// - `short`: `Content-Length` is 1000 too large. The connection is closed after the body.
  /// - `drop`: the connection is closed in place of an answer.
  /// - `endless`: a body without an end, as fast as the client takes it.
  /// - `garbage`: random bytes as `image/jpeg`. They are as many as the picture has, and the same each time.
  /// - `wrongtype`: status 200 with a page of `text/html`.
  /// - `redirect=ADDRESS`: status 302 with this `Location`. `redirect=loop` leads to the same address. `&` and `%` in
  ///   the address are written `%26` and `%25`.
  /// - `times=N`: the faults above are for the first N requests of this address. The address includes the query.
  /// - `etag-changes`: each answer has another `ETag`. `times` does not matter.
  /// - `no-validators`: neither `ETag` nor `Last-Modified`. `times` does not matter.
  /// - `key=TEXT`: does nothing. It makes another address, whose requests are counted apart.
  ///
  /// An unknown word gets status 400, and a text that lists the words.
  ///
  /// `/random/SEED/17.jpg` is the picture with a seeded mix of faults. Each of the first two requests of such an
  /// address has a fault in 15 of 100 cases. The third and later ones have none. The seed, the address with its query,
  /// and the number of the request decide. The kinds are alike frequent: status 500; status 503; status 429 with
  /// `Retry-After: 0`; the connection closed in the middle of the body; `short`; `drop`; 50 ms of delay.
  ///
  /// A `NetworkModel` applies to all answers. The server runs on one event loop, and uses one thread.
  public final class PictureServer: Sendable {
    private enum State {
      case new, starting, stopped
      case running(MultiThreadedEventLoopGroup)
    }
    private let core: ServerCore
    private let state = Mutex(State.new)

    /// - Parameters:
    ///   - network: A made-up network between the server and its clients. Nil: none.
    ///   - maxAge: For `Cache-Control`, in seconds.
    ///   - pictures: The picture at a place, or nil for a 404. It is called on the event loop for each request. So it
    ///     returns at once.
    public init(
      network: NetworkModel? = nil, maxAge: Int = 3600, pictures: @escaping @Sendable (Int) -> ServedPicture?
    ) {
      core = ServerCore(network: network, maxAge: maxAge, pictures: pictures)
    }

    /// What the server has done so far.
    public var statistics: ServerStatistics { core.statistics }

    /// Listens on 127.0.0.1. A server is started once.
    /// - Parameter port: 0 is any free port.
    /// - Returns: The port.
    /// - Throws: `PictureServerError` when the port cannot be had, and when the server was started before.
    @discardableResult
    public func start(port: Int = 0) async throws -> Int {
      guard (0...65_535).contains(port) else { throw PictureServerError("a port is from 0 to 65535, not \(port)") }
      try state.withLock {
        guard case .new = $0 else { throw PictureServerError("a server is started once: make another one") }
        $0 = .starting
      }
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      do {
        let channel = try await ServerBootstrap(group: group)
          .serverChannelOption(.backlog, value: 1024)
          .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
          .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
          .childChannelInitializer { [core] channel in
            channel.eventLoop.makeCompletedFuture {
              let pipeline = channel.pipeline.syncOperations
              try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
              try pipeline.addHandler(ConnectionHandler(core: core))
            }
          }
          .bind(host: "127.0.0.1", port: port).get()
        let isRunning = state.withLock {
          guard case .starting = $0 else { return false }
          $0 = .running(group)
          return true
        }
        guard isRunning, let bound = channel.localAddress?.port else {
          throw PictureServerError("the server was stopped while it started")
        }
        return bound
      } catch {
        state.withLock { $0 = .stopped }
        try? await group.shutdownGracefully()
        if let error = error as? PictureServerError { throw error }
        let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
        throw PictureServerError("cannot listen on 127.0.0.1:\(port): \(reason)")
      }
    }

    /// Closes all connections. Returns when all are closed. A second call does nothing.
    public func stop() async {
      let group = state.withLock { state -> MultiThreadedEventLoopGroup? in
        defer { state = .stopped }
        guard case .running(let group) = state else { return nil }
        return group
      }
      try? await group?.shutdownGracefully()
    }
  }

  /// Why a server did not start.
  public struct PictureServerError: Error, Hashable, CustomStringConvertible {
    public var description: String
    public init(_ description: String) { self.description = description }
  }
#endif
