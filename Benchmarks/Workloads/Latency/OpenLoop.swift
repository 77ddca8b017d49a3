import HarnessMeasuring
import HarnessWords
import Subjects

/// Requests that arrive whether or not the requests before have been served. The latency of a request is the time from
/// its intended start until its body begins.
///
/// `load` is in percent of what the slowest subject of the run completes when one thread, the same as in the benchmark,
/// feeds the subject without pause. All subjects get the same arrivals, so that their latencies can be compared. A load
/// relative to each subject's own throughput would reward the slow. All intended starts are decided before the first
/// request is sent. A delay of the sender counts too, so that no latency is lost to coordinated omission when a subject
/// is slow.
struct OpenLoop: Workload {
  /// Whether the bodies are asynchronous.
  var runsTasks = false

  var name: BenchmarkName { BenchmarkName(runsTasks ? "async" : "latency", "open-loop") }
  var summary: String {
    "from the intended start of requests that arrive at a set pace until the \(runsTasks ? "asynchronous body" : "body") begins"
  }
  let metrics = SampleSeries.metrics("latency") + [Metric.arrivalInterval]
  let headlines = SampleSeries.metrics("latency")
  var needs: Abilities { runsTasks ? [.threads, .tasks] : .threads }
  let repeats = RepeatPolicy.paced(samples: SampleSeries.samplesForP99, seconds: 0.15)

  func parameterSets() -> [Parameters] { runsTasks ? [] : exponential }

  private var exponential: [Parameters] {
    [30, 60, 90].map { parameters(load: $0, spacing: .exponential, samples: SampleSeries.samplesForP99) }
  }

  func extendedParameterSets() -> [Parameters] {
    if runsTasks { return exponential }
    return [30, 60, 90].map { parameters(load: $0, spacing: .exponential, samples: 100_000) }
      + [parameters(load: 60, spacing: .fixed, samples: SampleSeries.samplesForP99)]
  }

  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    let samples = parameters.integer("samples") ?? SampleSeries.samplesForP99
    let load = max(parameters.number("load") ?? 100, 1)
    return .paced(samples: samples, seconds: Double(samples) * 5e-6 * 100 / load)
  }

  private func parameters(load: Int, spacing: ArrivalSchedule.Spacing, samples: Int) -> Parameters {
    ["load": "\(load)", "arrivals": spacing.rawValue, "work_ns": "1000", "samples": "\(samples)"]
  }

  /// The most operations in the queue while one thread feeds the subject without pause.
  private static let backlog = 1_000

  func prepare<S: ClosureSubject>(closures subject: S.Type, _ setting: Setting) throws -> Trial {
    try trial(subject, setting) { _ in }
  }

  func prepare<S: OperationSubject>(operations subject: S.Type, _ setting: Setting) throws -> Trial {
    try trial(subject, setting) { try checkEmpty($0.remaining) }
  }

  private func trial<S: ClosureSubject>(
    _ type: S.Type, _ setting: Setting, check: @escaping (S) throws -> Void
  ) throws -> Trial {
    guard let spacing = setting.parameters["arrivals"].flatMap(ArrivalSchedule.Spacing.init(rawValue:)) else {
      throw Complaint(.usage, "arrivals are fixed, exponential or bursts, not as in '\(setting.parameters)'")
    }
    let load = try setting.number("load")
    let rounds = setting.spin.rounds(nanoseconds: try setting.number("work_ns"))
    let subject = S(workers: setting.workers)

    func send(_ request: Int, intended: UInt64, to samples: LatencySamples) {
      if runsTasks {
        return subject.submitTask {
          samples.begin(request, intended: intended)
          Spin.run(rounds: rounds)
        }
      }
      subject.submit {
        samples.begin(request, intended: intended)
        Spin.run(rounds: rounds)
      }
    }

    func saturate(_ operations: Int) throws {
      for begin in stride(from: 0, to: operations, by: Self.backlog) {
        let samples = LatencySamples(count: min(Self.backlog, operations - begin))
        for request in 0..<min(Self.backlog, operations - begin) { send(request, intended: 0, to: samples) }
        subject.drain()
        _ = try samples.series()
      }
      try check(subject)
    }

    var values: UInt64 = 0
    return Trial(operationsPerRepeat: 1, calibrate: saturate) { requests in
      guard let serviceTime = setting.serviceTime, load > 0 else {
        throw CheckFailed("nobody has found out the pace of the open loop")
      }
      values += 1
      let interval = serviceTime * 100 / load
      let schedule = ArrivalSchedule(
        count: requests, interval: interval, spacing: spacing, seed: setting.seed &+ values)
      let samples = LatencySamples(count: requests)
      let begin = Clock.now()
      for (request, offset) in schedule.offsets.enumerated() {
        Pacer.wait(until: begin + offset)
        send(request, intended: begin + offset, to: samples)
      }
      subject.drain()
      try check(subject)
      return Value(
        [Reading(.arrivalInterval, interval, count: requests)], samples: [try samples.series()])
    }
  }
}
