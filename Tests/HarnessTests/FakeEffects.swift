import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessResults
@testable import HarnessRunning

/// The runner with processes that only exist here.
final class FakeEffects {
  var requests: [MeasureRequest] = []
  var environments: [[String: String]] = []
  var rows: [Row] = []
  var said: [String] = []
  var isInterrupted = false
  var answer: (MeasureRequest) -> ProcessOutcome = { FakeEffects.success($0) }
  /// How often a process goes on until it has ended.
  var turns: (MeasureRequest) -> Int = { _ in 1 }
  /// The numbers of the processes that went on, in order.
  var wentOn: [Int] = []

  static func outcome(_ ending: Ending, _ lines: [ResultLine], lastWords: String? = nil) -> ProcessOutcome {
    ProcessOutcome(ending: ending, lines: lines.map(\.text), lastWords: lastWords, nanoseconds: 1_000_000)
  }

  static func success(_ request: MeasureRequest) -> ProcessOutcome {
    switch request.mode {
    case .calibrate(_, let limit, _):
      outcome(.exited(0), [.repeats(min(limit, request.subject == "foundation" ? 3 : 40)), .end])
    case .time: outcome(.exited(0), [.reading(valueIndex: 1, Reading(.nsPerOp, 5, count: 1)), .end])
    case .count: outcome(.exited(0), [.reading(valueIndex: 1, Reading(.allocationsPerOp, 2, count: 1)), .end])
    case .trace: outcome(.exited(0), [.traced(operations: 7, notShown: 0), .end])
    }
  }

  var checkpoints: [RunResult] = []
  /// The rows of each publication of a shard.
  var published: [[Row]] = []
  /// How often the runner waited to see whether it is stopped too.
  var waits = 0
  var whileWaiting: () -> Void = {}
  /// What all processes so far have taken.
  var nanoseconds: UInt64 = 0

  /// What the machine does while a test runs: no test is to depend on the steal time of the real one.
  var systemLoad: () -> SystemLoad = { SystemLoad(ticks: 0, stolen: 0, pressure: nil, swapped: nil) }

  func run(_ plan: Plan, counting: [String: String]? = nil, earlier: EarlierRun = EarlierRun()) -> RunResult {
    let effects = RunEffects(
      launch: { request, environment, _ in
        let number = self.requests.count
        self.requests.append(request)
        self.environments.append(environment)
        var turns = self.turns(request)
        return Launched {
          self.wentOn.append(number)
          turns -= 1
          if turns > 0 { return nil }
          let outcome = self.answer(request)
          self.nanoseconds += outcome.nanoseconds
          return outcome
        }
      },
      showProgress: { done, total, _, left in #expect(done < total && left >= 0) },
      say: { self.said.append($0) },
      record: { self.rows += $0 }, checkpoint: { self.checkpoints.append($0) },
      publish: { rows, _ in self.published.append(rows) }, isInterrupted: { self.isInterrupted },
      waitForOwnEnd: {
        self.waits += 1
        self.whileWaiting()
      },
      now: { self.nanoseconds }, systemLoad: { self.systemLoad() },
      countingEnvironment: counting)
    var runner = PlanRunner(
      plan, runID: "run", spin: Spin(roundsPerMicrosecond: 1), context: "g.json", effects: effects,
      earlier: earlier)
    return runner.run()
  }

  var timed: [MeasureRequest] {
    requests.filter { if case .time = $0.mode { true } else { false } }
  }
}
