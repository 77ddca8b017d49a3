import HarnessMeasuring
import HarnessWords

/// The places where each request of a value notes how long after its intended start its body began. Each place is
/// written by its own request alone and read when the subject has said that all requests are done.
final class LatencySamples: @unchecked Sendable {
  // Only the request itself accesses its words while the request is under way. `series` reads the words when no request
  // is under way.
  private let slots: UnsafeMutablePointer<UInt64>
  /// How often each request ran.
  private let runs: UnsafeMutablePointer<UInt32>
  private let count: Int

  init(count: Int) {
    self.count = count
    slots = .allocate(capacity: count)
    slots.initialize(repeating: 0, count: count)
    runs = .allocate(capacity: count)
    runs.initialize(repeating: 0, count: count)
  }

  deinit {
    slots.deallocate()
    runs.deallocate()
  }

  /// Notes the latency of a request. The note is the first act of the request's body.
  @inline(__always)
  func begin(_ request: Int, intended: UInt64) {
    let now = Clock.now()
    slots[request] = now > intended ? now - intended : 0
    runs[request] &+= 1
  }

  /// Throws unless each request ran once; gives the latencies. Call this once, when no request is under way.
  func series() throws -> SampleSeries {
    if let wrong = (0..<count).first(where: { runs[$0] != 1 }) {
      throw CheckFailed("request \(wrong) of \(count) ran \(runs[wrong]) times instead of once")
    }
    return SampleSeries("latency", histogram: LatencyHistogram(UnsafeBufferPointer(start: slots, count: count)))
  }
}
