import FoundationEssentials
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// What the numbers of a run depend on beside the code: the content of `X.env.json`. The type is what a run writes,
/// what
/// `--resume` goes on with, what `merge` puts together, and what `compare` and the report read. A simulation has the
/// same record.
///
/// A key that this program does not know is ignored, and a merged record does not have the key. A record of another
/// schema is refused.
package struct RunRecord: Codable, Hashable, Sendable {
  /// The one form that is written and read. The record has schemas of its own, because its form changes more often than
  /// that of the CSV.
  package static let currentSchema = 3

  package private(set) var schema = RunRecord.currentSchema
  package var runID: String
  package var startedAt: String?
  package var commit: String?
  package var dirty: Bool?
  package var toolchain: String?
  package var optimisation: String?
  /// The allocator of the timed processes; nil in a simulation.
  package var allocator: String?
  package var countingAllocator: String?
  package var aslr: String?
  package var loadAverageAtStart: Double?
  package var performanceEvents: PerfAvailability?
  package var seed: UInt64
  package var effort: Effort
  package var arguments: [String]?
  /// What the measuring processes were given beside their cells, such as files to replay; nil in a simulation.
  package var context: String?
  /// Every cell of the plan. A resumed run must have the same cells.
  package var cells: [CellKey]
  /// The part of the plan that the run is, and the plan; nil in a run of a whole plan.
  package var shard: Shard?
  package var plan: PlanRecord?
  /// The machines on which the run has run, in order. A few published results do not name theirs.
  package var machines: [MachineSitting] = []
  /// The part that is known only at the end of the run.
  package var outcome = RunOutcome()
  /// Every subject that the program can measure, in the program's order, and the subject that the others are compared
  /// with.
  package var subjects: [SubjectFacts] = []
  package var reference: String?
  /// The facts that the report needs of the metrics in the rows: the words and the better side of each metric, and the
  /// time that stands for each benchmark.
  package var metrics: [String: MetricFacts] = [:]
  package var primaryTimes: [String: String] = [:]
  /// The decisions of the subjects whose strategy was chosen, by subject.
  package var strategies: [String: [StrategyFacts]] = [:]
  /// The compiler and library of each peer that took part.
  package var peers: [String: String] = [:]
  /// The versions in words, such as "In other languages: go (go1.27.3); tbb, tbb-flow (oneTBB 2023.2.0, g++ 12.2.0).";
  /// nil without peers.
  package var peersSentence: String? {
    let names = Dictionary(grouping: peers.keys, by: { peers[$0]! })
    let words = names.map { version, names in "\(names.sorted().joined(separator: ", ")) (\(version))" }.sorted()
    return words.isEmpty ? nil : "In other languages: \(words.joined(separator: "; "))."
  }
  /// Which peers have other versions than published ones, such as "other versions than in the published results: go
  /// (go1.27.3, there go1.19.8)"; nil when none has.
  package func otherVersions(than published: [String: String]) -> String? {
    let words = peers.sorted { $0.key < $1.key }.compactMap { name, version in
      published[name].flatMap { $0 == version ? nil : "\(name) (\(version), there \($0))" }
    }
    return words.isEmpty ? nil : "other versions than in the published results: \(words.joined(separator: "; "))"
  }
  /// What a simulation depends on; nil in a run that was measured.
  package var simulation: SimulationConditions?
  /// The shards that `merge` has put together; nil in a record of a single run.
  package var shards: [MergedShard]?

  private enum CodingKeys: String, CodingKey {
    case schema
    // The snake-case strategies turn this name into run_id, and back.
    case runID = "runId"
    case startedAt, commit, dirty, toolchain, optimisation, allocator, countingAllocator, aslr, loadAverageAtStart
    case performanceEvents, seed, effort, arguments, context, cells, shard, plan, machines, outcome, subjects, reference
    case metrics, primaryTimes, strategies, peers, simulation, shards
  }

  package init(runID: String, seed: UInt64, effort: Effort, cells: [CellKey]) {
    (self.runID, self.seed, self.effort, self.cells) = (runID, seed, effort, cells)
  }

  /// What a merged record keeps of a shard: the facts in which shards may differ.
  package struct MergedShard: Codable, Hashable, Sendable {
    package let runID: String
    let file: String?
    package let shard: Shard?
    let startedAt: String?
    let arguments: [String]?
    let toolchain: String?
    let allocator: String?
    let countingAllocator: String?
    let aslr: String?
    let loadAverageAtStart: Double?
    let performanceEvents: PerfAvailability?
    package let machines: [MachineSitting]?
    let outcome: RunOutcome?

    private enum CodingKeys: String, CodingKey {
      // The snake-case strategies turn this name into run_id, and back.
      case runID = "runId"
      case file, shard, startedAt, arguments, toolchain, allocator, countingAllocator, aslr, loadAverageAtStart
      case performanceEvents, machines, outcome
    }

    init(_ record: RunRecord, file: String) {
      (runID, self.file, shard, startedAt) = (record.runID, file, record.shard, record.startedAt)
      (arguments, toolchain, allocator) = (record.arguments, record.toolchain, record.allocator)
      (countingAllocator, aslr) = (record.countingAllocator, record.aslr)
      (loadAverageAtStart, performanceEvents) = (record.loadAverageAtStart, record.performanceEvents)
      (machines, outcome) = (record.machines, record.outcome)
    }
  }

  /// The name of the allocator, without its version.
  package var allocatorName: String? { allocator.map { String($0.prefix { $0 != " " }) } }

  /// The rate of spinning work on the last machine.
  package var spin: Spin? { machines.last?.spin }
  /// The names of the machines, and what they are: each value once. Nil when none is known.
  package var host: String? { joined { $0.host.isEmpty ? nil : $0.host } }
  package var cpuModel: String? { joined(\.cpuModel) }
  package var kernel: String? { joined(\.kernel) }
  package var governor: String? { joined(\.governor) }
  /// The fewest CPUs of a machine.
  package var cpusOnline: Int? { machines.map(\.cpusOnline).min() }
  package var cpusAllowed: Int? { machines.map(\.cpusAllowed).min() }
  package var cpuQuota: Double? { machines.compactMap(\.cpuQuota).min() }

  private func joined(_ fact: (MachineSitting) -> String?) -> String? { machines.compactMap(fact).joinedOnce }
}

extension [String] {
  /// The values, each once, with semicolons; nil for none.
  var joinedOnce: String? {
    var values: [String] = []
    for value in self where !values.contains(value) { values.append(value) }
    return values.isEmpty ? nil : values.joined(separator: "; ")
  }
}
