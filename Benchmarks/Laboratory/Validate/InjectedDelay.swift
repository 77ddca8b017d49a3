import HarnessGate
import HarnessMeasuring
import HarnessStatistics
import HarnessWords

/// Rounds of `Delay` that make an operation of a control longer by a share of itself.
package final class InjectedDelay {
  private let delay: (Int) -> [String: String]
  private let launch: (MeasureRequest, [String: String]) -> ProcessOutcome
  private let rate: () -> Double
  /// An operation of the control without a delay, by process: its nanoseconds, and the rounds that take as long.
  private var operations: [Scenario: [(nanoseconds: Double, rounds: Double)]] = [:]

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

  /// The nanoseconds of an operation of the control without a delay.
  package var baselines: [Scenario: Double] { operations.mapValues { Statistics.median($0.map(\.nanoseconds)) } }

  /// The rounds of a benchmark for a share of its time; zero for a request that takes no times. The first call measures
  /// the benchmark.
  package func rounds(_ request: MeasureRequest, share: Double) -> Int {
    guard case .time = request.mode else { return 0 }
    let scenario = Self.scenario(request)
    if operations[scenario] == nil {
      operations[scenario] = []
      for _ in 0..<Self.processes { add(launch(request, delay(0)), to: request) }
    }
    let rounds = operations[scenario, default: []].map(\.rounds)
    return rounds.isEmpty ? 0 : Int((share * Statistics.median(rounds)).rounded())
  }

  /// Takes what a process of the control without a delay has answered just now. The speed of a machine wanders, and a
  /// delay slows down and speeds up with it: so the process is counted in rounds at the speed right behind it.
  package func add(_ outcome: ProcessOutcome, to request: MeasureRequest) {
    let numbers = GateRunner.medians(outcome.results)
    guard let nanoseconds = numbers[.nsPerOp] ?? numbers[.nsPerCancel] else { return }
    operations[Self.scenario(request), default: []].append((nanoseconds, nanoseconds * rate() / 1_000))
  }

  private static func scenario(_ request: MeasureRequest) -> Scenario {
    Scenario(request.name, Parameters(request.parameters) ?? [:])
  }

  /// The processes that tell how long an operation takes before anything else does. Their median strays by a few per
  /// cent, so a delay of a twentieth strays by a few thousandths.
  private static let processes = 15
}
