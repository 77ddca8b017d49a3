import Dispatch
import HarnessMeasuring
import HarnessWords
import Subjects
import Synchronization

/// Bursts of short operations from outside. A sample is the time from just before a burst is added until its last body
/// returns.
///
/// With `state=idle` the kernel has said before each burst that every thread of the subject sleeps, so the sample shows
/// how many threads are woken, and how soon. With `state=busy` the workers run operations that spin and add themselves
/// again, so the sample shows when a worker with work of its own looks outside. A subject with operations gets a burst
/// as one batch, made before the clock starts. `cpu_ns_per_op` and the switches exist for idle workers alone, because
/// the work of busy workers is not the burst's.
struct Burst: Workload {
  let name = BenchmarkName("strategy", "burst")
  let summary = "bursts from outside onto sleeping or onto busy workers, until the last operation has run"
  let metrics = SampleSeries.metrics("burst") + Metric.cost
  let headlines =
    SampleSeries.metrics("burst").filter { !$0.name.contains("999") } + [Metric.nsPerOp, .voluntarySwitchesPerOp]
  /// Bursts come while the workers work.
  let needs = Abilities.threads
  let repeats = RepeatPolicy.samples(Self.bursts, seconds: 0.5)

  /// Enough for p90, which needs 100 samples in a process, in each of twenty processes.
  private static let bursts = 200
  /// The time between the end of a burst and the next burst, where the workers are busy, in nanoseconds.
  private static let gap: UInt64 = 300_000
  /// A subject that takes longer to go to sleep is taken never to sleep.
  private static let patience: UInt64 = 2_000_000_000

  func extendedParameterSets() -> [Parameters] {
    let burst: Parameters = ["ops": "64", "work_ns": "1000"]
    return [burst.merging(["state": "idle"]), burst.merging(["state": "busy", "load_ns": "5000"])]
  }

  func needsTurns(_ parameters: Parameters) -> Bool { parameters["state"] == "busy" }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    try trial(type, setting) { subject, countdown in
      let (count, bodies) = (countdown.count, Unmanaged.passUnretained(countdown))
      return {
        subject.addAll { adder in
          for index in 0..<count { adder.submit { bodies._withUnsafeGuaranteedRef { $0.execute(index) } } }
        }
      }
    }
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    try trial(type, setting) { subject, countdown in
      let bodies = Unmanaged.passUnretained(countdown)
      let items = (0..<countdown.count).map { index in
        S.makeOperation { bodies._withUnsafeGuaranteedRef { $0.execute(index) } }
      }
      return { subject.add(contentsOf: items) }
    }
  }

  /// - Parameter make: makes a burst; what `make` returns adds the burst. The bodies count no reference to the
  ///   countdown, because that is no cost of a subject. The trial keeps the countdown.
  private func trial<S: ClosureSubject>(
    _ type: S.Type, _ setting: Setting, make: @escaping (S, BurstCountdown) -> () -> Void
  ) throws -> Trial {
    let others = Threads.all()
    let subject = S(workers: setting.workers)
    let rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    let countdown = BurstCountdown(count: max(1, try setting.integer("ops")), rounds: rounds)

    func burst(_ elapsed: inout Elapsed) throws -> UInt64 {
      let add = make(subject, countdown)
      countdown.begin()
      let before = Counters.read()
      let start = Clock.now()
      add()
      let end = try countdown.end()
      elapsed.add(since: before)
      return end - start
    }

    switch setting.parameters["state"] {
    case "idle":
      return Trial(operationsPerRepeat: countdown.count) { repeats in
        var elapsed = Elapsed()
        let times = try (0..<repeats).map { _ in
          guard Threads.waitUntilAsleep(except: others, nanoseconds: Self.patience) else {
            throw CheckFailed("a thread still runs \(Self.patience / 1_000_000_000) s after the last operation ended")
          }
          let time = try burst(&elapsed)
          subject.drain()
          try checkEmpty(subject.unfinished ?? 0)
          return time
        }
        // The time until the last body returned stands in place of the time until this thread ran again.
        let costs = elapsed.readings(operations: countdown.count * repeats).filter { $0.metric != .nsPerOp }
        return value(times, countdown, costs)
      }
    case "busy":
      Pacer.sharpen()
      let loadRounds = setting.spin.rounds(nanoseconds: try setting.number("load_ns"))
      return Trial(operationsPerRepeat: countdown.count) { repeats in
        let load = BackgroundLoad(subject, chains: 2 * setting.workers, rounds: loadRounds)
        load.start()
        var elapsed = Elapsed()
        let times = Result {
          try (0..<repeats).map { _ in
            Pacer.sleep(nanoseconds: Self.gap)
            return try burst(&elapsed)
          }
        }
        let links = load.stop()
        subject.drain()
        try checkEmpty(subject.unfinished ?? 0)
        guard links > 0 else { throw CheckFailed("the workers had nothing to do") }
        return value(try times.get(), countdown, [])
      }
    default:
      throw Complaint(.usage, "parameter 'state' is idle or busy, unlike in '\(setting.parameters)'")
    }
  }

  private func value(_ times: [UInt64], _ countdown: BurstCountdown, _ costs: [Reading]) -> Value {
    let operations = countdown.count * times.count
    let mean = Double(times.reduce(0, +)) / Double(operations)
    return Value(
      [Reading(.nsPerOp, mean, count: operations)] + costs, samples: [SampleSeries("burst", nanoseconds: times)])
  }
}

/// Counts the operations of a burst down. The last of them notes the time.
final class BurstCountdown: @unchecked Sendable {
  // The last operation of a burst writes `last`, and then signals. The thread outside reads `last` after waiting.
  let count: Int
  private let rounds: Int
  private let flags: RunFlags
  private let left = Atomic<Int>(0)
  private let finished = DispatchSemaphore(value: 0)
  private var last: UInt64 = 0

  init(count: Int, rounds: Int) {
    self.count = count
    self.rounds = rounds
    flags = RunFlags(count: count)
  }

  deinit { flags.deallocate() }

  /// Called before the burst is added.
  func begin() { left.store(count, ordering: .relaxed) }

  /// The body of an operation.
  func execute(_ index: Int) {
    Spin.run(rounds: rounds)
    flags.slot(index).mark()
    guard left.wrappingSubtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
    last = Clock.now()
    finished.signal()
  }

  /// Waits for the last operation, and gives the time when it had run. Throws unless each operation ran once.
  func end() throws -> UInt64 {
    finished.wait()
    try flags.check()
    return last
  }
}
