#if HTTP
  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #else
    import Darwin
  #endif

  /// A made-up network between the server and its clients: a latency for each request, and a bandwidth for all
  /// together.
  ///
  /// **Latency.** It passes between the end of a request and the head of its answer. It is log-normal:
  /// `median × exp(sigma × z)`, where `z` is normal with mean 0 and deviation 1. Half of the latencies are below the
  /// median. With a sigma of 0.5 one in twenty is above 2.28 times the median, and one in a hundred above 3.2 times. A
  /// latency follows from the seed, the address with its query, and how often this address was asked for before. So it
  /// does not depend on the order in which requests arrive.
  ///
  /// **Bandwidth.** Bodies go out in chunks of 16 KB at most, and one after another over one link. Each connection has
  /// one chunk in the queue for the link at most. So the connections that have something to send share the bandwidth
  /// alike. A chunk that is due within a millisecond goes out at once; the mean rate stays right. The link saves up no
  /// more than that when it is idle.
  ///
  /// **What it leaves out.** Opening a connection costs nothing. Heads take no bandwidth. There is no slow start, no
  /// loss and no reordering. The real loopback comes on top.
  public struct NetworkModel: Sendable, Hashable {
    public var seed: UInt64
    /// The median latency. Zero: no latency.
    public var latencyMedianMilliseconds: Double
    /// How far latencies spread: the deviation of their logarithm. Zero: all have the median.
    public var latencySigma: Double
    /// For all connections of the server together. Nil: no limit.
    public var bytesPerSecond: Double?

    public init(
      seed: UInt64, latencyMedianMilliseconds: Double = 0, latencySigma: Double = 0, bytesPerSecond: Double? = nil
    ) {
      precondition(latencyMedianMilliseconds >= 0 && latencySigma >= 0, "latency and sigma are not negative")
      precondition(bytesPerSecond ?? 1 > 0, "bandwidth is more than zero")
      (self.seed, self.latencyMedianMilliseconds) = (seed, latencyMedianMilliseconds)
      (self.latencySigma, self.bytesPerSecond) = (latencySigma, bytesPerSecond)
    }

    /// The latency of one request in milliseconds.
    /// - Parameters:
    ///   - uri: The path with its query.
    ///   - attempt: 1 for the first request of this address.
    public func latencyMilliseconds(uri: String, attempt: Int) -> Double {
      guard latencyMedianMilliseconds > 0 else { return 0 }
      var random = SplitMix64(seed, uri, attempt)
      // The Box-Muller transform makes a normal number of two uniform ones. The first is not zero.
      let radius = (-2 * log(1 - random.fraction())).squareRoot()
      let z = radius * cos(2 * Double.pi * random.fraction())
      return latencyMedianMilliseconds * exp(latencySigma * z)
    }
  }

  /// A small generator with a seed. The same seed gives the same numbers on each machine.
  struct SplitMix64: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    /// A generator of its own for each address and attempt.
    init(_ seed: UInt64, _ text: String, _ attempt: Int) {
      // FNV-1a.
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      var first = SplitMix64(seed ^ hash)
      state = first.next() &+ UInt64(bitPattern: Int64(attempt)) &* 0xd134_2543_de82_ef95
    }

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var z = state
      z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }

    /// From 0 up to and not including 1.
    mutating func fraction() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func bytes(_ count: Int) -> [UInt8] {
      var result: [UInt8] = []
      result.reserveCapacity(count + 8)
      while result.count < count {
        withUnsafeBytes(of: next().littleEndian) { result.append(contentsOf: $0) }
      }
      result.removeLast(result.count - count)
      return result
    }
  }
#endif
