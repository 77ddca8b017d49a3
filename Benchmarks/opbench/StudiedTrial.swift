import Glibc
import HarnessMeasuring
import HarnessWords
import OperationTraceEvents

/// A part of a scheduler whose cost `opbench explain` changes: what it does at one kind of event.
enum StudiedPart: String, CaseIterable {
  case add, take, finish, steal, wake, sleep

  var words: String {
    switch self {
    case .add: "an operation is added"
    case .take: "a thread has taken an operation"
    case .finish: "an operation ends"
    case .steal: "a job is taken from another worker"
    case .wake: "a thread is woken, for the thread that wakes"
    case .sleep: "a thread goes to sleep"
    }
  }

  var kinds: [TraceEvent.Kind] {
    switch self {
    case .add: [.added]
    case .take: [.begins]
    case .finish: [.finishesHere, .finishes]
    case .steal: [.steals]
    case .wake: [.wakes]
    case .sleep: [.parks]
    }
  }

  /// How often the part came in a value.
  var count: Metric { Metric("study_\(rawValue)_events", unit: "events") }
}

/// A trial whose values are studied by the probes of tracing: see `ProbeStudy`.
enum StudiedTrial {
  /// The variable that asks for a study: parts with their delays in nanoseconds, such as `wake=2000`; `none` for a
  /// study without a delay.
  static let variable = "OPBENCH_STUDY"

  static func environment(_ delays: [StudiedPart: Int]) -> [String: String] {
    let text = delays.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key.rawValue)=\($0.value)" }
    return [variable: text.isEmpty ? "none" : text.joined(separator: ";")]
  }

  /// From the beginning of the study to its end.
  static let elapsed = Metric("study_elapsed_ns", unit: "ns")

  static func metric(_ activity: ProbeStudy.Activity) -> Metric { Metric("study_\(activity)_ns", unit: "ns") }

  /// The trial, studied when the environment asks for that.
  /// - Parameter workers: those of the subject. A worker without any event was asleep all the time. Dispatch has more
  ///   threads than workers now and then: while as many as there are workers run, the others sleep, and do not count.
  static func of(_ trial: Trial, workers: Int) -> Trial {
    guard let text = getenv(variable).map({ String(cString: $0) }) else { return trial }
    var delays: [TraceEvent.Kind: UInt64] = [:]
    for (name, value) in Parameters(text)?.pairs ?? [] {
      for kind in StudiedPart(rawValue: name)?.kinds ?? [] { delays[kind] = UInt64(value) }
    }
    return Trial(operationsPerRepeat: trial.operationsPerRepeat) { [delays] repeats in
      ProbeStudy.start(delays: delays)
      var value: Value
      do {
        value = try trial.measure(repeats)
      } catch {
        _ = ProbeStudy.stop()
        throw error
      }
      var found = ProbeStudy.stop()
      let asleep = Int(found.times[.asleep] ?? 0) + (workers - found.threads) * Int(found.elapsed)
      found.times[.asleep] = UInt64(max(0, asleep))
      func add(_ metric: Metric, _ number: Double) { value.readings.append(Reading(metric, number, count: repeats)) }
      add(elapsed, Double(found.elapsed))
      for activity in ProbeStudy.Activity.allCases { add(metric(activity), Double(found.times[activity] ?? 0)) }
      for part in StudiedPart.allCases {
        add(part.count, Double(part.kinds.reduce(0) { $0 + (found.counts[$1] ?? 0) }))
      }
      return value
    }
  }
}
