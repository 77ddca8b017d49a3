import Dispatch
import ImagePipeline
import Operations
import Pictures
import Synchronization

/// What every arm does to a picture, and what it counts while it does.
public final class Workshop: Sendable {
  public static let processing = Processing(size: 200, filters: [.round(radius: 12)])
  public static let fetchLimit = 6
  /// Decoders at the same time, and as many that process.
  public static let workLimit = 2
  /// Holds all pictures of a list.
  public static let memoryLimit = 256 << 20

  public let transport: CountingTransport
  /// Of the downloads.
  public let lowLimit: Int
  private let address: String
  private let counts = Mutex((decodes: 0, delivered: 0))

  /// - Parameter address: of the server, such as `http://127.0.0.1:8080`.
  public init(address: String, transport: any Transport, lowLimit: Int = 3) {
    self.address = address
    self.transport = CountingTransport(transport)
    self.lowLimit = lowLimit
  }

  public func url(_ index: Int) -> String { "\(address)/picture/\(index).jpg" }

  // MARK: The steps of the arms without a pipeline

  func fetch(_ index: Int) async throws -> [UInt8] {
    let url = url(index)
    let body = Mutex<[UInt8]>([])
    try await transport.send(TransportRequest(url: url, headers: ["accept": "image/*"])) { head in
      guard head.status == 200 else { throw ImagePipelineError.status(head.status, url: url) }
    } chunk: { bytes in
      body.withLock { $0 += bytes }
    }
    return body.withLock { $0 }
  }

  func decode(_ bytes: [UInt8]) throws -> Picture {
    counts.withLock { $0.decodes += 1 }
    return try Picture.decode(bytes, fitting: Self.processing.size)
  }

  /// On the calling thread and those that Dispatch lends.
  func process(_ picture: Picture) -> Picture { DispatchBackend.shared.run { Self.processing.apply(to: picture) } }

  /// A picture came into the memory.
  func delivered() { counts.withLock { $0.delivered += 1 } }

  var decodes: Decodes { counts.withLock { Decodes(all: $0.decodes, wasted: $0.decodes - $0.delivered) } }
}

/// Counts what a transport brings.
public final class CountingTransport: Transport {
  private let transport: any Transport
  private let counts = Mutex((bytes: 0, requests: 0))

  init(_ transport: any Transport) { self.transport = transport }

  /// Of bodies.
  public var bytes: Int { counts.withLock { $0.bytes } }
  public var requests: Int { counts.withLock { $0.requests } }

  public func send(
    _ request: TransportRequest, head: @Sendable (TransportHead) throws -> Void,
    chunk: @Sendable ([UInt8]) throws -> Void
  ) async throws {
    counts.withLock { $0.requests += 1 }
    try await transport.send(request, head: head) { bytes in
      counts.withLock { $0.bytes += bytes.count }
      try chunk(bytes)
    }
  }
}

/// The pictures as they should be on the screen: made here, without a server.
public struct PictureSet: Sendable {
  public let files: [[UInt8]]
  /// Of the processed pictures.
  public let checksums: [UInt64]

  /// Picture `i` of a server with this seed is that of `i` modulo the number of distinct pictures.
  public init(seed: UInt64, _ files: Situation.Files) throws {
    let made = Mutex([Int: Result<([UInt8], UInt64), any Error>]())
    DispatchQueue.concurrentPerform(iterations: files.distinct) { index in
      let result = Result {
        let bytes = try TestPicture.make(seed: seed &+ UInt64(index), width: files.width, height: files.height)
          .encodedJPEG(quality: files.quality)
        let small = try Picture.decode(bytes, fitting: Workshop.processing.size)
        return (bytes, DispatchBackend.shared.run { Workshop.processing.apply(to: small) }.checksum)
      }
      made.withLock { $0[index] = result }
    }
    let results = try (0..<files.distinct).compactMap { index in try made.withLock { try $0[index]?.get() } }
    self.files = results.map(\.0)
    checksums = results.map(\.1)
  }

  public func size(_ index: Int) -> Int { files[index % files.count].count }
  func isRight(_ picture: Picture, _ index: Int) -> Bool { picture.checksum == checksums[index % checksums.count] }
}
