import HarnessStatistics

/// Where one of ours is surely slower than something beside it. The intervals are widened for the comparisons with that
/// subject.
struct LossFacts: Encodable {
  let arm: Int
  let against: Int
  /// The number of comparisons, and those that are lost: the worst first.
  let count: Int
  /// What the worst of them says.
  let sentence: String
  let lines: [Joined<LinePlace, RatioFacts>]

  static func all(_ view: ResultView) -> [LossFacts] {
    let results = view.results
    let lines = view.primaryLines()
    let main = view.mainArms
    let beside = main.filter { !results.isOurs($0) && results.subjects[results.arms[$0].subject].role != "baseline" }
    return beside.flatMap { against -> [LossFacts] in
      var pairs: [(line: Int, arm: Int, logarithms: MeasuredResults.Processes)] = []
      for line in lines where results.cell(line, against) != nil {
        for arm in view.cells(line) where arm != against {
          pairs.append((line, arm, results.logarithms(line, arm, against)))
        }
      }
      let widening = Widening(comparisons: pairs.count { SignedRank.coverage($0.logarithms.count) != nil })
      return main.filter(results.isOurs).compactMap { arm in
        let own = pairs.filter { $0.arm == arm && !$0.logarithms.isEmpty && view.mainArms($0.line).contains(arm) }
        let slower = own.compactMap { pair -> (line: Int, ratio: RatioFacts)? in
          let confidence = widening.confidence(of: pair.logarithms.count) ?? Widening.familyConfidence
          guard let estimate = Pairing.ratio(pair.logarithms.values, confidence: confidence) else { return nil }
          let ratio = RatioFacts(estimate)
          return ratio.verdict == .more && results.lines[pair.line].metric.unit == "ns" ? (pair.line, ratio) : nil
        }
        guard !slower.isEmpty else { return nil }
        let worst = slower.enumerated().sorted {
          let (one, other) = ($0.element.ratio.value, $1.element.ratio.value)
          return one == other ? $0.offset < $1.offset : one > other
        }.map(\.element)
        return LossFacts(
          arm: arm, against: against, count: own.count,
          sentence: worst[0].ratio.words.sentence(
            results.arms[arm].subject, against: results.arms[against].subject),
          lines: worst.map { Joined(LinePlace(line: $0.line), $0.ratio) })
      }
    }
  }
}
