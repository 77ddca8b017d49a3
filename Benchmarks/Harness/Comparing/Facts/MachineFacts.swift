import HarnessResults
import HarnessStatistics

/// The machines of all results, by kind.
struct MachineFacts: Encodable {
  struct Kind: Encodable {
    let name: String
    let hosts: [String]
  }

  let count: Int
  let kinds: [Kind]
  let sentence: String?

  init(_ machines: Machines) {
    count = machines.count
    kinds = machines.kinds.map { Kind(name: $0.name, hosts: $0.hosts) }
    sentence = machines.text
  }
}

/// The ratios on which kinds of machines disagree: there the number for all is that of this mixture of machines.
struct DisagreementFacts: Encodable {
  struct Pair: Encodable {
    let line: Int
    let arm: Int
    let kinds: [String]
    let ratios: [RatioFacts]
  }

  /// The number of ratios that have an interval on two kinds.
  let comparisons: Int
  /// The farthest apart first.
  let pairs: [Pair]

  init(_ results: MeasuredResults, _ machines: Machines) {
    let view = ResultView.whole(results)
    var series: [KindDisagreement.Series] = []
    var owners: [(line: Int, arm: Int)] = []
    for line in view.primaryLines() {
      for arm in view.cells(line) {
        guard let base = view.base(of: arm, on: line), base != arm else { continue }
        series.append(
          KindDisagreement.Series(
            what: "\(series.count)", logarithms: results.table.byKind(results.logarithms(line, arm, base), machines)))
        owners.append((line, arm))
      }
    }
    comparisons = KindDisagreement.comparisons(series)
    pairs = KindDisagreement.all(series).map { found in
      let owner = owners[Int(found.what)!]
      return Pair(
        line: owner.line, arm: owner.arm, kinds: [found.first.kind, found.second.kind],
        ratios: [RatioFacts(found.first.ratio), RatioFacts(found.second.ratio)])
    }
  }
}
