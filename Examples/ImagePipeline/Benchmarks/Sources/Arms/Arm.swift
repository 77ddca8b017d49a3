import HTTPTransport
import ImagePipeline
import Operations
import Pictures
import Synchronization

/// A way of getting pictures onto the screen.
public protocol Arm: AnyObject, Sendable {
  /// A cell that became visible asks for its picture. `shown` is called once, unless the cell leaves before.
  func show(_ index: Int, _ shown: @escaping @Sendable (Picture) -> Void) -> any Cell
  /// Pictures that will be wanted soon. A picture is asked for once.
  func prefetch(_ indices: [Int])
  func stopPrefetching(_ indices: [Int])
  func setSuspended(_ isSuspended: Bool)
  /// Ends everything. Nothing runs any more when the call returns.
  func shutdown() async
}

/// A cell on the screen.
public protocol Cell: AnyObject, Sendable {
  /// The cell has left the screen.
  func leave()
}

/// What every arm does to a picture, and what it counts.
public final class Workshop: Sendable {
  public static let processing = Processing(size: 200, filters: [.round(radius: 12)])
  public static let fetchLimit = 6
  public static let prefetchLimit = 3

  public let transport: HTTPTransport
  private let address: String
  private let counts = Mutex((bytes: 0, decodes: 0, delivered: 0))

  /// - Parameter address: of the server, such as `http://127.0.0.1:8080`.
  public init(address: String) {
    self.address = address
    transport = HTTPTransport(connectionsPerHost: Self.fetchLimit + 2)
  }

  public func url(_ index: Int) -> String { "\(address)/picture/\(index).jpg" }

  /// What arms without the pipeline call: the same transport.
  func fetch(_ index: Int) async throws -> [UInt8] {
    let body = Mutex<[UInt8]>([])
    try await transport.send(TransportRequest(url: url(index))) { head in
      guard head.status == 200 else { throw ImagePipelineError.status(head.status, url: url(index)) }
    } chunk: { bytes in
      counts.withLock { $0.bytes += bytes.count }
      body.withLock { $0 += bytes }
    }
    return body.withLock { $0 }
  }

  func decode(_ bytes: [UInt8]) throws -> Picture {
    counts.withLock { $0.decodes += 1 }
    return try Picture.decode(bytes, fitting: Self.processing.size)
  }

  /// On the calling thread and those that Dispatch lends.
  func process(_ picture: Picture) -> Picture { Self.processing.apply(to: picture, on: .dispatch) }

  func delivered() { counts.withLock { $0.delivered += 1 } }

  public var bytes: Int { counts.withLock { $0.bytes } }
  public var decodes: Int { counts.withLock { $0.decodes } }
  /// Pictures that came into the memory cache.
  public var deliveries: Int { counts.withLock { $0.delivered } }
}
