import ImagePipeline
import OperationComposition
import Synchronization

/// A server without sockets: log-normal latencies from a seed, and a bandwidth that all requests share.
public final class SimulatedServer: Transport {
  private let files: [[UInt8]]
  private let network: Situation.Network
  private let clock = ContinuousClock()
  /// When the link is free again.
  private let free: Mutex<ContinuousClock.Instant>
  private let generator: Mutex<SeededGenerator>

  public init(_ pictures: PictureSet, _ network: Situation.Network) {
    (files, self.network) = (pictures.files, network)
    free = Mutex(clock.now)
    generator = Mutex(SeededGenerator(seed: network.seed))
  }

  public func send(
    _ request: TransportRequest, head: @Sendable (TransportHead) throws -> Void,
    chunk: @Sendable ([UInt8]) throws -> Void
  ) async throws {
    let digits = request.url.split(separator: "/").last?.prefix { $0.isNumber }
    guard let index = digits.flatMap({ Int($0) }) else { throw TransportError("\(request.url) has no number") }
    let file = files[index % files.count]
    try await clock.sleep(for: .milliseconds(latency()))
    try head(TransportHead(status: 200, headers: ["content-length": "\(file.count)", "etag": "\"\(index)\""]))
    var sent = 0
    while sent < file.count {
      let size = min(16_384, file.count - sent)
      let turn = free.withLock { free in
        free = max(free, clock.now).advanced(by: .seconds(Double(size) / network.bytesPerSecond))
        return free
      }
      try await clock.sleep(until: turn)
      try chunk(Array(file[sent..<sent + size]))
      sent += size
    }
  }

  /// The sum of twelve uniform numbers is as good as normal here.
  private func latency() -> Double {
    let z = generator.withLock { generator in
      (0..<12).reduce(-6.0) { sum, _ in sum + Double.random(in: 0..<1, using: &generator) }
    }
    return network.latencyMilliseconds * exponential(network.sigma * z)
  }

  private func exponential(_ x: Double) -> Double {
    // (1 + x/n)^n with n = 2^20.
    (0..<20).reduce(1 + x / 1_048_576) { value, _ in value * value }
  }
}
