import HarnessStatistics
import HarnessWords

/// Which subject for which kind of work: the numbers that decide. A page makes sentences of them.
struct WorkFacts: Encodable {
  /// A kind of work, and the lines that judge it.
  enum Kind: String, Encodable, CaseIterable {
    case everything, overhead, dependencies, forkjoin, latency, cancellation, blocking, strategy
    case rankError = "rank-error"
    case idleCPU = "idle-cpu"
    case treePeak = "tree-peak"
    case cpuTime = "cpu-time"
    case allocations

    /// What the work is, and what judges it.
    var words: (topic: String, what: String) {
      switch self {
      case .everything: ("Everything measured", "time")
      case .overhead: ("Many small operations", "time")
      case .dependencies: ("Graphs of dependencies", "time")
      case .forkjoin: ("Fork and join", "time")
      case .latency: ("Starting soon", "median latency")
      case .cancellation: ("Cancelling", "time")
      case .blocking: ("Operations that block", "makespan")
      case .strategy: ("Where strategies differ", "time")
      case .rankError: ("Strict priority", "mean rank error")
      case .idleCPU: ("An idle queue", "CPU time")
      case .treePeak: ("Memory of a tree", "peak of pending operations")
      case .cpuTime: ("CPU time of small operations", "CPU time")
      case .allocations: ("Memory of small operations", "number of allocations")
      }
    }

    func lines(_ view: ResultView) -> [Int] {
      switch self {
      case .everything: view.primaryLines()
      case .overhead, .dependencies, .forkjoin, .latency, .cancellation, .blocking, .strategy:
        view.primaryLines(family: rawValue)
      case .rankError: measures(view, "rank_error_mean", "priority/rank-error")
      case .idleCPU: measures(view, "idle_cpu_percent", "idle/cpu")
      case .treePeak: measures(view, "peak_pending", "strategy/tree-peak")
      case .cpuTime: measures(view, "cpu_ns_per_op", "overhead/")
      case .allocations: measures(view, "allocations_per_op", "overhead/")
      }
    }

    private func measures(_ view: ResultView, _ metric: String, _ prefix: String) -> [Int] {
      view.lines.filter {
        let line = view.results.lines[$0]
        return line.metric.name == metric && line.benchmark.hasPrefix(prefix)
      }
    }
  }

  let key: Kind
  let lines: [Int]
  let isCounted: Bool
  let hasRatio: Bool
  let ours: [Int]
  let others: [Int]
  /// What the ratio that decides says; `same` where its interval holds 1, `open` where no intervals tell the numbers
  /// apart.
  private let verdict: Verdict
  let ranking: Ranking?
  let withoutRatio: WithoutRatio?

  /// One for each kind of work that the results have.
  static func all(_ view: ResultView) -> [WorkFacts] { Kind.allCases.compactMap { WorkFacts($0, view) } }

  private init?(_ key: Kind, _ view: ResultView) {
    let results = view.results
    let lines = key.lines(view)
    let arms = results.widest(lines.flatMap(view.cells))
    let ours = arms.filter(results.isOurs)
    guard !lines.isEmpty, !ours.isEmpty else { return nil }
    (self.key, self.lines, self.ours) = (key, lines, ours)
    others = arms.filter { !results.isOurs($0) }
    isCounted = lines.allSatisfy { results.lines[$0].metric.unit == "allocations" }
    // Zeros have no ratio, and without them a mean would hold of a subject only where it is worst.
    let judged = arms.filter(results.isChoice)
    let hasZero =
      judged.count > 1
      && lines.contains { line in
        judged.contains { arm in results.cell(line, arm)?.values.contains { $0 <= 0 } ?? false }
      }
    ranking = hasZero ? nil : Ranking(lines, ours: ours, others: others, results, what: key.words.what)
    hasRatio = ranking != nil
    if let ranking {
      withoutRatio = nil
      verdict = ranking.verdict
    } else {
      let best = hasZero ? ours : [Ranking.best(lines, ours, results)]
      let own = hasZero ? lines : lines.filter { results.cell($0, best[0]) != nil }.prefix(1).map(\.self)
      let least = WithoutRatio(own, ours: best, view)
      withoutRatio = least
      verdict = least.areApart ? .less : .open
    }
  }

  /// How sure the choice is. A count is made once for each cell.
  private var certainty: String {
    if isCounted { return "counted" }
    return switch verdict {
    case .less, .more: "sure"
    case .same: "same"
    case .open: "hint"
    }
  }

  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: Keys.self)
    try fields.encode(key, forKey: .key)
    try fields.encode(key.words.topic, forKey: .topic)
    try fields.encode(key.words.what, forKey: .what)
    try fields.encode(lines, forKey: .lines)
    try fields.encode(isCounted, forKey: .isCounted)
    try fields.encode(hasRatio, forKey: .hasRatio)
    try fields.encode(ours, forKey: .ours)
    try fields.encode(others, forKey: .others)
    try fields.encode(certainty, forKey: .certainty)
    try ranking?.encode(to: encoder)
    try fields.encodeIfPresent(withoutRatio, forKey: .withoutRatio)
  }

  private enum Keys: String, CodingKey {
    case key, topic, what, lines, isCounted, hasRatio, ours, others, certainty, withoutRatio
  }
}

extension WorkFacts {
  /// Ours by their geometric means.
  struct Ranking: Encodable {
    /// The one with the least geometric mean to the others of ours.
    let best: Int
    /// The rest of ours, from near to far.
    let rivals: [Int]
    /// The mean of the best over each other arm: the rivals first.
    let means: [Joined<Beside, MeanFacts>]
    /// The best, and those that cannot be told from it.
    let choice: [Int]
    /// The reference beside, and the arm whose ratio says most.
    let against: Int?
    let nearest: Int
    /// What is no choice here but surely ahead, the farthest ahead first.
    let ahead: [Int]
    fileprivate let verdict: Verdict

    struct Beside: Encodable {
      let arm: Int
      /// What the mean says of the best and this arm.
      let sentence: String
    }

    private enum CodingKeys: String, CodingKey { case best, rivals, means, choice, against, nearest, ahead }

    /// Nil where the best has no ratio to anything.
    init?(_ lines: [Int], ours: [Int], others: [Int], _ results: MeasuredResults, what: String) {
      let best = Self.best(lines, ours, results)
      let ranked = ours.filter { $0 != best }.compactMap { arm in
        GeometricMean.middle(results.series(lines, best, arm)).map { (ratio: $0, arm: arm) }
      }.sorted { ($0.ratio, $0.arm) > ($1.ratio, $1.arm) }
      rivals = ranked.map(\.arm)
      let beside = rivals + others
      var means: [(arm: Int, mean: MeanFacts)] = []
      for arm in beside {
        if let mean = results.mean(lines, best, arm) { means.append((arm, mean)) }
      }
      guard let first = means.first else { return nil }
      let byArm = Dictionary(uniqueKeysWithValues: means.map { ($0.arm, $0.mean) })
      self.best = best
      self.means = means.map { arm, mean in
        let (name, other) = (results.arms[best].subject, results.arms[arm].subject)
        return Joined(Beside(arm: arm, sentence: mean.ratio.words.sentence(name, against: other, of: what)), mean)
      }
      let ofRival = rivals.first.flatMap { byArm[$0]?.ratio.verdict }
      choice = [best] + (ofRival == .same ? rivals.filter { byArm[$0]?.ratio.verdict == .same } : [])
      against = others.first { byArm[$0] != nil && results.isReference($0) }
      nearest = rivals.first ?? first.arm
      let quicker = others.filter { arm in
        results.isChoice(arm) && byArm[arm]?.ratio.low.map { $0 > 1 } ?? false
      }
      ahead = quicker.enumerated().sorted {
        let (one, other) = (byArm[$0.element]!.ratio.value, byArm[$1.element]!.ratio.value)
        return one == other ? $0.offset < $1.offset : one > other
      }.map(\.element)
      verdict = ofRival ?? against.map { byArm[$0]!.ratio.verdict } ?? first.mean.ratio.verdict
    }

    /// Each pair is judged on what both can do.
    static func best(_ lines: [Int], _ ours: [Int], _ results: MeasuredResults) -> Int {
      let scores = ours.map { arm in
        ours.filter { $0 != arm }.compactMap { GeometricMean.middle(results.series(lines, arm, $0)) }.max() ?? 1
      }
      return ours[scores.indices.min { scores[$0] < scores[$1] }!]
    }
  }

  /// Numbers that have no ratio, such as a rank error of zero, or a run without anything beside.
  struct WithoutRatio: Encodable {
    /// Those that are judged, and those of them that have the least on most lines.
    let ours: [Int]
    let best: [Int]
    /// A line on which the first of the best has the least, and the main arms beside those with the least there.
    let line: Int
    let beside: [Int]
    /// How many lines were judged, and on how many the first of the best has the least.
    let lineCount: Int
    let aheadOn: Int
    /// Whether the intervals are apart on all lines.
    let areApart: Bool

    init(_ lines: [Int], ours: [Int], _ view: ResultView) {
      let results = view.results
      let lines = lines.filter { line in ours.contains { results.cell(line, $0) != nil } }
      let least = lines.map { Self.least($0, ours, results) }
      let counts = ours.map { arm in least.count { $0.contains(arm) } }
      let most = counts.max()!
      let best = zip(ours, counts).filter { $0.1 == most }.map(\.0)
      let place = least.firstIndex { $0.contains(best[0]) }!
      (self.ours, self.best, line, lineCount, aheadOn) = (ours, best, lines[place], lines.count, most)
      beside = view.mainArms(lines[place]).filter { !least[place].contains($0) }
      areApart = zip(lines, least).allSatisfy { line, own in own == best && Self.areApart(line, own, view) }
    }

    /// The arms that have the least number on a line.
    private static func least(_ line: Int, _ arms: [Int], _ results: MeasuredResults) -> [Int] {
      let medians = arms.compactMap { arm in
        results.cell(line, arm).map { (arm: arm, median: Statistics.median(Array($0.values))) }
      }
      let least = medians.map(\.median).min()
      return medians.filter { $0.median == least }.map(\.arm)
    }

    /// Whether the intervals of these end before those of everything else on the line begin.
    private static func areApart(_ line: Int, _ least: [Int], _ view: ResultView) -> Bool {
      func interval(_ arm: Int) -> ClosedRange<Double>? {
        view.results.estimate(line, arm).interval
      }
      let ends = least.map { interval($0)?.upperBound }
      let rest = view.mainArms(line).filter { !least.contains($0) }
      guard let end = ends.compactMap(\.self).max(), !ends.contains(where: { $0 == nil }), !rest.isEmpty else {
        return false
      }
      return rest.allSatisfy { interval($0).map { end < $0.lowerBound } ?? false }
    }
  }
}
