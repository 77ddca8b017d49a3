import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Downloads of an app that shows pictures: those on the screen wait while others are fetched ahead of the user. Six
/// run at a time, of which `low` may be prefetches. The latency of a picture is the time from when its cell comes on
/// the screen until it has been downloaded.
///
/// The scenarios have the names and the shape of a published measurement
/// ([Nuke #981](https://github.com/kean/Nuke/pull/981)); the numbers of the network are of this benchmark, and run
/// twenty times as fast as they would. The downloads share the bandwidth evenly.
///
/// * `open`: a screen of 12 pictures is opened while 60 are prefetched, six at a time, on a network as LTE is.
/// * `open-large`: the same with large pictures.
/// * `page`: six times a single picture comes on the screen meanwhile.
/// * `page-large`: the same with large pictures.
/// * `scroll`: 40 pictures come on the screen one after the other on Wi-Fi; the prefetcher has two at a time.
struct VisibleTasks: Workload {
  let name = BenchmarkName("async", "visible")
  let summary = "from when a picture comes on the screen until it is there, while others are prefetched"
  let metrics = SampleSeries.metrics("latency") + [Metric.makespan]
  let headlines = SampleSeries.metrics("latency")
  let needs: Abilities = [.tasks, .limits]
  let repeats = RepeatPolicy.samples(2, seconds: 1)

  func extendedParameterSets() -> [Parameters] {
    Scenario.all.keys.sorted().flatMap { name in ["6", "3"].map { ["scenario": name, "low": $0] } }
  }

  struct Scenario: Sendable {
    /// Pictures that come on the screen together, and how often such a set comes.
    let cells: Int
    let sets: Int
    /// The time from the prefetcher's beginning to the first set, and from each set to the next one. In milliseconds,
    /// before they are divided by `VisibleTasks.pace`, as all times here.
    let interval: Double
    let prefetched: Int
    let prefetchedAtATime: Int
    let bytes: Double
    let latency: Double
    let bytesPerMillisecond: Double

    static let all: [String: Scenario] = [
      "open": lte(cells: 12, sets: 1, bytes: 40_000), "open-large": lte(cells: 12, sets: 1, bytes: 400_000),
      "page": lte(cells: 1, sets: 6, bytes: 40_000), "page-large": lte(cells: 1, sets: 6, bytes: 400_000),
      "scroll": Scenario(
        cells: 1, sets: 40, interval: 50, prefetched: 60, prefetchedAtATime: 2, bytes: 40_000, latency: 10,
        bytesPerMillisecond: 12_500),
    ]

    /// 60 ms, and 12 Mbit/s.
    private static func lte(cells: Int, sets: Int, bytes: Double) -> Scenario {
      Scenario(
        cells: cells, sets: sets, interval: bytes / 100, prefetched: 60, prefetchedAtATime: 6, bytes: bytes,
        latency: 60,
        bytesPerMillisecond: 1_500)
    }
  }

  static let pace = 20.0
  /// Places in all.
  static let places = 6

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    guard let scenario = setting.parameters["scenario"].flatMap({ Scenario.all[$0] }) else {
      throw Complaint(
        .usage, "scenario is \(Scenario.all.keys.sorted().joined(separator: ", ")), not as in '\(setting.parameters)'")
    }
    let low = try setting.integer("low")
    guard (1...Self.places).contains(low) else {
      throw Complaint(.usage, "low is 1 to \(Self.places), not as in '\(setting.parameters)'")
    }
    let subject = S(workers: setting.workers)
    subject.setPlaces(Self.places, lessUrgent: low)
    return Trial(operationsPerRepeat: scenario.prefetched + scenario.cells * scenario.sets) { repeats in
      let clock = ContinuousClock()
      var makespan: UInt64 = 0
      let samples = LatencySamples(count: scenario.cells * scenario.sets * repeats)
      for round in 0..<repeats {
        let link = SharedLink(bytesPerMillisecond: scenario.bytesPerMillisecond * Self.pace)
        let begun = Clock.now()
        Self.prefetch(scenario, over: link, on: subject)
        for set in 0..<scenario.sets {
          let due = begun + UInt64(scenario.interval / Self.pace * 1e6 * Double(set + 1))
          Pacer.wait(until: due)
          for cell in 0..<scenario.cells {
            let index = (round * scenario.sets + set) * scenario.cells + cell
            subject.submitTask(isUrgent: true) {
              await link.download(scenario, clock)
              samples.begin(index, intended: due)
            }
          }
        }
        subject.drain()
        makespan += Clock.now() - begun
        try checkEmpty(subject.unfinished ?? 0)
      }
      return Value(
        [Reading(.makespan, Double(makespan) / Double(repeats), count: repeats)], samples: [try samples.series()])
    }
  }

  /// A prefetcher that keeps some downloads under way.
  private static func prefetch<S: ClosureSubject>(_ scenario: Scenario, over link: SharedLink, on subject: S) {
    let clock = ContinuousClock()
    let counter = Remaining(scenario.prefetched - scenario.prefetchedAtATime)
    @Sendable func next() {
      subject.submitTask(isUrgent: false) {
        await link.download(scenario, clock)
        if counter.take() { next() }
      }
    }
    for _ in 0..<scenario.prefetchedAtATime { next() }
  }
}

/// A number of things that are left to do.
private final class Remaining: Sendable {
  private let count: Atomic<Int>
  init(_ count: Int) { self.count = Atomic(count) }
  func take() -> Bool { count.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 }
}

/// A network whose bandwidth the downloads under way share evenly.
private final class SharedLink: Sendable {
  private struct State: Sendable {
    var left: [Int: Double] = [:]
    var last = Clock.now()
    var number = 0
  }

  private let state = Mutex(State())
  private let bytesPerNanosecond: Double

  init(bytesPerMillisecond: Double) { bytesPerNanosecond = bytesPerMillisecond / 1e6 }

  func download(_ scenario: VisibleTasks.Scenario, _ clock: ContinuousClock) async {
    try? await clock.sleep(for: .nanoseconds(Int64(scenario.latency / VisibleTasks.pace * 1e6)))
    let number = state.withLock { state in
      pass(&state)
      state.number += 1
      state.left[state.number] = scenario.bytes
      return state.number
    }
    // Others come and go meanwhile, so the end is looked for step by step.
    while let wait = remaining(number) { try? await clock.sleep(for: .nanoseconds(min(wait, 500_000))) }
  }

  /// - Returns: the nanoseconds until the download would end, if nothing changed; nil when it has ended.
  private func remaining(_ number: Int) -> Int64? {
    state.withLock { state in
      pass(&state)
      guard let left = state.left[number], left > 0 else {
        state.left[number] = nil
        return nil
      }
      return Int64(left * Double(state.left.count) / bytesPerNanosecond) + 1
    }
  }

  /// Shares out the time that has passed.
  private func pass(_ state: inout State) {
    let now = Clock.now()
    // One that has got everything and not looked yet takes no part.
    let active = state.left.filter { $0.value > 0 }
    if !active.isEmpty {
      let share = Double(now - state.last) * bytesPerNanosecond / Double(active.count)
      for number in active.keys { state.left[number]? -= share }
    }
    state.last = now
  }
}
