import HarnessGate
import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// Rounds of `Delay` that make an operation of a control longer by a share of itself.
package final class InjectedDelay {
  private let delay: (Int) -> [String: String]
  private let launch: (MeasureRequest, [String: String]) -> ProcessOutcome
  private let roundsPerMicrosecond = Delay.roundsPerMicrosecond()
  /// The nanoseconds of an operation of the control without a delay.
  package private(set) var baselines: [Scenario: Double] = [:]

  /// - Parameters:
  ///   - delay: the environment in which every operation is n rounds longer, by n.
  ///   - launch: starts the process for a request of the control.
  package init(
    delay: @escaping (Int) -> [String: String], launch: @escaping (MeasureRequest, [String: String]) -> ProcessOutcome
  ) {
    self.delay = delay
    self.launch = launch
  }

  /// The rounds of a benchmark for a share of its time, which is measured once; zero for a request that takes no times.
  package func rounds(_ request: MeasureRequest, share: Double) -> Int {
    guard case .time = request.mode else { return 0 }
    let scenario = Scenario(request.name, Parameters(request.parameters) ?? [:])
    let plain = baselines[scenario] ?? baseline(request)
    baselines[scenario] = plain
    return Int((share * plain * roundsPerMicrosecond / 1_000).rounded())
  }

  /// The processes that tell how long an operation takes. Their median strays by a few per cent, so a delay of a
  /// twentieth strays by a few thousandths.
  private static let processes = 15

  private func baseline(_ request: MeasureRequest) -> Double {
    let values = (0..<Self.processes).compactMap { _ in nanoseconds(request, delay(0)) }
    return values.isEmpty ? 0 : Statistics.median(values)
  }

  /// How long an operation takes in one process.
  private func nanoseconds(_ request: MeasureRequest, _ environment: [String: String]) -> Double? {
    let numbers = GateRunner.medians(launch(request, environment).results)
    return numbers[.nsPerOp] ?? numbers[.nsPerCancel]
  }
}
