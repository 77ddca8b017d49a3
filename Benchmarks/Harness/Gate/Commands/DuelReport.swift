import HarnessComparing
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessStatistics
import HarnessWords

/// What a duel of two commands found.
package struct DuelReport: Encodable, Sendable {
  /// One number of both commands.
  package struct Line: Encodable, Sendable {
    let name: String
    let metric: String
    let unit: String
    /// The medians over the blocks that count.
    let a: Double
    let b: Double
    let scale: GateScale
    /// The ratio of B to A, or for counts near zero the difference, and its interval.
    let effect: Double
    let interval: [Double]?
    /// The ratio of A to itself, or the difference, and its interval.
    let null: Double
    let nullInterval: [Double]?
    let verdict: Verdict
  }

  package enum Verdict: String, Codable, Sendable {
    case less, more, same, inconclusive
  }

  let schema = 1
  let a: String
  let b: String
  package let verdict: Verdict
  /// The answer in one sentence.
  package let answer: String
  let blocks: Int
  let excluded: Int
  let runsPerBlock: Int
  let confidence: Double?
  let seconds: Double
  let provenance: Provenance
  let lines: [Line]
  let notes: [String]

  /// - Parameter goal: the half-width that was asked for, as a share.
  package init(
    a: String, b: String, _ blocks: [CommandRunner.Block], runsPerBlock: Int, goal: Double, seconds: Double,
    provenance: Provenance, notes: [String]
  ) {
    (self.a, self.b, self.runsPerBlock, self.seconds) = (a, b, runsPerBlock, seconds)
    (self.provenance, self.notes) = (provenance, notes)
    let counted = blocks.filter { !$0.isExcluded }
    self.blocks = counted.count
    excluded = blocks.count - counted.count
    confidence = SignedRank.coverage(counted.count)
    // A machine that is never quiet still has numbers; the verdict says what they are worth.
    let shown = counted.isEmpty ? blocks : counted
    let isDisturbed = GateRule.isDisturbed(blocks.map(\.isExcluded))
    lines = CommandJudge.common(shown).compactMap { Self.line($0, shown, isDisturbed, goal: goal) }
    let first = lines.first
    verdict = first?.verdict ?? .inconclusive
    answer = first.map { Self.answer($0, blocks, isDisturbed) } ?? "nothing was measured"
  }

  private static func line(
    _ number: NamedNumber, _ shown: [CommandRunner.Block], _ isDisturbed: Bool, goal: Double
  ) -> Line? {
    let pairs = CommandJudge.triples(number, shown).compactMap { $0.paired(number.metric) }
    guard !pairs.isEmpty else { return nil }
    let scale = GateScale(number.metric)
    let effect = Statistics.pairedEstimate(pairs.map(\.effect))
    let null = Statistics.pairedEstimate(pairs.map(\.null))
    func ends(_ estimate: Estimate) -> [Double]? {
      estimate.interval.map { scale.shown($0) }.map { [$0.lowerBound, $0.upperBound] }
    }
    func median(_ arm: Int) -> Double { Statistics.median(shown.compactMap { $0.arms[arm][number] }) }
    return Line(
      name: number.name, metric: number.metric.name, unit: number.metric.unit, a: median(0), b: median(1), scale: scale,
      effect: scale.shown(effect.median), interval: ends(effect), null: scale.shown(null.median),
      nullInterval: ends(null),
      verdict: verdict(effect, null, isRate: scale == .rate, isDisturbed: isDisturbed, goal: goal))
  }

  /// The verdict on one number. A difference counts when its interval leaves out no change and lies beyond the interval
  /// of A against itself.
  private static func verdict(
    _ effect: Estimate, _ null: Estimate, isRate: Bool, isDisturbed: Bool, goal: Double
  ) -> Verdict {
    guard let interval = effect.interval, let control = null.interval, !isDisturbed else { return .inconclusive }
    if interval.lowerBound > max(0, control.upperBound) { return isRate ? .less : .more }
    if interval.upperBound < min(0, control.lowerBound) { return isRate ? .more : .less }
    return max(abs(interval.lowerBound), abs(interval.upperBound)) <= 2 * goal ? .same : .inconclusive
  }

  private static func answer(_ line: Line, _ blocks: [CommandRunner.Block], _ isDisturbed: Bool) -> String {
    let interval = line.interval.map { $0[0]...$0[1] }
    let what = line.name == NamedNumber.whole ? "" : "\(line.name): "
    switch line.verdict {
    case .less, .more:
      return what
        + RatioWords(line.effect, interval).sentence("B", against: "A", of: line.unit == "ns" ? "time" : line.metric)
    case .same:
      return what + "no difference: B takes \(NumberFormat.ratio(line.effect, interval)) of A's time"
    case .inconclusive:
      if isDisturbed {
        return
          "inconclusive: \(blocks.count(where: \.isExcluded)) of \(Count.of(blocks.count, "block")) lost CPU time to others"
      }
      guard let interval else {
        return
          "inconclusive: \(Count.of(blocks.count, "block")) instead of \(GateRule.fewestBlocks); --budget gives more time"
      }
      return what + "inconclusive: B takes \(NumberFormat.ratio(line.effect, interval)) of A's time, and A "
        + "\(NumberFormat.ratio(line.null, line.nullInterval.map { $0[0]...$0[1] })) of its own; --budget gives more time"
    }
  }

  package func json() throws -> String { try JSONFile.text(self) }

  private static let heading = ["", "A", "B", "B over A", "A over itself", "verdict on B"]

  private var table: [[String]] {
    lines.map { line in
      let format = NumberFormat(line.unit, max(line.a, line.b))
      let name = line.name == NamedNumber.whole ? line.metric : "\(line.name) \(line.metric)"
      return [
        name, format.text(line.a), format.text(line.b), Self.shown(line.effect, line.interval, line.scale),
        Self.shown(line.null, line.nullInterval, line.scale), line.verdict.rawValue,
      ]
    }
  }

  private static func shown(_ value: Double, _ interval: [Double]?, _ scale: GateScale) -> String {
    guard scale == .difference else { return NumberFormat.ratio(value, interval.map { $0[0]...$0[1] }) }
    let range = interval.map { " [\(NumberFormat.significant($0[0])), \(NumberFormat.significant($0[1]))]" } ?? ""
    return (value > 0 ? "+" : "") + NumberFormat.significant(value) + range
  }

  private var head: String {
    Count.of(blocks, "block") + " of A, B and A again"
      + (runsPerBlock > 1 ? ", \(runsPerBlock) runs of each in a block" : "")
      + (excluded > 0 ? ", \(excluded) more left out" : "") + ", \(Progress.duration(seconds))"
  }

  package var text: String {
    let lines =
      ["A: \(a)", "B: \(b)", head, ""] + Table.aligned([Self.heading] + table)
      + (notes.isEmpty ? [] : [""] + notes.map { "note: \($0)" }) + ["", answer]
    return lines.joined(separator: "\n") + "\n"
  }

  package var markdown: String {
    let lines =
      ["A: \(Markdown.code(a))<br>", "B: \(Markdown.code(b))", "", "\(Markdown.escaped(answer)).", ""]
      + ["| | A | B | B over A | A over itself | verdict on B |", "|---|--:|--:|--:|--:|---|"] + table.map(Markdown.row)
      + ["", "\(head). Measured on \(Count.of(provenance.cpus, "CPU")) of \(Markdown.escaped(provenance.cpu))."]
      + notes.map { "* \(Markdown.escaped($0))" }
    return lines.joined(separator: "\n") + "\n"
  }

  /// All runs: a line for each number.
  package static func csv(_ runs: [CommandRunner.Run], names: [String: String]) -> String {
    CSV.line(["block", "command", "name", "metric", "value", "unit", "excluded"])
      + runs.flatMap { run in
        run.numbers.sorted { $0.key < $1.key }.map { number, value in
          CSV.line([
            "\(run.block)", names[run.arm] ?? run.arm, number.name, number.metric.name, CSV.number(value),
            number.metric.unit, run.isExcluded ? "1" : "0",
          ])
        }
      }.joined()
  }
}
