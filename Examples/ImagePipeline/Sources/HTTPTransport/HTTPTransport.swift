#if HTTP
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif
  import AsyncHTTPClient
  import ImagePipeline
  import NIOCore
  import NIOHTTP1
  import NIOPosix
  import Synchronization

  /// Loads over HTTP/1.1 with AsyncHTTPClient.
  /// ```swift
  /// let transport = HTTPTransport(connectionsPerHost: 8)
  /// let request = TransportRequest(url: "https://example.org/a.jpg")
  /// try await transport.send(request, head: { print($0.status) }, chunk: { _ in })
  /// try await transport.shutdown()
  /// ```
  /// No redirect is followed. Nothing is tried again. Bodies are not decompressed.
  ///
  /// Each host has `connectionsPerHost` connections at most. Requests beyond that wait their turn, in order, without a
  /// time limit.
  public final class HTTPTransport: Transport {
    private let client: HTTPClient
    private let gate: HostGate
    private let connectTimeout: Duration
    private let readTimeout: Duration
    private let isShutDown = Atomic(false)

    /// - Parameters:
    ///   - connectionsPerHost: The largest number of connections to one host and port. It is at least 1.
    ///   - connectTimeout: A connection that takes longer to open fails. The time spent waiting for a turn does not
    ///     count.
    ///   - readTimeout: A request whose server sends nothing for so long fails.
    public init(
      connectionsPerHost: Int = 8, connectTimeout: Duration = .seconds(10), readTimeout: Duration = .seconds(30)
    ) {
      precondition(connectionsPerHost > 0, "connectionsPerHost is at least 1, not \(connectionsPerHost)")
      precondition(connectTimeout > .zero && readTimeout > .zero, "a timeout is longer than zero")
      var configuration = HTTPClient.Configuration(
        redirectConfiguration: .disallow,
        timeout: .init(connect: TimeAmount(connectTimeout), read: TimeAmount(readTimeout)),
        decompression: .disabled)
      configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = connectionsPerHost
      configuration.connectionPool.retryConnectionEstablishment = false
      configuration.httpVersion = .http1Only
      client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
      gate = HostGate(limit: connectionsPerHost)
      self.connectTimeout = connectTimeout
      self.readTimeout = readTimeout
    }

    deinit {
      guard !isShutDown.exchange(true, ordering: .relaxed) else { return }
      Task { [client] in try? await client.shutdown() }
    }

    /// Closes all connections. Requests in progress fail with a `TransportError`, and so do later ones. A second call
    /// does nothing.
    public func shutdown() async throws {
      guard !isShutDown.exchange(true, ordering: .relaxed) else { return }
      try await client.shutdown()
    }

    public func send(
      _ request: TransportRequest, head: @Sendable (TransportHead) throws -> Void,
      chunk: @Sendable ([UInt8]) throws -> Void
    ) async throws {
      guard let address = Address(request.url) else { throw TransportError.noAddress(request.url) }
      let host = address.host
      try await gate.enter(host)
      defer { gate.leave(host) }

      var outgoing = HTTPClientRequest(url: address.text)
      for (name, value) in request.headers { outgoing.headers.add(name: name, value: value) }
      let response: HTTPClientResponse
      do {
        response = try await client.execute(outgoing, deadline: .distantFuture)
      } catch {
        throw failure(error, host)
      }
      try Task.checkCancellation()
      // When `head` or `chunk` throws, the body is let go of before its end. That closes the connection.
      try head(TransportHead(status: Int(response.status.code), headers: Self.joined(response.headers)))
      let received = try await receive(response, from: host, chunk)

      let hasBody = response.status != .notModified && response.status != .noContent
      if hasBody, let length = response.headers.first(name: "content-length").flatMap({ Int($0) }), received != length {
        throw TransportError("\(host) sent \(received) bytes and had announced \(length)")
      }
    }

    /// Calls `chunk` for each part of the body, and returns how many bytes there were.
    private func receive(
      _ response: HTTPClientResponse, from host: String, _ chunk: ([UInt8]) throws -> Void
    ) async throws -> Int {
      var received = 0
      var parts = response.body.makeAsyncIterator()
      while true {
        let part: ByteBuffer?
        do {
          part = try await parts.next()
        } catch {
          throw failure(error, host)
        }
        // A cancelled body can look like one that has ended.
        try Task.checkCancellation()
        guard let part else { return received }
        guard part.readableBytes > 0 else { continue }
        received += part.readableBytes
        try chunk(Array(part.readableBytesView))
      }
    }

    private static func joined(_ headers: HTTPHeaders) -> [String: String] {
      var result: [String: String] = [:]
      for (name, value) in headers {
        let name = name.lowercased()
        result[name] = result[name].map { "\($0), \(value)" } ?? value
      }
      return result
    }

    /// What `send` throws in place of an error of the client.
    private func failure(_ error: any Error, _ host: String) -> any Error {
      if Task.isCancelled || error is CancellationError { return CancellationError() }
      switch error {
      case let error as HTTPClientError:
        switch error {
        case .connectTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout:
          return TransportError("no connection to \(host) within \(connectTimeout)")
        case .readTimeout: return TransportError("\(host) was silent for \(readTimeout)")
        case .remoteConnectionClosed:
          return TransportError("\(host) closed the connection before its answer was complete")
        case .alreadyShutdown: return TransportError("the transport is shut down", isPassing: false)
        case .cancelled where isShutDown.load(ordering: .relaxed):
          return TransportError("the transport is shut down", isPassing: false)
        default: return TransportError("the request to \(host) failed: \(Self.oneLine(error.shortDescription))")
        }
      case HTTPParserError.invalidEOFState:
        return TransportError("\(host) closed the connection before its answer was complete")
      case let error as HTTPParserError:
        return TransportError("\(host) answered with something that is not HTTP: \(Self.reason(error))")
      case let error as NIOConnectionError:
        let reason: any Error = error.connectionErrors.first?.error ?? error.dnsAError ?? error.dnsAAAAError ?? error
        return TransportError("cannot connect to \(host): \(Self.reason(reason))")
      case let error as IOError where [ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, ETIMEDOUT].contains(error.errnoCode):
        return TransportError("cannot connect to \(host): \(Self.reason(error))")
      default:
        return TransportError("the connection to \(host) failed: \(Self.reason(error))")
      }
    }

    private static func reason(_ error: any Error) -> String {
      guard let error = error as? IOError else { return oneLine("\(error)") }
      return String(cString: strerror(error.errnoCode))
    }

    private static func oneLine(_ text: String) -> String {
      text.split(whereSeparator: \.isNewline).joined(separator: " ")
    }
  }
#endif
