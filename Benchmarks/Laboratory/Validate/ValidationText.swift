import HarnessComparing
import HarnessMeasuring
import HarnessRunning
import HarnessStatistics
import HarnessWords

/// The report of `opbench validate`.
struct ValidationText {
  private let validation: Validation
  /// The summary of the control.
  private let control: String
  private let costs: [HarnessCost]
  private let lockNanoseconds: Double
  private let effects: [RepeatEffect]
  private let baselines: [Scenario: Double]
  private let seconds: Double
  private let conditions: String

  init(
    _ validation: Validation, control: String, costs: [HarnessCost], lockNanoseconds: Double,
    effects: [RepeatEffect], baselines: [Scenario: Double],
    seconds: Double, conditions: String
  ) {
    (self.validation, self.control, self.costs) = (validation, control, costs)
    (self.lockNanoseconds, self.effects, self.baselines) = (lockNanoseconds, effects, baselines)
    (self.seconds, self.conditions) = (seconds, conditions)
  }

  var text: String {
    let operations = baselines.sorted { "\($0.key)" < "\($1.key)" }.map {
      "  \($0.key): \(NumberFormat.significant($0.value)) ns per operation"
    }
    let parts = [
      "validation of the laboratory, \(Progress.duration(seconds)); \(conditions)",
      (["the control: \(control), at"] + operations).joined(separator: "\n"), equals, delays,
      harness, repeats,
    ]
    return parts.joined(separator: "\n\n") + "\n"
  }

  private var equals: String {
    let found = validation.findings.filter { $0.level == Validation.again }.map { finding in
      """
      (a) the same subject twice under two names, \(finding.comparisons) comparisons until ±\(percent(Validation.goal)) %
        flagged different: \(finding.flagged) (\(percent(finding.share)) %); \
      \(finding.flaggedWidened) with intervals widened for all
        stated level: \(percent(Validation.statedLevel)) %, so at most \(finding.mostByChance) by chance, and none with widened intervals: \(validation.equalsPass ? "passed" : "FAILED")
        ratio \(NumberFormat.significant(finding.ratio)), half-width of an interval \(percent(finding.halfWidth)) %, \
      \(NumberFormat.significant(finding.blocks)) blocks (medians)
      """
    }
    return found.joined(separator: "\n")
  }

  private var delays: String {
    let rows =
      [["  injected", "measured", "half-width", "blocks", "detected", "with widened intervals"]]
      + validation.findings.filter { $0.level.delay > 0 }.map { finding in
        [
          "  +\(percent(finding.level.delay)) %", "x\(NumberFormat.significant(finding.ratio))",
          "\(percent(finding.halfWidth)) %", NumberFormat.significant(finding.blocks),
          "\(finding.flagged) of \(finding.comparisons) (\(percent(finding.share)) %)",
          "\(finding.flaggedWidened) of \(finding.comparisons)",
        ]
      }
    return (["(b) a delay injected into every operation"] + Table.aligned(rows)).joined(separator: "\n")
  }

  private var harness: String {
    let rows =
      [["  benchmark without a queue", "ns per operation", "allocations", "voluntary switches", ""]]
      + costs.map { cost in
        [
          "  \(cost.scenario)", NumberFormat.significant(cost.nsPerOp),
          cost.allocationsPerOp.map(NumberFormat.significant) ?? "not counted",
          NumberFormat.significant(cost.voluntarySwitchesPerOp),
          cost.passes(lockNanoseconds: lockNanoseconds) ? "passed" : "FAILED",
        ]
      }
    return """
      (c) the measuring loop itself, per operation
      \(Table.aligned(rows).joined(separator: "\n"))
        an uncontended lock and its release take \(NumberFormat.significant(lockNanoseconds)) ns here: an operation that costs less \
      has none
      """
  }

  /// How many cells are shown: those with the largest changes.
  private static let shownEffects = 8

  private var repeats: String {
    let sorted = effects.sorted { abs($0.change) > abs($1.change) }
    let wrong = effects.filter { $0.isSurelyTooLarge(among: effects.count) }
    let shown = wrong + sorted.filter { effect in !wrong.contains { $0.cell == effect.cell } }
    let rows =
      [["  largest changes", "repeats", "one more", ""]]
      + shown.prefix(max(Self.shownEffects, wrong.count)).map { effect in
        [
          "  \(effect.cell)", "\(effect.repeats)",
          (effect.change < 0 ? "" : "+") + "\(percent(effect.change)) %",
          effect.isSurelyTooLarge(among: effects.count) ? "FAILED" : "",
        ]
      }
    let middle = effects.isEmpty ? .nan : Statistics.median(effects.map { abs($0.change) })
    return """
      (d) one repeat more in every value, \(Count.of(effects.count, "cell"))
        the time of an operation changes by \(percent(middle)) % (median of the sizes); surely by more than \
      \(percent(RepeatEffect.most)) % in \(Count.of(wrong.count, "cell")): \(wrong.isEmpty && !effects.isEmpty ? "passed" : "FAILED")
      \(Table.aligned(rows).joined(separator: "\n"))
      """
  }

  private func percent(_ share: Double) -> String { NumberFormat.significant(share * 100) }
}
