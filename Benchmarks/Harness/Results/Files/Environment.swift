import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// What a number depends on beside the code, for `X.env.json`.
package struct Environment: Encodable, Sendable {
  let schema: Int
  package let runID: String
  let startedAt: String
  let host: String
  let commit: String?
  let dirty: Bool?
  let toolchain: String?
  let optimisation: String
  /// The allocator of the timed processes.
  let allocator: String
  let countingAllocator: String?
  let cpuModel: String?
  let cpusOnline: Int
  let cpusAllowed: Int
  let cpuQuota: Double?
  let kernel: String
  let governor: String
  let aslr: String
  let loadAverageAtStart: Double?
  let performanceEvents: PerfAvailability
  let seed: UInt64
  let effort: Effort
  let spin: Spin
  let arguments: [String]
  /// What the measuring processes were given beside their cells, such as files to replay.
  let context: String
  /// Every cell of the plan. A resumed run must have the same cells.
  let cells: [String]
  /// The part of the plan that this run is, and the plan; nil for a run of a whole plan.
  let shard: Shard?
  let plan: PlanRecord?
  /// The machines on which the run has run, this one last.
  package private(set) var machines: [MachineSitting]
  /// The part that is known only at the end of the run.
  package var outcome = RunOutcome() {
    didSet { machines[machines.count - 1].endedAt = MachineSitting.now }
  }
  /// Every subject that the program can measure, in the program's order, and the subject that the others are compared
  /// with.
  let subjects: [SubjectFacts]
  let reference: String
  /// The facts that the report needs of the metrics in the rows: the words and the better side of each metric, and the
  /// time that stands for each benchmark.
  private var metrics: [String: MetricFacts] = [:]
  private var primaryTimes: [String: String] = [:]
  /// The decisions of the subjects whose strategy was chosen, by subject.
  package var strategies: [String: [StrategyFacts]] = [:]
  /// The compiler and library of each peer that took part.
  package var peers: [String: String] = [:]

  /// Reads the facts of this machine. `source` is a file of the checkout that this program was built from.
  package init(
    runID: String, plan: Plan, spin: Spin, subjects: [SubjectFacts], reference: String, context: String = "",
    arguments: [String], jemalloc: String?, source: String, earlier: [MachineSitting] = []
  ) {
    schema = CSV.schema
    self.runID = runID
    let here = MachineSitting.here(spin)
    machines = earlier + [here]
    startedAt = here.startedAt
    host = here.host
    shard = plan.shard
    self.plan = plan.shard.map { _ in PlanRecord(plan) }
    let folder = source.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let revision = Revision.told ?? Revision(of: folder, countsNewFiles: true)
    (commit, dirty) = (revision?.commit, revision?.hasChanges)
    toolchain = Self.output("swift", ["--version"])
    optimisation = Build.isOptimised ? "release" : "debug"
    switch plan.allocator {
    case .system: allocator = "\(Allocator.system) (\(Self.libraryVersion))"
    case .jemalloc: allocator = "\(Allocator.jemalloc) (\(jemalloc ?? "not found"))"
    }
    countingAllocator = jemalloc
    cpuModel = CPUs.modelName
    cpusOnline = CPUs.online
    cpusAllowed = CPUs.affinity
    cpuQuota = CPUs.quota
    kernel = Self.kernelRelease
    governor = Self.frequencyGovernor
    aslr = SystemFile.read("/proc/sys/kernel/randomize_va_space") ?? "not visible"
    loadAverageAtStart = SystemLoad.average
    performanceEvents = PerfAvailability()
    seed = plan.seed
    effort = plan.effort
    self.spin = spin
    self.arguments = arguments
    self.context = context
    cells = RunRecord.cells(of: plan)
    self.subjects = subjects
    self.reference = reference
  }

  /// Records the facts of the metrics in these rows. `own` are the facts of the metrics that only the program knows.
  package mutating func describe(_ rows: [Row], own: [Metric: MetricFacts] = [:]) {
    let all = rows.metrics.values.reduce(into: Set()) { $0.formUnion($1) }
    metrics = Dictionary(all.map { ($0.name, own[$0] ?? $0.facts) }) { first, _ in first }
    primaryTimes = Dictionary(uniqueKeysWithValues: rows.primaryTimes.map { ("\($0)", $1.name) })
  }

  package func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }

  /// An identifier made from the time of day and this process: no two runs of a machine have the same.
  /// - Parameter host: the machine, of a run that stands beside runs of other machines.
  package static func newRunID(host: String? = nil) -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    var text = [CChar](repeating: 0, count: 32)
    let length = strftime(&text, text.count, "%Y%m%dT%H%M%SZ", &parts)
    return String(decoding: text[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) + "-\(getpid())"
      + (host.map { "-\($0)" } ?? "")
  }

  static var kernelRelease: String { SystemFile.read("/proc/sys/kernel/osrelease") ?? "not visible" }
  static var frequencyGovernor: String {
    SystemFile.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") ?? "not visible"
  }

  /// The version of the C library, such as "glibc 2.39".
  private static var libraryVersion: String {
    var text = [UInt8](repeating: 0, count: 64)
    let length = text.withUnsafeMutableBytes {
      confstr(Int32(_CS_GNU_LIBC_VERSION), $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    return length > 1
      ? String(decoding: text[..<min(length - 1, text.count)], as: UTF8.self) : "libc of unknown version"
  }

  /// The first line that a tool prints; nil when the tool is absent, fails or prints nothing.
  private static func output(_ tool: String, _ arguments: [String]) -> String? {
    let outcome = ProcessRunner.run(tool, arguments, timeout: 20)
    return outcome.ending == .exited(0) ? outcome.lines.first : nil
  }
}
