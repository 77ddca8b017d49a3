import HarnessMeasuring
import HarnessWords

/// What is wrong with the answer of a peer's program. A program of this package answers in these lines by construction;
/// one of another language may have counted or timed wrongly.
package enum PeerAnswer {
  /// The reason why an answer cannot be true; nil when it may be. The answer is whole: `ProcessOutcome.failure` has
  /// found nothing.
  package static func mistake(in outcome: ProcessOutcome, to mode: MeasureRequest.Mode) -> String? {
    // The clock of the process went on while this process stood still.
    let lifetime = Double(outcome.nanoseconds + outcome.stoodStill)
    switch mode {
    case .calibrate(_, let limit, _):
      let answers = outcome.results.compactMap { if case .repeats(let count) = $0 { count } else { nil } }
      guard answers.count == 1, 1...limit ~= answers[0] else {
        return
          "gives \(answers.map(String.init).joined(separator: ", ")) repeats, and not one number from 1 to \(limit)"
      }
      return nil
    case .time(_, let values, _, let budget, _, _, _):
      let readings = outcome.results.compactMap {
        if case .reading(let index, let one) = $0 { (index, one) } else { nil }
      }
      return mistake(in: Dictionary(grouping: readings, by: \.0).mapValues { $0.map(\.1) }, of: values)
        ?? tooFew(readings.map(\.0).max() ?? 0, of: values, budget: budget, lifetime)
        ?? tooLong(readings.map(\.1), lifetime)
    case .count, .trace: return nil
    }
  }

  private static func mistake(in values: [Int: [Reading]], of wanted: Int) -> String? {
    if let other = values.keys.filter({ !(1...wanted ~= $0) }).min() {
      return "gives value \(other), and was asked for 1 to \(wanted)"
    }
    let metrics = Set(values[1, default: []].map(\.metric))
    for index in 1...(values.keys.max() ?? 1) {
      guard let readings = values[index] else { return "gives no value \(index), but a later one" }
      var said: Set<Said> = []
      for reading in readings {
        let name = reading.metric.name
        if !reading.value.isFinite || reading.value < 0 { return "gives \(reading.value) as \(name): time goes on" }
        if reading.count < 1 { return "gives \(name) of \(reading.count) operations" }
        if reading.value == 0, times.contains(reading.metric) { return "gives 0 as \(name): nothing takes no time" }
        if !said.insert(Said(metric: reading.metric, detail: reading.detail)).inserted {
          return "gives \(name) twice in value \(index)"
        }
      }
      let lacking = metrics.symmetricDifference(readings.map(\.metric)).map(\.name).sorted()
      if !lacking.isEmpty { return "does not give \(lacking.joined(separator: ", ")) in each value" }
    }
    return nil
  }

  private struct Said: Hashable {
    let metric: Metric
    let detail: Parameters
  }

  /// What a clock has taken, and cannot be zero.
  private static let times: Set = [Metric.nsPerOp, .makespan, .serial, PeerRequests.sojourn]

  /// A budget is spent only when the process has lived as long.
  private static func tooFew(_ count: Int, of wanted: Int, budget: UInt64, _ lifetime: Double) -> String? {
    guard count < wanted, Double(budget) > lifetime else { return nil }
    return "gives \(Count.of(count, "value")) of \(wanted), and its budget was not spent"
  }

  private static func tooLong(_ readings: [Reading], _ lifetime: Double) -> String? {
    let timed = readings.filter { $0.metric == .nsPerOp }.reduce(0) { $0 + $1.value * Double($1.count) }
    // A sum of rounded numbers may be larger by a little.
    guard timed > lifetime * 1.001 else { return nil }
    return "says that its values took \(NumberFormat.significant(timed / 1e6)) ms, and lived for "
      + "\(NumberFormat.significant(lifetime / 1e6)) ms"
  }
}
