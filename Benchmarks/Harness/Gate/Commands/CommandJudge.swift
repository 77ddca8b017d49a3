import HarnessMeasuring
import HarnessWords

/// What the blocks of two commands say, by the rule of the gate.
package struct CommandJudge {
  /// The smallest change of a time that counts, as a ratio.
  private let threshold: Double
  /// Whether a benchmark that only the base has is a regression.
  private let failsOnMissing: Bool
  /// The benchmarks that are looked at; nil: all.
  private let isChosen: (String) -> Bool

  package init(
    threshold: Double, failsOnMissing: Bool = false, isChosen: @escaping (String) -> Bool = { _ in true }
  ) {
    (self.threshold, self.failsOnMissing, self.isChosen) = (threshold, failsOnMissing, isChosen)
  }

  /// The numbers that both commands give, in the order of the report.
  package static func common(_ blocks: [CommandRunner.Block]) -> [NamedNumber] {
    guard let first = blocks.first else { return [] }
    return first.arms[0].keys.filter { first.arms[1][$0] != nil }.sorted()
  }

  static func triples(_ number: NamedNumber, _ blocks: [CommandRunner.Block]) -> [GateRunner.Triple] {
    blocks.map { block in
      let arms = block.arms.map { arm in
        arm[number].map { [number.metric: $0] } ?? [:]
      }
      return GateRunner.Triple(base: arms[0], head: arms[1], again: arms[2], isExcluded: block.isExcluded)
    }
  }

  private func judged(_ blocks: [CommandRunner.Block]) -> [NamedNumber] {
    Self.common(blocks).filter { $0.isJudged && isChosen($0.name) }
  }

  private func rule(_ number: NamedNumber, most: Int = GateRule.mostBlocks) -> GateRule {
    GateRule(GateScale(number.metric), threshold: number.threshold(threshold), mostBlocks: most)
  }

  /// Whether no number needs another block.
  package func isDone(_ blocks: [CommandRunner.Block], most: Int) -> Bool {
    isDone(judged(blocks), blocks, most: most)
  }

  private func isDone(_ numbers: [NamedNumber], _ blocks: [CommandRunner.Block], most: Int) -> Bool {
    numbers.allSatisfy { number in
      let pairs = Self.triples(number, blocks).compactMap { $0.paired(number.metric) }
      return pairs.isEmpty || !rule(number, most: most).isOpen(pairs)
    }
  }

  /// Whether the time of each benchmark needs no other block. The other numbers are as wide as they are.
  package func isNarrow(_ blocks: [CommandRunner.Block], most: Int) -> Bool {
    let times = judged(blocks).filter { $0.metric != NamedNumber.cpu && $0.metric.unit == "ns" }
    return isDone(times.isEmpty ? judged(blocks) : times, blocks, most: most)
  }

  /// Throws one line when there is no number that both give.
  package func findings(_ blocks: [CommandRunner.Block]) throws(Complaint) -> (findings: [GateFinding], notes: [String])
  {
    var findings: [GateFinding] = []
    var notes: [String] = []
    for number in judged(blocks) {
      let triples = Self.triples(number, blocks)
      let pairs = triples.compactMap { $0.paired(number.metric) }
      guard !pairs.isEmpty else {
        notes.append("\(number.name) \(number.metric.name) is 0 on one side alone, so there is no ratio")
        continue
      }
      let decision = rule(number).decide(pairs)
      var finding = GateFinding(
        tier: number.tier, number.name, number.metric, decision.verdict, reason: decision.reason)
      finding.add(triples, number.metric, threshold: number.threshold(threshold))
      findings.append(finding)
    }
    let missing = missing(blocks)
    if failsOnMissing {
      findings += missing.gone.map {
        GateFinding(tier: .deterministic, $0, GateFinding.selfCheck, .regression, reason: Self.gone($0))
      }
    } else {
      notes += missing.gone.map(Self.gone)
    }
    notes += missing.new.map { "\($0) is new: the base has no such benchmark" }
    guard !findings.isEmpty else {
      throw Complaint(.badInput, "base and head have no benchmark in common: \(notes.joined(separator: "; "))")
    }
    return (findings, notes)
  }

  private static func gone(_ name: String) -> String { "\(name) is gone: the base has it, and the head has not" }

  private func missing(_ blocks: [CommandRunner.Block]) -> (gone: [String], new: [String]) {
    guard let first = blocks.first else { return ([], []) }
    let names = first.arms.prefix(2).map { Set($0.keys.map(\.name).filter(isChosen)) }
    return (names[0].subtracting(names[1]).sorted(), names[1].subtracting(names[0]).sorted())
  }
}
