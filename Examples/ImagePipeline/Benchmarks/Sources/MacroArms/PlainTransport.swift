import ImagePipeline

/// A `TransportError` without the module's types.
struct PlainTransportError: Error {
  var description: String
}

extension CountingTransport {
  /// As `send`, without the module's types: a file that uses the other compilation of the pipeline calls this.
  func send(
    url: String, headers: [String: String], head: @Sendable (Int, [String: String]) throws -> Void,
    chunk: @Sendable ([UInt8]) throws -> Void
  ) async throws {
    do {
      try await send(TransportRequest(url: url, headers: headers)) { answer in
        try head(answer.status, answer.headers)
      } chunk: { bytes in
        try chunk(bytes)
      }
    } catch let error as TransportError {
      throw PlainTransportError(description: error.description)
    }
  }
}
