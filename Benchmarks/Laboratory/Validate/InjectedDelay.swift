import Harness

/// Rounds of spinning that make an operation of a control longer by a share of itself. The number of rounds is found by
/// measuring.
///
/// The CPU hides a part of a short delay behind other work. So the cost of a delay is measured, pair by pair because
/// the machine's speed drifts, and the delay is corrected by the result.
package final class InjectedDelay {
  private let spin: Spin
  private let delay: (Int) -> [String: String]
  private let launch: (MeasureRequest, [String: String]) -> ProcessOutcome
  private var rounds: [Key: Int] = [:]
  /// The nanoseconds of an operation of the control without a delay.
  package private(set) var baselines: [Scenario: Double] = [:]

  private struct Key: Hashable {
    let scenario: Scenario
    let workers: Int
    let share: Double
  }

  /// - Parameters:
  ///   - delay: the environment in which every operation spins n rounds longer, by n.
  ///   - launch: starts the process for a request of the control.
  package init(
    spin: Spin, delay: @escaping (Int) -> [String: String],
    launch: @escaping (MeasureRequest, [String: String]) -> ProcessOutcome
  ) {
    self.spin = spin
    self.delay = delay
    self.launch = launch
  }

  /// The rounds of a benchmark for a share, measured once; zero for a request that takes no times.
  package func rounds(_ request: MeasureRequest, share: Double) -> Int {
    guard case .time = request.mode else { return 0 }
    let scenario = Scenario(request.name, Parameters(request.parameters) ?? [:])
    let key = Key(scenario: scenario, workers: request.workers, share: share)
    if let known = rounds[key] { return known }
    let found = calibrated(request, scenario, share)
    rounds[key] = found
    return found
  }

  private static let pairs = 15

  private func calibrated(_ request: MeasureRequest, _ scenario: Scenario, _ share: Double) -> Int {
    let plain = baselines[scenario] ?? baseline(request)
    baselines[scenario] = plain
    // The correction is made twice, because the CPU hides another part of the first delay.
    var rounds = spin.rounds(nanoseconds: share * plain)
    for pairs in [Self.pairs / 3, Self.pairs] {
      let costs = (0..<pairs).compactMap { _ -> Double? in
        guard let plain = nanoseconds(request, [:]), let slowed = nanoseconds(request, delay(rounds)) else {
          return nil
        }
        return slowed / plain - 1
      }
      let real = costs.isEmpty ? 0 : Statistics.median(costs)
      let correction = real > 0 ? min(max(share / real, 0.5), 2) : 2
      rounds = Int((Double(rounds) * correction).rounded())
    }
    return rounds
  }

  private func baseline(_ request: MeasureRequest) -> Double {
    let values = (0..<5).compactMap { _ in nanoseconds(request, [:]) }
    return values.isEmpty ? 0 : Statistics.median(values)
  }

  /// How long an operation takes in one process.
  private func nanoseconds(_ request: MeasureRequest, _ environment: [String: String]) -> Double? {
    let numbers = GateSession.medians(launch(request, environment).lines.compactMap(ResultLine.init))
    return numbers[.nsPerOp] ?? numbers[.nsPerCancel]
  }
}
