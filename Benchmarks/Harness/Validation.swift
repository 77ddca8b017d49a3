import Glibc

/// What `opbench validate` concludes from its rows, apart from how they were measured.
///
/// Every scenario is measured in many blocks with five arms: a control, the same once more, and with three delays.
/// Groups of ten blocks are comparisons of their own, as a run of ten blocks would make them.
public struct Validation: Sendable {
  /// An arm of the experiment: the name under which it is measured, and its delay as a share of an operation.
  public struct Level: Hashable, Sendable {
    public let name: String
    public let delay: Double
  }

  public static let control = Level(name: "control", delay: 0)
  public static let again = Level(name: "control-again", delay: 0)
  public static let delayed = [5, 10, 20].map { Level(name: "control-plus-\($0)", delay: Double($0) / 100) }
  public static let levels = [control, again] + delayed

  public static let blocksPerComparison = 10
  /// At most this share of comparisons of equals may be flagged different.
  public static let statedLevel = 0.05

  /// How often a level was told from the control.
  public struct Finding: Hashable, Sendable {
    public let level: Level
    public let comparisons: Int
    /// The interval of the comparison alone leaves out 1.
    public let flagged: Int
    /// So does the one widened for all comparisons of this level.
    public let flaggedWidened: Int
    /// The median over comparisons of the ratio to the control.
    public let ratio: Double
    /// The median over comparisons of half the interval's width, as a share.
    public let halfWidth: Double

    public var share: Double { comparisons > 0 ? Double(flagged) / Double(comparisons) : 0 }
  }

  public let findings: [Finding]

  public init(_ rows: [Row], excluding excluded: Set<ScenarioBlock> = []) {
    let primary = rows.filter {
      $0.reading.metric == .nsPerOp && !excluded.contains(ScenarioBlock($0.cell.scenario, block: $0.block))
    }
    let byScenario = Dictionary(grouping: primary) { $0.cell.scenario }
    findings = Self.levels.dropFirst().map { level in
      let comparisons = byScenario.sorted { "\($0.key)" < "\($1.key)" }.flatMap {
        Self.comparisons($0.value, level)
      }
      return Self.finding(level, comparisons)
    }
  }

  /// The log ratios to the control, a list per group of blocks. A group that lost blocks has fewer; one with fewer
  /// than six is none.
  private static func comparisons(_ rows: [Row], _ level: Level) -> [[Double]] {
    func numbers(_ name: String) -> [Int: Double] {
      Summary.processNumbers(rows.filter { $0.cell.arm.subject == name })
    }
    let ours = numbers(level.name)
    let control = numbers(Self.control.name)
    let logs = ours.sorted { $0.key < $1.key }.compactMap { block, value in
      control[block].flatMap { Statistics.logRatio(value, $0) }.map { (block, $0) }
    }
    return Dictionary(grouping: logs) { ($0.0 - 1) / blocksPerComparison }.sorted { $0.key < $1.key }
      .map { $0.value.map(\.1) }.filter { Statistics.medianRanks($0.count) != nil }
  }

  private static func finding(_ level: Level, _ comparisons: [[Double]]) -> Finding {
    let widening = Widening(comparisons: comparisons.count)
    func isFlagged(_ logs: [Double], _ confidence: Double) -> Bool {
      guard let interval = Statistics.estimate(logs, confidence: confidence).interval else { return false }
      return !interval.contains(0)
    }
    let estimates = comparisons.map { Statistics.estimate($0) }
    return Finding(
      level: level, comparisons: comparisons.count,
      flagged: comparisons.count { isFlagged($0, Widening.familyConfidence) },
      flaggedWidened: comparisons.count {
        isFlagged($0, widening.confidence(of: $0.count) ?? widening.confidence)
      },
      ratio: estimates.isEmpty ? .nan : exp(Statistics.median(estimates.map(\.median))),
      halfWidth: estimates.isEmpty
        ? .nan : Statistics.median(estimates.map { ($0.interval!.upperBound - $0.interval!.lowerBound) / 2 }))
  }

  /// Nothing is told from itself more often than stated.
  public var equalsPass: Bool {
    findings.allSatisfy { $0.level != Self.again || ($0.comparisons > 0 && $0.share <= Self.statedLevel) }
  }
}

/// What the harness itself costs in a timed region: a benchmark with no queue.
public struct HarnessCost: Sendable {
  public let scenario: Scenario
  public let nsPerOp: Double
  public let voluntarySwitchesPerOp: Double
  /// Nil where nothing can count them.
  public let allocationsPerOp: Double?

  public init(_ scenario: Scenario, nsPerOp: Double, voluntarySwitchesPerOp: Double, allocationsPerOp: Double?) {
    self.scenario = scenario
    self.nsPerOp = nsPerOp
    self.voluntarySwitchesPerOp = voluntarySwitchesPerOp
    self.allocationsPerOp = allocationsPerOp
  }

  /// No allocation and no lock per operation: an operation costs less than one uncontended lock would. What a value
  /// allocates for its own readings, after the clock has stopped, is thousandths per operation.
  public func passes(lockNanoseconds: Double) -> Bool {
    nsPerOp < lockNanoseconds && voluntarySwitchesPerOp < 0.001 && (allocationsPerOp ?? 0) < 0.01
  }

  /// What taking and releasing an uncontended lock takes on this machine, in nanoseconds.
  public static func lockNanoseconds() -> Double {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    defer { mutex.deallocate() }
    pthread_mutex_init(mutex, nil)
    defer { pthread_mutex_destroy(mutex) }
    let rounds = 100_000
    var best = UInt64.max
    for _ in 0..<20 {
      let start = Clock.now()
      for _ in 0..<rounds {
        pthread_mutex_lock(mutex)
        pthread_mutex_unlock(mutex)
      }
      best = min(best, Clock.now() - start)
    }
    return Double(best) / Double(rounds)
  }
}
