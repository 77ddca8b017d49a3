import Operations
import Pictures

/// A picture that is wanted: where the picture lies, and what is done with it.
public struct ImageRequest: Sendable, Hashable {
  /// `http://` or `https://`. A name and a password in the address are sent as the field `Authorization`, and shown
  /// nowhere.
  public var url: String
  /// Fields of the HTTP request, such as `Authorization` and `Referer`. They go before those of the pipeline's
  /// configuration. Requests that differ in them share nothing.
  public var fields: [String: String]
  /// The size and the filters. Requests that differ in them alone share the download.
  public var processing: Processing
  /// How urgent the request is. The limit for prefetching counts what is below `.normal`.
  public var priority: Operation.QueuePriority

  public init(
    url: String, processing: Processing = Processing(size: nil, filters: []),
    priority: Operation.QueuePriority = .normal, fields: [String: String] = [:]
  ) {
    (self.url, self.fields, self.processing, self.priority) = (url, fields, processing, priority)
  }
}

/// Why there is no picture.
public enum ImagePipelineError: Error, Hashable, CustomStringConvertible {
  /// The server answered with a status that is no picture.
  case status(Int, url: String)
  /// The body is longer than `Configuration.maximumBodyBytes`.
  case bodyTooLong(limit: Int, url: String)
  /// The body is coded, as by `gzip`, which was not asked for.
  case coding(String, url: String)
  /// More redirects than `Configuration.maximumRedirects`, one to an address that was asked before, or one to what is
  /// no address.
  case redirects(url: String)
  /// A part that was asked for does not fit what is there.
  case wrongRange(url: String)
  /// The pipeline was shut down.
  case shutDown

  public var description: String {
    switch self {
    case .status(let status, let url): "\(url): the server answered with status \(status) where 200 was expected"
    case .bodyTooLong(let limit, let url): "\(url): the answer is longer than the limit of \(limit) bytes"
    case .coding(let coding, let url):
      "\(url): the server sent the picture coded as \(coding.prefix(40).debugDescription): the picture itself was asked for"
    case .redirects(let url): "\(url): redirected in a circle, too often, or to what is no http:// or https:// address"
    case .wrongRange(let url): "\(url): the server sent another part of the file than was asked for"
    case .shutDown: "the pipeline was shut down: make a new one"
    }
  }
}

/// What happens to a request: see `ImagePipeline.updates(for:)`.
public enum ImageUpdate: Sendable, Equatable {
  /// Bytes that have come, and the number that the server promised (nil where it promised none).
  case progress(received: Int, expected: Int?)
  case picture(Picture)
}
