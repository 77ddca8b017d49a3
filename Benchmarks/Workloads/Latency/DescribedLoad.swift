import HarnessMeasuring
import HarnessStatistics
import HarnessWords
import Subjects

/// A load that a user describes: see `LoadDescription`. `opbench load` measures it.
///
/// `times` is the arrival rate over the described one. `way` is what is done about requests that are not urgent or that
/// block. Beside the numbers of a subject stand those of one queue without any cost, where no request blocks.
package struct DescribedLoad: Workload {
  package static let name = BenchmarkName("latency", "load")
  package static let p99 = Metric("sojourn_p99_ns", unit: "ns")
  package static let urgentP99 = Metric("urgent_p99_ns", unit: "ns")
  /// The requests that took longer than the tail allows, and the urgent ones that missed their deadline, in percent.
  package static let late = Metric("late_p99_percent", unit: "percent")
  package static let urgentLate = Metric("urgent_late_p99_percent", unit: "percent")
  package static let idealP99 = Metric("ideal_sojourn_p99_ns", unit: "ns")
  package static let idealLate = Metric("ideal_late_p99_percent", unit: "percent")

  let load: LoadDescription

  package init(_ load: LoadDescription) { self.load = load }

  package var name: BenchmarkName { Self.name }
  package var summary: String { "requests as a file describes them, with their sojourn times" }
  package var metrics: [Metric] {
    [Self.p50, Self.p99, Self.p999, Self.late] + (load.urgent == nil ? [] : [Self.urgentP99, Self.urgentLate])
      + (load.blocking == nil ? [Self.idealP99, Self.idealLate] : [])
  }
  package let needs = Abilities.threads
  package let repeats = RepeatPolicy.once(seconds: 2)

  private static let p50 = Metric("sojourn_p50_ns", unit: "ns")
  private static let p999 = Metric("sojourn_p999_ns", unit: "ns")

  package func needs(_ parameters: Parameters) -> Abilities {
    switch parameters["way"].flatMap(LoadDescription.Way.init(rawValue:)) {
    case .urgentFirst: [needs, .operations]
    case .urgentKept, .limited: [needs, .operations, .limits]
    case .plain, nil: needs
    }
  }

  package func repeats(_ parameters: Parameters) -> RepeatPolicy {
    .once(seconds: Double(load.requests) / (load.rate * (parameters.number("times") ?? 1)))
  }

  package func parameterSets() -> [Parameters] {
    let cpus = load.cpus ?? CPUs.available
    return load.ways.flatMap { way in
      load.factors(cpus: cpus).map { factor in
        ["load": load.name, "way": way.rawValue, "times": NumberFormat.general(factor, digits: 4)]
      }
    }
  }

  package func prepare<S: ClosureSubject>(closures type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    guard try way(setting) == .plain else { throw Complaint(.usage, "\(S.name) has no priorities") }
    return try trial(setting) { requests, request in
      subject.submit { requests.serve(request) }
    } drain: {
      subject.drain()
      try checkEmpty(subject.unfinished ?? 0)
    }
  }

  package func prepare<S: OperationSubject>(operations type: S.Type, _ setting: Setting) throws -> Trial {
    let subject = S(workers: setting.workers)
    let way = try way(setting)
    switch way {
    case .urgentKept: subject.setPlaces(Int.max, lessUrgent: max(1, setting.workers - 1))
    case .limited: subject.setPlaces(2 * setting.workers, lessUrgent: 2 * setting.workers)
    case .plain, .urgentFirst: break
    }
    return try trial(setting) { requests, request in
      guard way == .urgentFirst || way == .urgentKept, requests.isLessUrgent(request) else {
        return subject.submit { requests.serve(request) }
      }
      let item = S.makeOperation { requests.serve(request) }
      S.setPriority(.low, of: item)
      subject.add(item)
    } drain: {
      subject.drain()
      try checkEmpty(subject.remaining)
    }
  }

  package func peerInput(_ setting: Setting) throws -> PeerInput {
    let (stream, isUrgent) = load.stream(seed: setting.seed &+ 1)
    let interval = try interval(setting)
    let requests = PeerRequests(stream, every: interval)
    let ideal = try ideal(stream, isUrgent, interval, setting)
    return requests.input { readings in
      value(try requests.sojourns(ofOneRepeat: readings), isUrgent, ideal).readings
    }
  }

  private func interval(_ setting: Setting) throws -> Double {
    let times = try setting.number("times")
    guard times > 0 else { throw Complaint(.usage, "times is above 0, not \(times)") }
    return 1e9 / (load.rate * times)
  }

  private func way(_ setting: Setting) throws -> LoadDescription.Way {
    guard let way = setting.parameters["way"].flatMap(LoadDescription.Way.init(rawValue:)) else {
      let ways = LoadDescription.Way.allCases.map(\.rawValue).joined(separator: ", ")
      throw Complaint(.usage, "way is one of \(ways), not as in '\(setting.parameters)'")
    }
    return way
  }

  private func trial(
    _ setting: Setting, send: @escaping (ServedRequests, Int) -> Void, drain: @escaping () throws -> Void
  ) throws -> Trial {
    Pacer.sharpen()
    let interval = try interval(setting)
    let (stream, isUrgent) = load.stream(seed: setting.seed &+ 1)
    return Trial(operationsPerRepeat: load.requests) { _ in
      let requests = ServedRequests(stream, every: interval, spin: setting.spin)
      _ = requests.send(isWhole: true) { send(requests, $0) }
      try drain()
      return value(try requests.sojourns(), isUrgent, try ideal(stream, isUrgent, interval, setting))
    }
  }

  private func value(_ sojourns: [Double], _ isUrgent: [Bool], _ ideal: [Metric: Double]) -> Value {
    let found = Self.readings(sojourns, isUrgent, load).merging(ideal) { $1 }
    return Value(metrics.compactMap { metric in found[metric].map { Reading(metric, $0, count: isUrgent.count) } })
  }

  /// What one queue without any cost makes of the same requests; nothing where some block.
  private func ideal(
    _ stream: RequestStream, _ isUrgent: [Bool], _ interval: Double, _ setting: Setting
  ) throws -> [Metric: Double] {
    guard load.blocking == nil else { return [:] }
    let long: SharedQueue.Long =
      switch try way(setting) {
      case .plain, .limited: .same
      case .urgentFirst: .later
      case .urgentKept: .limited
      }
    let sojourns = SharedQueue.sojourns(
      arrivals: stream.offsets(every: interval), services: stream.services,
      servers: min(setting.workers, CPUs.available), long: long, isLong: stream.isLessUrgent)
    let readings = Self.readings(sojourns, isUrgent, load)
    return [
      Self.idealP99: readings[Self.p99]!, Self.idealLate: max(readings[Self.late]!, readings[Self.urgentLate] ?? 0),
    ]
  }

  private static func readings(_ sojourns: [Double], _ isUrgent: [Bool], _ load: LoadDescription) -> [Metric: Double] {
    func percent(_ times: [Double], above limit: Double) -> Double {
      100 * Double(times.count { $0 > limit }) / Double(times.count)
    }
    let sorted = sojourns.sorted()
    var found = [
      p50: Statistics.percentile(0.5, ofSorted: sorted), p99: Statistics.percentile(0.99, ofSorted: sorted),
      p999: Statistics.percentile(0.999, ofSorted: sorted),
      late: percent(sorted, above: load.tail),
    ]
    let urgent = zip(sojourns, isUrgent).filter(\.1).map(\.0).sorted()
    if !urgent.isEmpty {
      found[urgentP99] = Statistics.percentile(0.99, ofSorted: urgent)
      found[urgentLate] = percent(urgent, above: load.deadline ?? load.tail)
    }
    return found
  }
}
