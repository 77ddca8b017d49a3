import HarnessPlanning
import HarnessWords

/// What a run shows for one family of benchmarks, in a sentence: how fast each subject that was asked for is, compared
/// with the reference.
package struct FamilyVerdict: Sendable {
  package let family: String
  package let reference: String
  /// The means of the subjects over the family.
  package let means: CommonMeans
  /// The name of each subject that was asked for. An arm has the name of its subject when the subject has no other arm.
  package let names: [Arm: String]
  /// The names of the subjects without a ratio of times in this family.
  package let without: [String]

  package init(family: String, reference: String, arms: [Arm], means: CommonMeans) {
    (self.family, self.reference, self.means) = (family, reference, means)
    names = arms.reduce(into: [:]) { names, arm in
      names[arm] = arms.count { $0.subject == arm.subject } == 1 ? arm.subject : "\(arm)"
    }
    let with = Set(means.together.map(\.arm) + means.apart.map(\.arm))
    without = arms.filter { !with.contains($0) }.compactMap { [names] in names[$0] }
  }

  /// One verdict per family of the plan, in the plan's order. `besides` are the subjects that run in every run. A
  /// verdict leaves them out, unless there are no other subjects.
  package static func all(
    _ results: ResultTable, plan: Plan, reference: String, ours: Set<String>? = nil, besides: [String]
  ) -> [FamilyVerdict] {
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
        family: family, reference: reference, arms: arms,
        means: results.means(arms, ours: ours, reference: reference, seed: plan.seed) { $0.family == family })
    }
  }

  package var text: String {
    guard !means.together.isEmpty else {
      return "\(family): no time to compare with \(reference); the table has its numbers"
    }
    let together = means.together.map { mean in
      sentence(name(mean.arm), mean, reference, over: "over \(Count.of(mean.benchmarks, "benchmark"))")
    }
    let leader = name(means.leader)
    let apart = means.apart.map { arm, mean in
      guard let mean else { return "\(name(arm)) has no benchmark in common with \(leader)" }
      let count = Count.of(mean.benchmarks, "benchmark")
      return sentence(leader, mean.inverse, name(arm), over: "over the \(count) that both have")
    }
    let rest = without.isEmpty ? "" : "; no time of \(without.joined(separator: ", "))"
    return "\(family): " + (together + apart).joined(separator: "; ") + rest
  }

  private func name(_ arm: Arm?) -> String { arm.flatMap { names[$0] } ?? "" }

  private func sentence(_ name: String, _ mean: CommonMeans.Mean, _ other: String, over: String) -> String {
    guard let interval = mean.interval else {
      return "\(mean.words.sentence(name, against: other)) \(over), from too few blocks (\(mean.blocks)) to be sure"
    }
    guard !interval.contains(1) else {
      return "\(name) and \(other) show no difference \(over) (\(NumberFormat.ratio(mean.ratio, interval)))"
    }
    return "\(mean.words.sentence(name, against: other)) \(over)"
  }
}
