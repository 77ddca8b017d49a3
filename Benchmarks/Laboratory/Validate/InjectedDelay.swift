import HarnessGate
import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// Rounds of `Delay` that make an operation of a control longer by a share of itself.
package final class InjectedDelay {
  private let delay: (Int) -> [String: String]
  private let launch: (MeasureRequest, [String: String]) -> ProcessOutcome
  private let rate: () -> Double
  /// The rounds that take as long as an operation of the control without a delay.
  private var rounds: [Scenario: Double] = [:]
  /// The nanoseconds of an operation of the control without a delay.
  package private(set) var baselines: [Scenario: Double] = [:]

  /// - Parameters:
  ///   - delay: the environment in which every operation is n rounds longer, by n.
  ///   - launch: starts the process for a request of the control.
  ///   - rate: how many rounds fill a microsecond now.
  package init(
    delay: @escaping (Int) -> [String: String], launch: @escaping (MeasureRequest, [String: String]) -> ProcessOutcome,
    rate: @escaping () -> Double = Delay.roundsPerMicrosecond
  ) {
    self.rate = rate
    self.delay = delay
    self.launch = launch
  }

  /// The rounds of a benchmark for a share of its time, which is measured once; zero for a request that takes no times.
  package func rounds(_ request: MeasureRequest, share: Double) -> Int {
    guard case .time = request.mode else { return 0 }
    let scenario = Scenario(request.name, Parameters(request.parameters) ?? [:])
    if rounds[scenario] == nil { measure(scenario, request) }
    return Int((share * rounds[scenario, default: 0]).rounded())
  }

  /// The processes that tell how long an operation takes. Their median strays by a few per cent, so a delay of a
  /// twentieth strays by a few thousandths.
  private static let processes = 15

  /// The speed of a machine wanders, and a delay slows down and speeds up with it. So each process is counted in rounds
  /// at the speed right behind it.
  private func measure(_ scenario: Scenario, _ request: MeasureRequest) {
    let values = (0..<Self.processes).compactMap { _ in
      nanoseconds(request, delay(0)).map { (nanoseconds: $0, rounds: $0 * rate() / 1_000) }
    }
    guard !values.isEmpty else { return }
    baselines[scenario] = Statistics.median(values.map(\.nanoseconds))
    rounds[scenario] = Statistics.median(values.map(\.rounds))
  }

  /// How long an operation takes in one process.
  private func nanoseconds(_ request: MeasureRequest, _ environment: [String: String]) -> Double? {
    let numbers = GateRunner.medians(launch(request, environment).results)
    return numbers[.nsPerOp] ?? numbers[.nsPerCancel]
  }
}
