import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects

/// Two operations that add each other in turn. A sample is a round trip: the time from one body of the first operation
/// until its next body.
///
/// With `queues=2` each operation has a queue of its own with workers of its own, and every step wakes the workers of
/// the other queue. With `queues=1` the operations share one queue.
struct PingPong: Workload {
  let name = BenchmarkName("latency", "ping-pong")
  let summary = "two operations that add each other in turn: a round trip"
  let metrics = SampleSeries.metrics("latency")
  let needs = Abilities.threads
  let repeats = RepeatPolicy.samples(SampleSeries.samplesForP99, seconds: 0.12)

  func parameterSets() -> [Parameters] { [["queues": "2"]] }
  func extendedParameterSets() -> [Parameters] { [["queues": "1"]] }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let first = S(workers: setting.workers)
    let second = try setting.integer("queues") == 1 ? first : S(workers: setting.workers)
    return Trial(operationsPerRepeat: 2) { repeats in
      let rally = Rally(first, second, rounds: repeats)
      first.submit { rally.ping() }
      rally.finished.wait()
      first.drain()
      second.drain()
      return Value(samples: [try rally.series()])
    }
  }
}

/// The state that the two operations hand to each other. Only one of them runs at a time, and the subject orders each
/// after the one before.
private final class Rally<S: ClosureSubject>: @unchecked Sendable {
  let finished = DispatchSemaphore(value: 0)
  private let first: S
  private let second: S
  private let rounds: Int
  private let trips: UnsafeMutablePointer<UInt64>
  private var pings = 0
  private var pongs = 0
  private var last: UInt64 = 0

  init(_ first: S, _ second: S, rounds: Int) {
    (self.first, self.second, self.rounds) = (first, second, rounds)
    trips = .allocate(capacity: rounds)
    trips.initialize(repeating: 0, count: rounds)
  }

  deinit { trips.deallocate() }

  func ping() {
    let now = Clock.now()
    if pings > 0, pings <= rounds { trips[pings - 1] = now - last }
    last = now
    pings += 1
    if pings <= rounds { second.submit { self.pong() } } else { finished.signal() }
  }

  private func pong() {
    pongs += 1
    first.submit { self.ping() }
  }

  func series() throws -> SampleSeries {
    guard pings == rounds + 1, pongs == rounds else {
      throw CheckFailed("\(rounds) round trips took \(pings) pings and \(pongs) pongs")
    }
    return SampleSeries("latency", histogram: LatencyHistogram(UnsafeBufferPointer(start: trips, count: rounds)))
  }
}
