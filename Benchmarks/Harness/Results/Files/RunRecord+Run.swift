import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

// What a run puts into its record.

extension RunRecord {
  /// Reads the facts of this machine, for a run that begins or goes on here.
  /// - Parameters:
  ///   - source: a file of the checkout that this program was built from.
  ///   - earlier: the machines on which the run has run before.
  package init(
    runID: String, plan: Plan, spin: Spin, subjects: [SubjectFacts], reference: String, context: String = "",
    arguments: [String], jemalloc: String?, source: String, earlier: [MachineSitting] = []
  ) {
    self.init(runID: runID, seed: plan.seed, effort: plan.effort, cells: plan.scenarios.flatMap(\.cells))
    let here = MachineSitting.here(spin)
    machines = earlier + [here]
    startedAt = here.startedAt
    shard = plan.shard
    self.plan = plan.shard.map { _ in PlanRecord(plan) }
    describeBuild(source: source)
    toolchain = Self.output("swift", ["--version"])
    switch plan.allocator {
    case .system: allocator = "\(Allocator.system) (\(Self.libraryVersion))"
    case .jemalloc: allocator = "\(Allocator.jemalloc) (\(jemalloc ?? "not found"))"
    }
    countingAllocator = jemalloc
    aslr = SystemFile.read("/proc/sys/kernel/randomize_va_space") ?? "not visible"
    loadAverageAtStart = SystemLoad.average
    performanceEvents = PerfAvailability()
    (self.arguments, self.context, self.subjects, self.reference) = (arguments, context, subjects, reference)
  }

  /// Records how this program was built.
  /// - Parameter source: a file of the checkout that this program was built from.
  package mutating func describeBuild(source: String) {
    let revision = Revision.ofBuild(source: source)
    (commit, dirty, optimisation) = (revision?.commit, revision?.hasChanges, Build.kind)
  }

  /// Records what the run has come to by now.
  package mutating func update(_ outcome: RunOutcome) {
    self.outcome = outcome
    machines[machines.count - 1].endedAt = MachineSitting.now
  }

  /// Records the facts of the metrics in these rows.
  /// - Parameter ownMetrics: the facts of the metrics that only the program knows.
  package mutating func describe(_ rows: [Row], own ownMetrics: [Metric: MetricFacts] = [:]) {
    let all = rows.metrics.values.reduce(into: Set()) { $0.formUnion($1) }
    metrics = Dictionary(all.map { ($0.name, ownMetrics[$0] ?? $0.facts) }) { first, _ in first }
    primaryTimes = rows.primaryTimes
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
