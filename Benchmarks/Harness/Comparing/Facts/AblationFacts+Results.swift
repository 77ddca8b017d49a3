import HarnessResults
import HarnessStatistics
import HarnessWords

extension AblationFacts {
  /// What results say of changes; nil where they have none beside its default.
  /// - Parameter claims: what others published, to be judged by our numbers.
  init?(_ results: MeasuredResults, claims: [PublishedClaim]?) throws {
    let measured = Self.ratios(results).filter { !$0.changes.isEmpty }
    guard !measured.isEmpty else { return nil }
    let together = measured.confidenceOfFamilies(seed: MeasuredResults.seed)
    let ofLines = measured.ofLines()
    (cpus, margin) = (results.cpus, Worth.margin)
    families = Held(comparisons: measured.reduce(0) { $0 + $1.comparisonsOfFamilies }, confidence: together)
    scenarios = Held(comparisons: ofLines.comparisons, confidence: ofLines.confidence)
    let words = DecisionWords(results.sets.compactMap(\.record))
    decisions = words.all
    tables = zip(measured, ofLines.worths).map { ratios, scenarios in
      Self.table(AblationTable(ratios, confidence: together, seed: MeasuredResults.seed), scenarios, words, results)
    }
    self.claims = try claims.map { [tables] in try Self.judge($0, tables, results) }
  }

  /// The ratios to each default, the most workers first. Each number of workers stands for itself. What is an extra
  /// stands last.
  private static func ratios(_ results: MeasuredResults) -> [AblationRatios] {
    var changes: [Arm: [Arm]] = [:]
    for arm in results.arms {
      guard let base = results.subjects[arm.subject].variant?.base else { continue }
      changes[Arm(subject: base, workers: arm.workers), default: []].append(arm)
    }
    let places = results.subjects.places
    return results.arms.filter { changes[$0] != nil }.sorted { one, other in
      func key(_ arm: Arm) -> (Int, Int, Int) {
        (isExtra(arm, results) ? 1 : 0, places[arm.subject]!, -arm.workers)
      }
      return key(one) < key(other)
    }.map { AblationRatios(results.table, base: $0, changes: changes[$0]!) }
  }

  private static func isExtra(_ base: Arm, _ results: MeasuredResults) -> Bool {
    results.cpus.map { base.workers > $0 } ?? false
  }

  private static func table(
    _ ablation: AblationTable, _ scenarios: [(of: AblationRatios.OfLine, worth: Worth)], _ words: DecisionWords,
    _ results: MeasuredResults
  ) -> Table {
    let (ratios, cells) = (ablation.ratios, ablation.cells)
    func variant(_ change: Arm) -> MeasuredSubjects.Variant { results.subjects[change.subject].variant! }
    // The changes of several decisions come last.
    let decisions = ratios.changes.map { variant($0).decision }.reduce(into: [String]()) {
      if !$1.isEmpty, !$0.contains($1) { $0.append($1) }
    }
    let changes = (decisions + [""]).flatMap { name in ratios.changes.filter { variant($0).decision == name } }
    let families = changes.flatMap { change in cells.filter { $0.of.change == change } }
    let counts = scenarios.map(\.worth.blocks)
    func joined<Name: Encodable>(_ name: Name, _ worths: [Worth]) -> Joined<Name, SizeFacts>? {
      SizeFacts(worths).map { Joined(name, $0) }
    }
    return Table(
      base: results.number(of: ratios.base), isExtra: isExtra(ratios.base, results), families: ratios.families,
      columns: ratios.columns, lines: ratios.lines, blocks: [counts.min() ?? 0, counts.max() ?? 0],
      changes: changes.map { change in
        let (subject, own) = (results.subjects[change.subject], families.filter { $0.of.change == change })
        return Change(
          arm: results.number(of: change), text: subject.variant!.text, decision: subject.variant!.decision,
          givesUp: subject.givesUp,
          meaning: subject.variant!.choices.map {
            words.meaning(of: $0[1], decision: $0[0], subject: subject.variant!.base)
          }
          .filter { !$0.isEmpty }.joined(separator: "; "),
          verdict: verdict(own.filter { $0.of.family != nil }.map(\.worth.verdict), ablation.whole(change)),
          families: own.map { Joined(FamilyName(family: $0.of.family), WorthFacts($0.worth)) },
          scenarios: scenarios.filter { $0.of.change == change }.map {
            Joined(LinePlace(line: $0.of.line), WorthFacts($0.worth))
          })
      },
      sizes: Sizes(
        families: Sizes.Group(
          decisions: (decisions + [""]).compactMap { name in
            joined(
              DecisionName(decision: name),
              families.filter { $0.of.family != nil && variant($0.of.change).decision == name }.map(\.worth))
          },
          families: ratios.families.compactMap { name in
            joined(FamilyName(family: name), families.filter { $0.of.family == name }.map(\.worth))
          }, lines: nil),
        scenarios: Sizes.Group(
          decisions: (decisions + [""]).compactMap { name in
            joined(
              DecisionName(decision: name), scenarios.filter { variant($0.of.change).decision == name }.map(\.worth))
          }, families: nil,
          lines: ratios.lines.compactMap { line in
            joined(LinePlace(line: line), scenarios.filter { $0.of.line == line }.map(\.worth))
          })))
  }

  private static func verdict(_ verdicts: [Verdict], _ whole: Worth?) -> String {
    let sure = Set(verdicts).intersection([.less, .more])
    guard sure.count < 2 else { return "mixed" }
    if let sure = sure.first ?? (Set(verdicts) == [.same] ? .same : nil) { return sure.judged }
    return whole?.isNoBetter == true ? "no better" : Verdict.open.judged
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
    let confidence = Widening(comparisons: found.count).confidence
    return found.compactMap { own in
      guard let worth = TrimmedMean(own.series).map({ Worth($0, confidence: confidence) }) else { return nil }
      let found = worth.verdict.judged
      let verdict =
        found == claims[own.claim].expects.rawValue ? "agrees" : ["open", "same"].contains(found) ? found : "disagrees"
      return Joined(
        Claim(
          claim: own.claim, table: own.table, change: own.change, benchmark: own.benchmark, verdictOnClaim: verdict),
        WorthFacts(worth, of: claims[own.claim].what ?? "time"))
    }
  }
}
