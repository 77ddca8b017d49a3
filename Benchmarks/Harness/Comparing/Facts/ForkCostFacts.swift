import HarnessMeasuring
import HarnessStatistics

/// What a fork costs, and what further workers gain, for each subject that was measured with one worker and with more.
/// The speed-up over the plain recursion is the product of both.
struct ForkCostFacts: Encodable {
  struct Row: Encodable {
    /// The arm with the most workers, and the arm with one.
    let arm: Int
    let other: Int
    /// The time of the plain recursion over that of one worker: 1 where forks cost nothing.
    let serialOverOne: NumberFacts
    /// What a task takes beyond the plain recursion with one worker; nil in results of earlier runs.
    let overSerial: NumberFacts?
    /// The time of one worker over that of the most workers, from the same blocks.
    let oneOverMost: RatioFacts
    let serialOverMost: NumberFacts
  }

  /// The line of the speed-up.
  let line: Int
  let rows: [Row]

  static func all(_ view: ResultView) -> [ForkCostFacts] {
    let results = view.results
    let lines = view.lines.filter { results.lines[$0].metric == .speedup }
    return lines.compactMap { line in
      let scenario = results.lines[line].scenario
      func other(_ metric: Metric) -> Int? {
        view.lines.first { results.lines[$0].scenario == scenario && results.lines[$0].metric == metric }
      }
      guard let times = other(.nsPerOp) else { return nil }
      let overheads = other(.forkOverhead)
      let cells = view.cells(line)
      let rows = view.mainArms(line).compactMap { most -> Row? in
        let one = cells.first {
          results.arms[$0].subject == results.arms[most].subject && results.arms[$0].workers == 1
        }
        guard let one, one != most,
          let gain = Pairing.ratio(results.logarithms(times, one, most).values)
        else { return nil }
        func number(_ line: Int, _ arm: Int) -> NumberFacts {
          NumberFacts(results.estimate(line, arm), unit: results.lines[line].metric.unit)
        }
        return Row(
          arm: most, other: one, serialOverOne: number(line, one),
          overSerial: overheads.flatMap { results.cell($0, one) == nil ? nil : number($0, one) },
          oneOverMost: RatioFacts(gain), serialOverMost: number(line, most)
        )
      }
      return rows.isEmpty ? nil : ForkCostFacts(line: line, rows: rows)
    }
  }
}
