import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Synchronization

/// Requests with their service times, whose arrivals can be made as dense as a load asks for.
struct RequestStream: Sendable {
  let mean: Double
  let workers: Int
  let long: SharedQueue.Long
  /// In nanoseconds, as all times here. A request that takes more is long.
  let longFrom: Double
  let services: [Double]
  /// The arrivals at a mean distance of a second.
  private let arrivals: [Double]

  init(_ input: Capacity.Input, workers: Int, seed: UInt64) {
    (mean, long, longFrom, self.workers) = (input.mean, input.long, Capacity.longFrom * input.mean, workers)
    services = input.service.times(input.samples, mean: input.mean, seed: seed)
    arrivals = ArrivalSchedule(count: input.samples, interval: 1e9, spacing: input.spacing, seed: seed).offsets.map {
      Double($0) / 1e9
    }
  }

  /// When each request comes, in nanoseconds from the beginning.
  func offsets(_ load: Double) -> [Double] {
    // The service times that were drawn have another mean than their distribution.
    let interval = services.reduce(0, +) / Double(services.count) * 100 / (load * Double(workers))
    return arrivals.map { $0 * interval }
  }

  /// The slowdowns in one queue without any cost.
  func ideal(_ load: Double) -> [Double] {
    let sojourns = SharedQueue.sojourns(
      arrivals: offsets(load), services: services, servers: workers, long: long, longFrom: longFrom, piece: mean)
    return zip(sojourns, services).map { $0 / $1 }
  }
}

/// Requests under way, and when each ended.
final class ServedRequests: @unchecked Sendable {
  // Only the thread that ends a request writes its words. `slowdowns` reads them when no request is under way.
  private let ends: UnsafeMutablePointer<UInt64>
  private let runs: UnsafeMutablePointer<UInt32>
  private let stream: RequestStream
  private let spin: Spin
  private let offsets: [Double]
  private let start: UInt64
  private let exceeded = Atomic<Int>(0)

  init(_ stream: RequestStream, load: Double, spin: Spin) {
    (self.stream, self.spin, offsets) = (stream, spin, stream.offsets(load))
    ends = .allocate(capacity: offsets.count)
    ends.initialize(repeating: 0, count: offsets.count)
    runs = .allocate(capacity: offsets.count)
    runs.initialize(repeating: 0, count: offsets.count)
    start = Clock.now() + 100_000
  }

  deinit {
    ends.deallocate()
    runs.deallocate()
  }

  func isLong(_ request: Int) -> Bool { stream.services[request] > stream.longFrom }
  func rounds(nanoseconds: Double) -> Int { spin.rounds(nanoseconds: nanoseconds) }
  func rounds(of request: Int) -> Int { rounds(nanoseconds: stream.services[request]) }

  func serve(_ request: Int) {
    Spin.run(rounds: rounds(of: request))
    end(request)
  }

  func end(_ request: Int) {
    ends[request] = Clock.now()
    runs[request] &+= 1
    if slowdown(request) >= ServiceLevel.slowdown { exceeded.wrappingAdd(1, ordering: .relaxed) }
  }

  private func arrival(_ request: Int) -> UInt64 { start + UInt64(offsets[request]) }

  private func slowdown(_ request: Int) -> Double {
    Double(ends[request] - min(ends[request], arrival(request))) / stream.services[request]
  }

  /// Sends each request when it comes. A sender that is late sends the next ones at once.
  /// - Parameter isWhole: false: the sender stops when more requests exceeded the slowdown than may.
  /// - Returns: how many were sent.
  func send(isWhole: Bool, _ send: (Int) -> Void) -> Int {
    let allowed = ServiceLevel.allowed(of: offsets.count)
    for request in offsets.indices {
      if !isWhole, exceeded.load(ordering: .relaxed) > allowed { return request }
      // A sender that spins takes a CPU from the workers. One that sleeps is late by some ten microseconds.
      let arrival = arrival(request)
      if stream.mean < Self.sleepsFrom { Pacer.wait(until: arrival) } else { Pacer.sleep(until: arrival) }
      send(request)
    }
    return offsets.count
  }

  /// From this mean service time on the sender does not spin, in nanoseconds.
  private static let sleepsFrom = 50_000.0

  /// Throws unless each of the first `sent` requests ended once. Call this when no request is under way.
  func slowdowns(of sent: Int) throws -> [Double] {
    if let wrong = (0..<sent).first(where: { runs[$0] != 1 }) {
      throw CheckFailed("request \(wrong) of \(sent) ended \(runs[wrong]) times instead of once")
    }
    return (0..<sent).map(slowdown)
  }
}
