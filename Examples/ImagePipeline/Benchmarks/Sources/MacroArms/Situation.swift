/// A network, its pictures, and what the user does: all that the arms have in common.
public struct Situation: Sendable {
  /// What the server is started with.
  public struct Network: Sendable, Equatable {
    public var seed: UInt64 = 36
    /// Latencies are log-normal: the median, and the deviation of the logarithm.
    public var latencyMilliseconds: Double
    public var sigma = 0.5
    /// All connections share them alike.
    public var bytesPerSecond: Double

    public init(latencyMilliseconds: Double, sigma: Double = 0.5, bytesPerSecond: Double) {
      (self.latencyMilliseconds, self.sigma, self.bytesPerSecond) = (latencyMilliseconds, sigma, bytesPerSecond)
    }

    /// Six downloads at a time are held up by the latency.
    public static let wifi = Network(latencyMilliseconds: 40, bytesPerSecond: 8e6)
    /// 12 Mbit/s: what is fetched for nothing holds the rest up.
    public static let lte = Network(latencyMilliseconds: 60, bytesPerSecond: 1.5e6)
  }

  /// Pictures repeat after `distinct`.
  public struct Files: Sendable, Equatable {
    public var distinct = 64
    public var width = 1_024
    public var height = 768
    public var quality = 85

    public init(distinct: Int = 64, width: Int = 1_024, height: Int = 768, quality: Int = 85) {
      (self.distinct, self.width, self.height, self.quality) = (distinct, width, height, quality)
    }
  }

  public var name: String
  public var network: Network
  public var files = Files()
  /// Of six downloads, as many may be for prefetching.
  public var lowLimit = 3
  public var script: @Sendable (_ seed: UInt64) -> Script

  public init(
    name: String, network: Network, files: Files = Files(), lowLimit: Int = 3,
    script: @escaping @Sendable (_ seed: UInt64) -> Script
  ) {
    (self.name, self.network, self.files) = (name, network, files)
    (self.lowLimit, self.script) = (lowLimit, script)
  }

  /// Scrolling through 2,000 pictures of 33 kB or so.
  public static func session(seconds: Double, on network: Network = .wifi) -> Situation {
    Situation(name: "session", network: network) { seed in Script.session(seed: seed, seconds: seconds) }
  }

  /// The situations of a published measurement ([Nuke #981](https://github.com/kean/Nuke/pull/981)), with the network
  /// of this benchmark: 60 ms and 12 Mbit/s, or 10 ms and 100 Mbit/s on Wi-Fi. Large pictures have ten times the bytes
  /// or so, and then everything runs four times as fast.
  ///
  /// * `open`: a screen of 12 pictures is opened while 60 are prefetched.
  /// * `open-large`: the same with large pictures.
  /// * `page`: six times a single picture comes on the screen meanwhile.
  /// * `scroll`: 40 pictures come on the screen one after the other; the prefetcher has two at a time.
  public static let published = [
    Situation(name: "open", network: lte(1), files: small) { _ in sets(of: 12, count: 1, every: 0.4) },
    Situation(name: "open-large", network: lte(4), files: large) { _ in sets(of: 12, count: 1, every: 1) },
    Situation(name: "page", network: lte(1), files: small) { _ in sets(of: 1, count: 6, every: 0.4) },
    Situation(
      name: "scroll", network: Network(latencyMilliseconds: 10, bytesPerSecond: 12.5e6), files: small, lowLimit: 2
    ) { _ in
      Script(
        ticks: (0...40).map { Script.Tick(time: Double($0) * 0.05, visible: 0..<$0, ahead: 40..<100) })
    },
  ]

  /// - Parameter pace: how many times as fast as it would be.
  private static func lte(_ pace: Double) -> Network {
    Network(latencyMilliseconds: 60 / pace, bytesPerSecond: 1.5e6 * pace)
  }

  /// 40 kB or so.
  private static let small = Files(quality: 87)
  /// 400 kB or so.
  private static let large = Files(distinct: 8, width: 3_072, height: 2_304, quality: 94)

  /// Sets of cells come on the screen, each in place of the last. Sixty others are prefetched from the beginning.
  private static func sets(of cells: Int, count: Int, every interval: Double) -> Script {
    let ahead = cells * count..<cells * count + 60
    return Script(
      ticks: (0...count).map { set in
        Script.Tick(
          time: Double(set) * interval, visible: set == 0 ? 0..<0 : (set - 1) * cells..<set * cells, ahead: ahead)
      })
  }
}
