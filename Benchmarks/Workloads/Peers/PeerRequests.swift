import HarnessMeasuring
import HarnessWords

/// Requests that the program of a peer serves, for whatever is measured with requests. The program says of each how
/// long it was there. All else is computed here, as it is for the other subjects.
struct PeerRequests: Sendable {
  let stream: RequestStream
  /// When each request comes, in nanoseconds from the beginning.
  let offsets: [Double]

  /// The benchmark that a program has for this.
  static let name = BenchmarkName("latency", "slowdown")
  static let sojourn = Metric("sojourn_ns", unit: "ns")

  /// - Parameter interval: the mean distance of two arrivals, in nanoseconds.
  init(_ stream: RequestStream, every interval: Double) {
    (self.stream, offsets) = (stream, stream.offsets(every: interval))
  }

  /// Requests that all come at once.
  init(atOnce services: [Double]) {
    stream = RequestStream(services: services, spacing: .fixed, seed: 0)
    offsets = services.map { _ in 0 }
  }

  /// - Parameters:
  ///   - start: when the first request may come, on the monotonic clock; nil: as soon as the program is ready.
  ///   - crowd: between which times another instance in the program always has jobs, each of which takes `service`
  ///     nanoseconds; nil: there is no other one.
  func input(
    start: UInt64? = nil, crowd: (times: Range<UInt64>, service: Double)? = nil,
    derive: (@Sendable ([Reading]) throws -> [Reading])? = nil
  ) -> PeerInput {
    PeerInput(
      benchmark: Self.name,
      fields: [(key: "sleeps", value: ServedRequests.sleeps(stream) ? "1" : "0")]
        + (start.map { [(key: "start", value: "\($0)")] } ?? [])
        + (crowd.map {
          [
            (key: "crowd_from", value: "\($0.times.lowerBound)"), (key: "crowd_until", value: "\($0.times.upperBound)"),
            (key: "crowd_ns", value: "\($0.service)"),
          ]
        } ?? []),
      file: .requests(offsets, stream.services, stream.sleeps), derive: derive)
  }

  /// How long each request was there, in nanoseconds.
  func sojourns(ofOneRepeat readings: [Reading]) throws -> [Double] { try sojourns(readings, repeats: 1) }

  /// Those of one repeat behind those of the one before.
  /// - Parameter repeats: nil: as many as there are.
  private func sojourns(_ readings: [Reading], repeats: Int? = nil) throws -> [Double] {
    let own = readings.filter { $0.metric == Self.sojourn }
    for (index, reading) in own.enumerated() where reading.detail.integer("request") != index + 1 {
      throw CheckFailed(
        "the program gives \(Self.sojourn.name) of '\(reading.detail)' in place of request=\(index + 1)")
    }
    let sojourns = own.map(\.value)
    guard !sojourns.isEmpty, sojourns.count.isMultiple(of: offsets.count),
      repeats.map({ $0 * offsets.count == sojourns.count }) ?? true
    else {
      throw CheckFailed(
        "the program gives \(Self.sojourn.name) of \(Count.of(sojourns.count, "request")), and there are \(offsets.count)"
      )
    }
    return sojourns
  }

  /// The sojourns over the times that the requests take.
  func slowdowns(_ readings: [Reading]) throws -> [Double] {
    try sojourns(readings).enumerated().map { index, sojourn in
      let request = index % offsets.count
      return sojourn / (stream.services[request] + stream.sleeps[request])
    }
  }
}
