import HarnessStatistics
import HarnessWords

extension BreakEven {
  /// The readings from the times of all problems: the time over serial of each, and where forking begins to pay, for
  /// each number of bodies and over all. A number that no curve has is left out.
  package static func readings(_ points: [Point]) -> [Reading] {
    var readings = points.map { point in
      Reading(.timeOverSerial, point.ratio, count: point.problem.bodies, detail: point.problem.parameters)
    }
    for (bodies, curve) in curves(points) {
      guard let found = find(curve) else { continue }
      readings.append(Reading(.breakEven, found, count: curve.count, detail: ["bodies": "\(bodies)"]))
    }
    if let smallest = smallest(points) { readings.append(Reading(.breakEven, smallest, count: points.count)) }
    if let worst = worstLoss(points) { readings.append(Reading(.worstLoss, worst, count: points.count)) }
    return readings
  }

  /// Makes the readings of a program that gives only its times, each with its problem.
  package static func readings(_ readings: [Reading]) throws -> [Reading] {
    func times(_ metric: Metric) -> [Parameters: Double] {
      let own = readings.filter { $0.metric == metric }.map { ($0.detail, $0.value) }
      return Dictionary(own) { first, _ in first }
    }
    let forked = times(.makespan)
    let points = try readings.filter { $0.metric == .serial }.map { reading in
      guard let bodies = reading.detail.integer("bodies"), let body = reading.detail.number("body_ns"),
        let makespan = forked[reading.detail], reading.value > 0, makespan > 0
      else { throw CheckFailed("'\(reading.detail)' has no two times") }
      return Point(Problem(bodies: bodies, body: body), serial: reading.value, forked: makespan)
    }
    guard !points.isEmpty else { throw CheckFailed("the program gave no times") }
    return self.readings(points)
  }
}

extension BreakEven.Problem {
  package var parameters: Parameters { ["bodies": "\(bodies)", "body_ns": CSV.number(body)] }
}
