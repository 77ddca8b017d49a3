import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects

/// How much load a subject carries before its tails break, and how the slowdown of requests grows with the load.
///
/// Requests arrive whether or not the ones before have been served, and take times of a distribution. `load` is the
/// share of the workers' time that the service takes, so all subjects get the same arrivals. `long` says what is done
/// about requests that take more than four times the mean; a piece of one takes the mean. Beside each number stands
/// that of one queue without any cost (`SharedQueue`), with the same requests, where the same is done.
struct Capacity: Workload {
  /// Whether the slowdown at given loads is asked, and not the load.
  var isCurve = false

  var name: BenchmarkName { BenchmarkName("latency", isCurve ? "slowdown" : "capacity") }
  var summary: String {
    isCurve
      ? "time that requests are there over the time that they take, by load"
      : "highest load at which 99.9 % of the requests are there for less than ten times their service time"
  }
  var metrics: [Metric] {
    isCurve
      ? Metric.slowdowns + Metric.idealSlowdowns
      : [.capacity, .idealCapacity, .capacityOfIdeal, .disturbedRuns]
  }
  var headlines: [Metric] {
    isCurve ? [Metric.slowdowns[0], Metric.slowdowns[2]] : [.capacity, .capacityOfIdeal]
  }
  let needs = Abilities.threads
  let repeats = RepeatPolicy.once(seconds: 20)
  /// Where other guests disturb many runs, a search takes several times as long.
  let timeLimit: Double? = 1_200

  /// A request is long that takes more than this many times the mean.
  static let longFrom = 4.0

  func needs(_ parameters: Parameters) -> Abilities {
    needs.union(parameters["long"].flatMap(SharedQueue.Long.init(rawValue:))?.needs ?? [])
  }

  func extendedParameterSets() -> [Parameters] {
    let services = ServiceTimes.allCases.map { parameters($0) }
    if isCurve {
      return (services + [parameters(.bimodal, .divided)]).flatMap { set in
        [10, 30, 50, 70, 90].map { set.merging(["load": "\($0)"]) }
      }
    }
    let bursts = parameters(.fixed).merging(["arrivals": ArrivalSchedule.Spacing.bursts.rawValue])
    let all = services + [bursts] + SharedQueue.Long.allCases.dropFirst().map { parameters(.bimodal, $0) }
    return all + all.map { $0.merging(["mean_us": "3", "samples": "10000"]) }
  }

  private func parameters(_ service: ServiceTimes, _ long: SharedQueue.Long = .same) -> Parameters {
    [
      "service": service.rawValue, "arrivals": ArrivalSchedule.Spacing.exponential.rawValue, "mean_us": "1000",
      "long": long.rawValue, "samples": "2000",
    ]
  }

  func repeats(_ parameters: Parameters) -> RepeatPolicy {
    let requests = (parameters.number("samples") ?? 0) * (parameters.number("mean_us") ?? 0) * 1e-6
    // A search has some twelve runs, and ends those early in which too many requests are slow.
    return .once(seconds: isCurve ? requests * 100 / max(parameters.number("load") ?? 100, 1) : requests * 12)
  }

  func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    let input = try Input(setting)
    guard input.long == .same else { throw Complaint(.usage, "long=\(input.long) needs operations with priorities") }
    return try trial(input, setting) { requests in
      { request in subject.submit { requests.serve(request) } }
    } drain: {
      subject.drain()
      try checkEmpty(subject.unfinished ?? 0)
    }
  }

  func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    let input = try Input(setting)
    if input.long == .limited { subject.setPlaces(setting.workers, lessUrgent: max(1, setting.workers - 1)) }
    return try trial(input, setting) { requests in
      let piece = requests.rounds(nanoseconds: input.mean)
      @Sendable func add(_ request: Int, left: Int) {
        let item = S.makeOperation {
          switch input.long {
          case .divided where left > piece:
            Spin.run(rounds: piece)
            add(request, left: left - piece)
          case .forked:
            Self.fork(left, piece, on: S.self)
            requests.end(request)
          default:
            Spin.run(rounds: left)
            requests.end(request)
          }
        }
        S.setPriority(.low, of: item)
        subject.add(item)
      }
      return { request in
        if input.long != .same, requests.isLessUrgent(request) {
          add(request, left: requests.rounds(of: request))
        } else {
          subject.submit { requests.serve(request) }
        }
      }
    } drain: {
      subject.drain()
      try checkEmpty(subject.remaining)
    }
  }

  private static func fork<S: ClosureSubject>(_ rounds: Int, _ piece: Int, on type: S.Type) {
    guard rounds > piece else { return Spin.run(rounds: rounds) }
    _ = S.fork({ fork(rounds / 2, piece, on: type) }, { fork(rounds - rounds / 2, piece, on: type) })
  }

  func peerInput(_ setting: Setting) throws -> PeerInput {
    let input = try Input(setting)
    let stream = input.stream(seed: setting.seed &+ 1)
    let workers = setting.workers
    @Sendable func requests(_ load: Double) -> PeerRequests {
      PeerRequests(stream, every: stream.interval(load: load, workers: workers))
    }
    guard isCurve else {
      return PeerInput(search: { ask in
        try Self.search(input, stream, workers: workers) { load in
          let requests = requests(load)
          return try requests.slowdowns(ask(requests.input()))
        }.map { Reading($0, $1, count: input.samples) }
      })
    }
    let asked = requests(try askedLoad(setting))
    let ideal = Self.percentiles(input.ideal(stream, asked.offsets, servers: workers))
    return asked.input { readings in
      let slowdowns = try asked.slowdowns(readings)
      return zip(Metric.slowdowns + Metric.idealSlowdowns, Self.percentiles(slowdowns) + ideal).map {
        Reading($0, $1, count: slowdowns.count)
      }
    }
  }

  private func askedLoad(_ setting: Setting) throws -> Double {
    let load = try setting.number("load")
    guard load > 0, load <= 100 else { throw Complaint(.usage, "load is above 0 and up to 100, not \(load)") }
    return load
  }

  /// - Parameter sender: makes, for some requests, the function that sends one of them.
  private func trial(
    _ input: Input, _ setting: Setting, sender: @escaping (ServedRequests) -> (Int) -> Void,
    drain: @escaping () throws -> Void
  ) throws -> Trial {
    Pacer.sharpen()
    let load = isCurve ? try askedLoad(setting) : 0
    // All values have the same requests, and so have peers.
    let stream = input.stream(seed: setting.seed &+ 1)
    return Trial(operationsPerRepeat: input.samples) { repeats in
      var readings: [Metric: [Double]] = [:]
      for _ in 0..<repeats {
        /// The slowdowns at a load.
        func slowdowns(_ load: Double, isWhole: Bool) throws -> [Double] {
          let interval = stream.interval(load: load, workers: setting.workers)
          let requests = ServedRequests(stream, every: interval, spin: setting.spin)
          let sent = requests.send(isWhole: isWhole, sender(requests))
          try drain()
          return try requests.slowdowns(of: sent)
        }
        let found: [(Metric, Double)]
        if isCurve {
          let own = Self.percentiles(try slowdowns(load, isWhole: true))
          let offsets = stream.offsets(every: stream.interval(load: load, workers: setting.workers))
          let ideal = Self.percentiles(input.ideal(stream, offsets, servers: setting.workers))
          found = Array(zip(metrics, own + ideal))
        } else {
          found = try Self.search(input, stream, workers: setting.workers) { try slowdowns($0, isWhole: false) }
        }
        for (metric, value) in found { readings[metric, default: []].append(value) }
      }
      return Value(
        metrics.compactMap { metric in
          readings[metric].map { Reading(metric, Statistics.median($0), count: input.samples * repeats) }
        })
    }
  }

  /// The highest load that is carried, beside that of a queue without any cost.
  /// - Parameter slowdowns: those at a load; of fewer requests where more exceed the level than may.
  private static func search(
    _ input: Input, _ stream: RequestStream, workers: Int, slowdowns: (_ load: Double) throws -> [Double]
  ) throws -> [(Metric, Double)] {
    var disturbed = 0
    let ideal = input.idealCapacity(stream, servers: workers)
    var found = [(Metric.idealCapacity, ideal ?? 0)]
    do {
      let capacity = try ServiceLevel.highestLoad { load in
        try agreed(&disturbed) {
          let before = SystemLoad.read()
          let holds = ServiceLevel.holds(try slowdowns(load))
          return (holds, SystemLoad.read().stealShare(since: before) > ServiceLevel.exceptions)
        }
      }
      found.append((.capacity, capacity ?? 0))
      if let ideal { found.append((.capacityOfIdeal, (capacity ?? 0) / ideal)) }
    } catch is Undecided {}
    return found + [(.disturbedRuns, Double(disturbed))]
  }

  /// The percentiles of `Metric.slowdowns`.
  private static func percentiles(_ slowdowns: [Double]) -> [Double] {
    let sorted = slowdowns.sorted()
    return [0.5, 0.99, 0.999].map { Statistics.percentile($0, ofSorted: sorted) }
  }

  /// Other guests of the host disturbed too many runs: the search has no result.
  struct Undecided: Error {}

  /// What two runs say. A run that failed while other guests of the host had more of the CPUs than the share of
  /// requests that may be slow does not count. Six of those at one load end the search.
  /// - Parameter run: whether the load was carried, and whether other guests disturbed that.
  static func agreed(_ disturbed: inout Int, _ run: () throws -> (holds: Bool, isDisturbed: Bool)) throws -> Bool {
    var (yes, no, uncounted) = (0, 0, 0)
    while yes < 2, no < 2 {
      switch try run() {
      case (true, _): yes += 1
      case (false, false): no += 1
      case (false, true):
        (uncounted, disturbed) = (uncounted + 1, disturbed + 1)
        if uncounted == 6 { throw Undecided() }
      }
    }
    return yes == 2
  }

  /// The parameters, read.
  struct Input: Sendable {
    let service: ServiceTimes
    let spacing: ArrivalSchedule.Spacing
    let long: SharedQueue.Long
    /// In nanoseconds.
    let mean: Double
    let samples: Int

    func stream(seed: UInt64) -> RequestStream {
      let services = service.times(samples, mean: mean, seed: seed)
      let isLong = services.map { $0 > Capacity.longFrom * mean }
      return RequestStream(services: services, isLessUrgent: isLong, spacing: spacing, seed: seed)
    }

    /// The slowdowns in one queue without any cost.
    func ideal(_ stream: RequestStream, _ offsets: [Double], servers: Int) -> [Double] {
      let sojourns = SharedQueue.sojourns(
        arrivals: offsets, services: stream.services, servers: servers, long: long, isLong: stream.isLessUrgent,
        piece: mean)
      return zip(sojourns, stream.services).map { $0 / $1 }
    }

    func idealCapacity(_ stream: RequestStream, servers: Int) -> Double? {
      ServiceLevel.highestLoad { load in
        let offsets = stream.offsets(every: stream.interval(load: load, workers: servers))
        return ServiceLevel.holds(ideal(stream, offsets, servers: servers))
      }
    }
  }
}

extension Capacity.Input {
  init(_ setting: Setting) throws {
    func chosen<Choice: RawRepresentable<String> & CaseIterable>(_ key: String) throws -> Choice {
      guard let choice = setting.parameters[key].flatMap(Choice.init(rawValue:)) else {
        let choices = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw Complaint(.usage, "\(key) is one of \(choices), not as in '\(setting.parameters)'")
      }
      return choice
    }
    (service, spacing) = (try chosen("service"), try chosen("arrivals"))
    long = try chosen("long")
    mean = try setting.number("mean_us") * 1_000
    samples = try setting.integer("samples")
    guard mean > 0, mean < .infinity, samples > 0 else {
      throw Complaint(.usage, "mean_us and samples are finite and above 0")
    }
  }
}

extension SharedQueue.Long {
  fileprivate var needs: Abilities {
    switch self {
    case .same: []
    case .later, .divided: .operations
    case .limited: [.operations, .limits]
    case .forked: [.operations, .forks]
    }
  }
}

/// The load that one queue without any cost carries, as `latency/capacity` says it beside its own.
package enum IdealQueue {
  /// In percent of the servers' time, with requests that are drawn from the seed; nil where the least load is too much.
  /// - Complexity: O(requests * servers), times seven.
  package static func capacity(
    _ service: ServiceTimes, _ spacing: ArrivalSchedule.Spacing, _ long: SharedQueue.Long, servers: Int, requests: Int,
    seed: UInt64
  ) -> Double? {
    let input = Capacity.Input(service: service, spacing: spacing, long: long, mean: 1e6, samples: requests)
    return input.idealCapacity(input.stream(seed: seed), servers: servers)
  }
}
