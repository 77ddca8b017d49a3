import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// Everything that a report shows of what was measured.
struct MeasuredFacts: Encodable {
  struct ArmFacts: Encodable {
    let subject: String
    let workers: Int
    let name: String
    /// Whether the arm stands in pictures of all subjects, and in sentences about subjects.
    let isGeneral: Bool
    let isDefault: Bool
  }

  struct LineFacts: Encodable {
    let benchmark: String
    let family: String
    let short: String
    let params: String
    let parameters: [String: String]
    /// The parameters that are numbers.
    let numbers: [String: Double]
    let metric: String
    let unit: String
    let words: String
    let better: String?
    let isPrimary: Bool
    let cells: [Joined<ArmPlace, CellFacts>]
  }

  struct CellFacts: Encodable {
    let number: NumberFacts
    /// To the reference, from the blocks in which both were measured.
    let ratio: Joined<Against, RatioFacts>?

    private enum Keys: String, CodingKey { case ratio }

    func encode(to encoder: any Encoder) throws {
      try number.encode(to: encoder)
      var fields = encoder.container(keyedBy: Keys.self)
      try fields.encodeIfPresent(ratio, forKey: .ratio)
    }
  }

  struct Against: Encodable { let against: Int }

  struct Failure: Encodable {
    let source: Int
    let benchmark: String
    let params: String
    let backend: String
    let workers: Int
    let reason: String
    /// The lines that the failure is about.
    let lines: [Int]
  }

  /// How many ratios of times there are, how many of them have a wide interval, and how many none.
  struct Rough: Encodable {
    let ratios: Int
    let rough: Int
    let without: Int
  }

  struct Means: Encodable {
    /// Absent for all benchmarks.
    let family: String?
    let together: [Joined<ArmPlace, MeanFacts>]
    /// What stands apart is compared with this arm.
    let ours: Int?
    let apart: [Joined<ArmPlace, MeanFacts>]
    let benchmarks: Int
  }

  struct Bound: Encodable {
    let line: Int
    let bound: Double
    let text: String
  }

  let reference: String?
  let referenceWords: String?
  let cpus: Int?
  let subjects: [MeasuredSubjects.Subject]
  let arms: [ArmFacts]
  let hasGeneralView: Bool
  let hasDefaultView: Bool
  let leftOutChanges: Int
  let lines: [LineFacts]
  let failures: [Failure]
  let rough: Rough
  let means: [Means]
  let kindsOfWork: [WorkFacts]
  let glance: GlanceFacts?
  let losses: [LossFacts]
  let cpuCost: [CPUCostFacts]
  let granularity: [GranularityFacts]
  let forkCost: [ForkCostFacts]
  /// Graham's bound of the efficiency of replayed workflows.
  let replayBounds: [Bound]
  /// The slowdown that requests should stay below.
  let slowdownLevel = ServiceLevel.slowdown
  /// How many samples a process needs for a percentile.
  let percentileSamples = Dictionary(uniqueKeysWithValues: SampleSeries.percentiles.map { ($0.name, $0.samples) })
  let machines: MachineFacts?
  let disagreements: DisagreementFacts?
  let isMixture: Bool
  let commitsDiffer: Bool
  let ablation: AblationFacts?

  init(_ results: MeasuredResults, claims: [PublishedClaim]?) throws {
    let (general, defaults) = (ResultView.general(results), ResultView.defaults(results))
    let whole = ResultView.whole(results)
    (reference, referenceWords, cpus) = (results.subjects.reference, results.subjects.referenceWords, results.cpus)
    subjects = results.subjects.all
    arms = results.arms.enumerated().map { number, arm in
      ArmFacts(
        subject: arm.subject, workers: arm.workers, name: "\(arm)", isGeneral: general.arms.contains(number),
        isDefault: defaults.arms.contains(number))
    }
    (hasGeneralView, hasDefaultView) = (!general.isWhole, !defaults.isWhole)
    let shown = Set(general.arms.map { results.arms[$0].subject })
    leftOutChanges = ResultView.variants(results).count { !shown.contains($0) }
    lines = Self.lines(whole)
    let ratios = lines.filter(\.isPrimary).flatMap { $0.cells.compactMap(\.second.ratio?.second) }
    rough = Rough(
      ratios: ratios.count, rough: ratios.count(where: \.isRough), without: ratios.count { $0.low == nil })
    failures = Self.failures(results)
    means = Self.means(general)
    kindsOfWork = WorkFacts.all(defaults)
    glance = GlanceFacts(results)
    losses = LossFacts.all(defaults)
    cpuCost = CPUCostFacts.all(general)
    granularity = GranularityFacts.all(general)
    forkCost = ForkCostFacts.all(general)
    replayBounds = Self.bounds(general)
    let hosts = Set(results.table.origins.map(\.host)).subtracting([""])
    let found =
      hosts.isEmpty ? nil : Machines(hosts: hosts, sittings: results.sets.flatMap { $0.record?.machines ?? [] })
    machines = found.map(MachineFacts.init)
    disagreements = found.flatMap { $0.kinds.count > 1 ? DisagreementFacts(results, $0) : nil }
    isMixture = Set(results.sets.map { $0.record?.runID ?? $0.name }).count > 1
    commitsDiffer = Set(results.sets.map { $0.record?.commit ?? "" }).count > 1
    ablation = try AblationFacts(results, claims: claims)
  }

  static func lines(_ view: ResultView) -> [LineFacts] {
    let results = view.results
    let records = results.sets.compactMap(\.record)
    return view.lines.map { line in
      let (scenario, metric) = (results.lines[line].scenario, results.lines[line].metric)
      let facts = records.lazy.compactMap { $0.metrics[metric.name] }.first ?? metric.facts
      let parameters = Dictionary(uniqueKeysWithValues: scenario.parameters.pairs.map { ($0.key, $0.value) })
      return LineFacts(
        benchmark: "\(scenario.name)", family: scenario.name.family, short: scenario.name.benchmark,
        params: "\(scenario.parameters)", parameters: parameters,
        numbers: parameters.compactMapValues { Double($0).flatMap { $0.isFinite ? $0 : nil } }, metric: metric.name,
        unit: metric.unit, words: facts.words, better: facts.better?.rawValue, isPrimary: results.isPrimary(line),
        cells: view.cells(line).map { arm in
          let base = view.base(of: arm, on: line).flatMap { $0 == arm ? nil : $0 }
          let ratio = base.flatMap { base in
            Pairing.ratio(results.logarithms(line, arm, base).values).map {
              Joined(Against(against: base), RatioFacts($0))
            }
          }
          let number = NumberFacts(results.estimate(line, arm), unit: metric.unit)
          return Joined(ArmPlace(arm: arm), CellFacts(number: number, ratio: ratio))
        })
    }
  }

  private static func failures(_ results: MeasuredResults) -> [Failure] {
    results.sets.enumerated().flatMap { source, set in
      set.failures.map { failure in
        let lines = results.lines.indices.filter {
          results.lines[$0].benchmark == failure.benchmark
            && results.lines[$0].scenario.parameters.contains(failure.params)
        }
        return Failure(
          source: source, benchmark: failure.benchmark, params: failure.params, backend: failure.backend,
          workers: failure.workers, reason: failure.reason, lines: lines)
      }
    }
  }

  private static func means(_ view: ResultView) -> [Means] {
    let results = view.results
    let primary = view.primaryLines()
    var families: [String] = []
    for line in primary where !families.contains(results.lines[line].family) {
      families.append(results.lines[line].family)
    }
    return ([nil] + families.map(Optional.some)).compactMap { family in
      let own = primary.filter { family == nil || results.lines[$0].family == family }
      let lines = own.map { line in
        CommonMeans.Line(
          benchmark: results.lines[line].benchmark,
          numbers: results.lines[line].cells.filter { view.arms.contains(results.number(of: $0.key)) },
          main: Set(view.mainArms(line).map { results.arms[$0] }))
      }
      let arms = Set(own.flatMap(view.mainArms)).sorted().map { results.arms[$0] }
      let ours = Set(results.subjects.all.filter(\.isOurs).map(\.name))
      let means = CommonMeans(
        lines, arms: arms, ours: ours, reference: results.subjects.reference ?? "", seed: MeasuredResults.seed)
      guard let leader = means.leader else { return nil }
      func facts(_ mean: CommonMeans.Mean) -> Joined<ArmPlace, MeanFacts> {
        Joined(ArmPlace(arm: results.number(of: mean.arm)), MeanFacts(mean))
      }
      return Means(
        family: family, together: means.together.map(facts), ours: results.number(of: leader),
        apart: means.apart.compactMap { $0.mean.map(facts) }, benchmarks: means.together.map(\.benchmarks).max() ?? 0)
    }
  }

  private static func bounds(_ view: ResultView) -> [Bound] {
    let results = view.results
    func lines(_ metric: String) -> [Int] {
      view.lines.filter {
        results.lines[$0].benchmark == "dependencies/replay" && results.lines[$0].metric.name == metric
      }
    }
    let bounds = lines("graham_efficiency")
    return lines("efficiency").compactMap { line in
      guard let own = bounds.first(where: { results.lines[$0].scenario == results.lines[line].scenario }),
        let bound = view.cells(own).map({ Statistics.median(Array(results.cell(own, $0)!.values)) }).min()
      else { return nil }
      return Bound(line: line, bound: bound, text: NumberFormat.fixed(bound, digits: 2))
    }
  }
}
