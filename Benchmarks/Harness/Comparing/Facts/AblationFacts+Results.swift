import HarnessResults
import HarnessStatistics
import HarnessWords

extension AblationFacts {
  /// What results say of changes; nil where they have none beside its default.
  /// - Parameter claims: what others published, to be judged by our numbers.
  init?(_ results: MeasuredResults, claims: [PublishedClaim]?) throws {
    let lines = ResultView.whole(results).primaryLines()
    let measured = Self.bases(results).compactMap { Comparisons($0.base, $0.changes, lines, results) }
      // What is an extra stands last.
      .enumerated().sorted { ($0.element.isExtra ? 1 : 0, $0.offset) < ($1.element.isExtra ? 1 : 0, $1.offset) }
      .map(\.element)
    guard !measured.isEmpty else { return nil }
    let ofFamilies = measured.reduce(0) { $0 + $1.families.count { $0.series.allSatisfy(\.hasInterval) } }
    let ofScenarios = measured.reduce(0) { $0 + $1.scenarios.count { $0.series.hasInterval } }
    let (widening, wider) = (Widening(comparisons: ofFamilies), Widening(comparisons: ofScenarios))
    (cpus, margin) = (results.cpus, Worth.margin)
    families = Widened(widening, comparisons: ofFamilies)
    scenarios = Widened(wider, comparisons: ofScenarios)
    let words = DecisionWords(results.sets.compactMap(\.record))
    decisions = words.all
    tables = measured.map { $0.table(widening, wider, words, results) }
    self.claims = try claims.map { [tables] in try Self.judge($0, tables, results) }
  }

  /// The arm of each default with the arms of its changes, the most workers first. Each number of workers stands for itself.
  private static func bases(_ results: MeasuredResults) -> [(base: Int, changes: [Int])] {
    var changes: [Arm: [Int]] = [:]
    for (number, arm) in results.arms.enumerated() {
      guard let base = results.subjects[arm.subject].variant?.base else { continue }
      changes[Arm(subject: base, workers: arm.workers), default: []].append(number)
    }
    let places = results.subjects.places
    return results.arms.indices.filter { changes[results.arms[$0]] != nil }.sorted {
      let (one, other) = (results.arms[$0], results.arms[$1])
      return (places[one.subject]!, -one.workers) < (places[other.subject]!, -other.workers)
    }.map { ($0, changes[results.arms[$0]]!) }
  }

  /// The comparisons of one table.
  private struct Comparisons {
    struct Family {
      let change: Int
      /// Nil for the whole.
      let family: String?
      let series: [RatioSeries]
    }

    struct Scenario {
      let change: Int
      let line: Int
      let series: RatioSeries
    }

    let base: Int
    let isExtra: Bool
    let changes: [Int]
    let lines: [Int]
    let names: [String]
    let columns: [String?]
    let families: [Family]
    let scenarios: [Scenario]

    init?(_ base: Int, _ changes: [Int], _ lines: [Int], _ results: MeasuredResults) {
      let scenarios = changes.flatMap { change in
        lines.compactMap { line -> Scenario? in
          let logarithms = results.logarithms(line, change, base)
          guard !logarithms.isEmpty else { return nil }
          let benchmark = results.lines[line].benchmark
          return Scenario(
            change: change, line: line, series: RatioSeries(benchmark: benchmark, logarithms: logarithms))
        }
      }
      guard !scenarios.isEmpty else { return nil }
      (self.base, self.scenarios) = (base, scenarios)
      isExtra = results.cpus.map { results.arms[base].workers > $0 } ?? false
      let (withNumbers, measured) = (Set(scenarios.map(\.change)), Set(scenarios.map(\.line)))
      self.lines = lines.filter(measured.contains)
      var names: [String] = []
      for line in self.lines where !names.contains(results.lines[line].family) {
        names.append(results.lines[line].family)
      }
      self.names = names
      let columns = (names.count > 1 ? [nil] : []) + names.map(Optional.some)
      self.columns = columns
      // The changes of several decisions come last.
      let ordered = changes.filter(withNumbers.contains)
      let decision = { (change: Int) in results.subjects[results.arms[change].subject].variant!.decision }
      var decisions: [String] = []
      for change in ordered where !decision(change).isEmpty && !decisions.contains(decision(change)) {
        decisions.append(decision(change))
      }
      self.changes = (decisions + [""]).flatMap { name in ordered.filter { decision($0) == name } }
      families = self.changes.flatMap { change in
        columns.compactMap { family in
          let own = scenarios.filter {
            $0.change == change && (family == nil || results.lines[$0.line].family == family)
          }
          guard !own.isEmpty else { return nil }
          return Family(change: change, family: family, series: own.map(\.series).deciding)
        }
      }
    }

    func table(
      _ ofFamilies: Widening, _ ofScenarios: Widening, _ words: DecisionWords, _ results: MeasuredResults
    ) -> Table {
      let families = families.compactMap { own in
        Worth(own.series, ofFamilies, seed: MeasuredResults.seed).map { (own: own, worth: $0) }
      }
      let scenarios = scenarios.compactMap { own in
        Worth([own.series], ofScenarios, seed: MeasuredResults.seed).map { (own: own, worth: $0) }
      }
      func decision(_ change: Int) -> String { results.subjects[results.arms[change].subject].variant!.decision }
      var decisions: [String] = []
      for change in changes where decisions.last != decision(change) { decisions.append(decision(change)) }
      let counts = scenarios.map(\.worth.blocks)
      return Table(
        base: base, isExtra: isExtra, families: names, columns: columns, lines: lines,
        blocks: [counts.min() ?? 0, counts.max() ?? 0],
        changes: changes.map { change in
          let subject = results.subjects[results.arms[change].subject]
          let ofFamilies = families.filter { $0.own.change == change }
          return Change(
            arm: change, text: subject.variant!.text, decision: subject.variant!.decision, givesUp: subject.givesUp,
            meaning: subject.variant!.choices.map {
              words.meaning(of: $0[1], decision: $0[0], subject: subject.variant!.base)
            }
            .filter { !$0.isEmpty }.joined(separator: "; "),
            verdict: Self.verdict(ofFamilies.filter { $0.own.family != nil }.map(\.worth.verdict)),
            families: ofFamilies.map { Joined(FamilyName(family: $0.own.family), WorthFacts($0.worth)) },
            scenarios: scenarios.filter { $0.own.change == change }.map {
              Joined(LinePlace(line: $0.own.line), WorthFacts($0.worth))
            })
        },
        sizes: Sizes(
          families: Sizes.Group(
            decisions: decisions.compactMap { name in
              SizeFacts(families.filter { $0.own.family != nil && decision($0.own.change) == name }.map(\.worth))
                .map { Joined(DecisionName(decision: name), $0) }
            },
            families: names.compactMap { name in
              SizeFacts(families.filter { $0.own.family == name }.map(\.worth)).map {
                Joined(FamilyName(family: name), $0)
              }
            }, lines: nil),
          scenarios: Sizes.Group(
            decisions: decisions.compactMap { name in
              SizeFacts(scenarios.filter { decision($0.own.change) == name }.map(\.worth))
                .map { Joined(DecisionName(decision: name), $0) }
            }, families: nil,
            lines: lines.compactMap { line in
              SizeFacts(scenarios.filter { $0.own.line == line }.map(\.worth)).map { Joined(LinePlace(line: line), $0) }
            })))
    }

    private static func verdict(_ verdicts: [Verdict]) -> String {
      let sure = Set(verdicts).intersection([.less, .more])
      guard sure.count < 2 else { return "mixed" }
      return (sure.first ?? (Set(verdicts) == [.same] ? .same : .open)).judged
    }
  }

  /// Our numbers of the same kind as a published one. The intervals are widened for the number of all of them.
  private static func judge(
    _ claims: [PublishedClaim], _ tables: [Table], _ results: MeasuredResults
  ) throws -> [Joined<Claim, WorthFacts>] {
    typealias Found = (claim: Int, table: Int, change: Int, benchmark: String, series: [RatioSeries])
    var found: [Found] = []
    for (number, claim) in claims.enumerated() where !claim.changes.isEmpty {
      let pattern = try NamePattern.read(claim.changes, of: "\"changes\" of a claim")
      for (place, table) in tables.enumerated() where !table.isExtra {
        for change in table.changes where (try? pattern.wholeMatch(in: change.text)) != nil {
          for work in claim.work {
            let series = claim.series(work, change.arm, table.base, results)
            guard !series.isEmpty else { continue }
            found.append((number, place, change.arm, work.benchmark, series))
            break
          }
        }
      }
    }
    let widening = Widening(comparisons: found.count)
    return found.compactMap { own in
      guard let worth = Worth(own.series, widening, seed: MeasuredResults.seed) else { return nil }
      let found = worth.verdict.judged
      let verdict =
        found == claims[own.claim].expects.rawValue ? "agrees" : ["open", "same"].contains(found) ? found : "disagrees"
      return Joined(
        Claim(
          claim: own.claim, table: own.table, change: own.change, benchmark: own.benchmark, verdictOnClaim: verdict),
        WorthFacts(worth))
    }
  }
}
