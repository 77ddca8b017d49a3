/// What a run shows for one family of benchmarks, in a sentence: how fast each subject that was asked for is, compared
/// with the reference.
package struct FamilyVerdict: Sendable {
  package let family: String
  package let reference: String
  /// The mean of each subject; nil for a subject without a ratio of times in this family.
  package let means: [(name: String, mean: GeometricMean?)]

  package init(family: String, reference: String, means: [(name: String, mean: GeometricMean?)]) {
    self.family = family
    self.reference = reference
    self.means = means
  }

  /// One verdict per family of the plan, in the plan's order. `besides` are the subjects that run in every run. A
  /// verdict leaves them out, unless there are no other subjects.
  package static func all(_ summary: Summary, plan: Plan, reference: String, besides: [String]) -> [FamilyVerdict] {
    let others = plan.arms.filter { $0.subject != reference }
    let asked = others.filter { !besides.contains($0.subject) }
    let arms = asked.isEmpty ? others : asked
    guard !arms.isEmpty else { return [] }
    var families: [String] = []
    for planned in plan.scenarios where !families.contains(planned.scenario.name.family) {
      families.append(planned.scenario.name.family)
    }
    return families.map { family in
      FamilyVerdict(
        family: family, reference: reference,
        means: arms.map { arm in
          let isAlone = arms.count { $0.subject == arm.subject } == 1
          return (
            isAlone ? arm.subject : "\(arm)", summary.geometricMean(arm, family: family, seed: plan.seed)
          )
        })
    }
  }

  package var text: String {
    let compared = means.compactMap { name, mean in mean.map { (name, $0) } }
    guard !compared.isEmpty else {
      return "\(family): no time to compare with \(reference); the table has its numbers"
    }
    let without = means.filter { $0.mean == nil }.map(\.name)
    let rest = without.isEmpty ? "" : "; no time of \(without.joined(separator: ", "))"
    return "\(family): " + compared.map(sentence).joined(separator: "; ") + rest
  }

  private func sentence(_ name: String, _ mean: GeometricMean) -> String {
    let over = "over \(mean.benchmarks) \(mean.benchmarks == 1 ? "benchmark" : "benchmarks")"
    guard let interval = mean.interval else {
      return "\(words(name, mean.ratio, nil)) \(over), from too few blocks (\(mean.blocks)) to be sure"
    }
    guard !interval.contains(1) else {
      let range = Self.range(1 / interval.upperBound, 1 / interval.lowerBound)
      return "\(name) and \(reference) show no difference \(over) "
        + "(\(Self.factor(1 / mean.ratio)) times as fast \(range))"
    }
    return "\(words(name, mean.ratio, interval)) \(over)"
  }

  private func words(_ name: String, _ ratio: Double, _ interval: ClosedRange<Double>?) -> String {
    ratio <= 1
      ? "\(name) is \(Self.factor(1 / ratio)) times as fast as \(reference)"
        + (interval.map { " " + Self.range(1 / $0.upperBound, 1 / $0.lowerBound) } ?? "")
      : "\(name) takes \(Self.factor(ratio)) times as long as \(reference)"
        + (interval.map { " " + Self.range($0.lowerBound, $0.upperBound) } ?? "")
  }

  private static func range(_ lower: Double, _ upper: Double) -> String { "[\(factor(lower)), \(factor(upper))]" }

  /// Two significant digits, three below two, where the last digit is one percent.
  private static func factor(_ value: Double) -> String {
    NumberFormat.fixed(value, digits: value < 2 ? 2 : value < 10 ? 1 : 0)
  }
}
