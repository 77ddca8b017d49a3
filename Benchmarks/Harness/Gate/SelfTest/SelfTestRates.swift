import HarnessComparing
import HarnessStatistics

/// How often the gate was right, over many runs.
package struct SelfTestRates {
  private let runs: [SelfTestRun]

  package init(_ runs: [SelfTestRun]) { self.runs = runs }

  /// The case with the fewest runs, as long as that case has fewer runs than asked for.
  package func next(of count: Int, among cases: [SelfTestCase] = SelfTestCase.allCases) -> SelfTestCase? {
    let done = cases.map { test in (test, runs.count { $0.test == test }) }
    guard let least = done.min(by: { $0.1 < $1.1 }), least.1 < count else { return nil }
    return least.0
  }

  package var text: String {
    let header = ["case", "runs", "pass", "regression", "inconclusive", "improvement", "as expected", "95 % interval"]
    let rows = SelfTestCase.allCases.map { test -> [String] in
      let verdicts = runs.filter { $0.test == test }.map(\.verdict)
      let right = verdicts.count { $0 == test.expected }
      let bounds = verdicts.isEmpty ? nil : BinomialBounds(hits: right, of: verdicts.count)
      func count(_ verdict: GateVerdict) -> String { "\(verdicts.count { $0 == verdict })" }
      return [
        test.words, "\(verdicts.count)", count(.pass), count(.regression), count(.inconclusive), count(.improvement),
        verdicts.isEmpty ? "-" : "\(GateFinding.percent(Double(right) / Double(verdicts.count))) %",
        bounds.map { "\(GateFinding.percent($0.lower)) to \(GateFinding.percent($0.upper)) %" } ?? "-",
      ]
    }
    return Table.aligned([header] + rows).joined(separator: "\n") + "\n" + falseAlarms
  }

  /// The rate of false alarms, with its upper bound.
  private var falseAlarms: String {
    let equal = runs.filter { $0.test == .equal }
    guard !equal.isEmpty else { return "" }
    let alarms = equal.count { $0.verdict == .regression }
    let bounds = BinomialBounds(hits: alarms, of: equal.count)
    return "false alarms: \(alarms) of \(equal.count), at most \(GateFinding.percent(bounds.upper)) %\n"
  }
}
