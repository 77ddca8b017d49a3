/// One request to a server: a `GET`.
public struct TransportRequest: Sendable, Hashable {
  /// An `Address`. A name and a password in it are not sent: they are among the fields.
  public var url: String
  /// Names are in lower case.
  public var headers: [String: String]

  public init(url: String, headers: [String: String] = [:]) {
    self.url = url
    self.headers = headers
  }
}

/// What a server says before the body.
public struct TransportHead: Sendable, Hashable {
  public var status: Int
  /// Names are in lower case. A field that came more than once has its values joined with `", "`.
  public var headers: [String: String]

  public init(status: Int, headers: [String: String] = [:]) {
    self.status = status
    self.headers = headers
  }
}

/// The connection failed: refused, cut in the middle, ended too early, or silent for too long. Or there can be none.
public struct TransportError: Error, Hashable, CustomStringConvertible {
  public var description: String
  /// Whether another attempt may help.
  public var isPassing: Bool

  public init(_ description: String, isPassing: Bool = true) {
    (self.description, self.isPassing) = (description, isPassing)
  }

  /// For what is no `Address`.
  public static func noAddress(_ text: String) -> TransportError {
    let line = Address.shown(text).split(whereSeparator: \.isNewline).joined(separator: " ")
    return TransportError(
      "'\(line)' cannot be loaded: an address is http:// or https:// with a host, as in https://example.org/a.jpg, and its port is from 1 to 65535",
      isPassing: false)
  }
}

/// Carries one request and its answer, and decides nothing: no redirect is followed, nothing is tried again, no status
/// is an error.
public protocol Transport: Sendable {
  /// Calls `head` once, then `chunk` for each part of the body in order, one call at a time. Returns when the body is
  /// complete.
  ///
  /// The request ends at once, and its connection is closed, when `head` or `chunk` throws (that error is thrown on)
  /// and when the task is cancelled (`CancellationError`). Every other failure is a `TransportError`.
  func send(
    _ request: TransportRequest, head: @Sendable (TransportHead) throws -> Void,
    chunk: @Sendable ([UInt8]) throws -> Void
  ) async throws
}
