import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Synchronization

/// Requests with their times, whose arrivals can be made as dense as a load asks for.
struct RequestStream: Sendable {
  /// How long each request uses a CPU. All times here are in nanoseconds.
  let services: [Double]
  /// How long each request sleeps behind that.
  let sleeps: [Double]
  let isLessUrgent: [Bool]
  /// The arrivals at a mean distance of a second.
  private let arrivals: [Double]

  init(
    services: [Double], sleeps: [Double]? = nil, isLessUrgent: [Bool]? = nil, spacing: ArrivalSchedule.Spacing,
    seed: UInt64
  ) {
    self.services = services
    self.sleeps = sleeps ?? Array(repeating: 0, count: services.count)
    self.isLessUrgent = isLessUrgent ?? Array(repeating: false, count: services.count)
    arrivals = ArrivalSchedule(count: services.count, interval: 1e9, spacing: spacing, seed: seed).offsets.map {
      Double($0) / 1e9
    }
  }

  /// When each request comes, in nanoseconds from the beginning.
  /// - Parameter interval: the mean distance.
  func offsets(every interval: Double) -> [Double] { arrivals.map { $0 * interval } }

  /// The distance at which the services take this share of the workers' time, in percent.
  func interval(load: Double, workers: Int) -> Double {
    // The service times that were drawn have another mean than their distribution.
    services.reduce(0, +) / Double(services.count) * 100 / (load * Double(workers))
  }
}

/// Requests under way, and when each ended.
final class ServedRequests: @unchecked Sendable {
  // Only the thread that ends a request writes its words. `slowdowns` reads them when no request is under way.
  private let ends: UnsafeMutablePointer<UInt64>
  private let runs: UnsafeMutablePointer<UInt32>
  // Only the sender writes it, before a request is sent.
  private let arrivals: UnsafeMutablePointer<UInt64>
  private let stream: RequestStream
  private let spin: Spin
  private let offsets: [Double]
  private let start: UInt64
  private let exceeded = Atomic<Int>(0)
  /// Whether the sender sleeps until a request comes. A sender that spins takes a CPU from the workers. A sender that
  /// sleeps is late by some ten microseconds.
  private let sleeps: Bool

  /// - Parameter interval: the mean distance of two arrivals.
  init(_ stream: RequestStream, every interval: Double, spin: Spin) {
    (self.stream, self.spin, offsets) = (stream, spin, stream.offsets(every: interval))
    sleeps = Self.sleeps(stream)
    arrivals = .allocate(capacity: offsets.count)
    arrivals.initialize(repeating: 0, count: offsets.count)
    ends = .allocate(capacity: offsets.count)
    ends.initialize(repeating: 0, count: offsets.count)
    runs = .allocate(capacity: offsets.count)
    runs.initialize(repeating: 0, count: offsets.count)
    start = Clock.now() + 100_000
  }

  deinit {
    ends.deallocate()
    runs.deallocate()
    arrivals.deallocate()
  }

  /// When a request comes, in nanoseconds from the beginning.
  func offset(_ request: Int) -> Double { offsets[request] }
  func isLessUrgent(_ request: Int) -> Bool { stream.isLessUrgent[request] }
  func rounds(nanoseconds: Double) -> Int { spin.rounds(nanoseconds: nanoseconds) }
  func rounds(of request: Int) -> Int { rounds(nanoseconds: stream.services[request]) }

  func serve(_ request: Int) {
    Spin.run(rounds: rounds(of: request))
    if stream.sleeps[request] > 0 { Pacer.sleep(nanoseconds: UInt64(stream.sleeps[request])) }
    end(request)
  }

  func end(_ request: Int) {
    ends[request] = Clock.now()
    runs[request] &+= 1
    if slowdown(request) >= ServiceLevel.slowdown { exceeded.wrappingAdd(1, ordering: .relaxed) }
  }

  private func sojourn(_ request: Int) -> Double { Double(ends[request] - min(ends[request], arrivals[request])) }

  private func slowdown(_ request: Int) -> Double {
    sojourn(request) / (stream.services[request] + stream.sleeps[request])
  }

  /// Sends each request when it comes. A sender that is late sends the next ones at once, and they count from when they
  /// should have been sent. A request that should have come while the sender overslept comes when the sender wakes: the
  /// kernel delayed a client, and not the subject.
  /// - Parameter isWhole: false: the sender stops when more requests exceeded the slowdown than may.
  /// - Returns: how many were sent.
  func send(isWhole: Bool, _ send: (Int) throws -> Void) rethrows -> Int {
    let allowed = ServiceLevel.allowed(of: offsets.count)
    var woke: UInt64 = 0
    for request in offsets.indices {
      if !isWhole, exceeded.load(ordering: .relaxed) > allowed { return request }
      let intended = start + UInt64(offsets[request])
      if !sleeps {
        Pacer.wait(until: intended)
      } else if Clock.now() < intended {
        Pacer.sleep(until: intended)
        woke = Clock.now()
      }
      arrivals[request] = max(intended, woke)
      try send(request)
    }
    return offsets.count
  }

  /// Whether the sender of these requests sleeps: from a mean service time of 50 microseconds on.
  static func sleeps(_ stream: RequestStream) -> Bool {
    stream.services.reduce(0, +) / Double(stream.services.count) >= 50_000
  }

  /// Throws unless each of the first `sent` requests ended once. Call this when no request is under way.
  func slowdowns(of sent: Int) throws -> [Double] { try checked(sent).map(slowdown) }

  /// How long each request was there. Throws as `slowdowns` does.
  func sojourns() throws -> [Double] { try checked(offsets.count).map(sojourn) }

  private func checked(_ sent: Int) throws -> Range<Int> {
    if let wrong = (0..<sent).first(where: { runs[$0] != 1 }) {
      throw CheckFailed("request \(wrong) of \(sent) ended \(runs[wrong]) times instead of once")
    }
    return 0..<sent
  }
}
