import Glibc
import LaboratorySupport
import Subjects
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Workloads

/// Every benchmark passes its own check, and reports what `list` promises: on every subject that can run it at night,
/// and on one of each kind for a change.
@Suite(.ownThread) struct WorkloadTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let workload: any Workload
    let parameters: Parameters
    let subject: SubjectInfo

    var testDescription: String { "\(workload.name) \(parameters) on \(subject.name)" }
    /// The family of the benchmark, and the subject.
    var pair: String { "\(workload.name.family) on \(subject.name)" }
    /// Whether the benchmark begins when all threads that began after its own beginning are asleep.
    var waitsForSleep: Bool { workload is WakeIdle || workload is Burst && parameters["state"] == "idle" }
  }

  /// What the default run measures, and of the rest what another kind of subject is needed for. A benchmark that the
  /// default run leaves out is there with everything.
  static func sets(_ workload: any Workload) -> [Parameters] {
    let usual = workload.parameterSets()
    return usual
      + workload.extendedParameterSets().filter {
        usual.isEmpty && !isLong(workload, $0) || workload.needs($0) != workload.needs
      }
  }

  /// Whether the parameters make the benchmark wait longer, and change nothing else of what it does.
  private static func isLong(_ workload: any Workload, _ parameters: Parameters) -> Bool {
    workload is VisibleTasks && parameters["scenario"]?.hasSuffix("-large") == true
  }

  /// Sizes that take no time, for benchmarks that would otherwise be long.
  static func small(_ workload: any Workload, _ parameters: Parameters) -> Parameters {
    switch "\(workload.name)" {
    case "forkjoin/fib": parameters.merging(["n": "9"])
    case "forkjoin/skynet": parameters.merging(["leaves": "100"])
    case "forkjoin/nqueens": parameters.merging(["n": "5"])
    case "forkjoin/uts": parameters.merging(["depth": "4", "cutoff": "3"])
    case "forkjoin/perform": parameters.merging(["iterations": "100"])
    case "forkjoin/map": parameters.merging(["elements": "1000"])
    case "forkjoin/sort": parameters.merging(["elements": "1000"])
    case "overhead/external-add", "overhead/local-add", "overhead/contended-add": parameters.merging(["ops": "1000"])
    case "blocking/sleepers": ["bodies": "4", "sleep_ms": "2"]
    case "blocking/nested-wait": ["outer": "4", "depth": "2", "work_ns": "1000"]
    case "idle/cpu": ["ops": "2", "period_ms": "2"]
    case "strategy/tree-peak": ["levels": "8"]
    case "strategy/burst": parameters.merging(["ops": "16"])
    case "strategy/pipeline": parameters.merging(["items": "60"])
    case "strategy/urgent": ["backlog": "100", "work_ns": "5000", "urgent": "3", "interval_us": "20"]
    case "strategy/one-producer": parameters.merging(["ops": "200"])
    case "strategy/one-lock": parameters.merging(["ops": "400"])
    case "strategy/waiting-parents": ["children": "2", "depth": "2", "work_ns": "1000"]
    case "latency/capacity", "latency/slowdown": parameters.merging(["samples": "50", "mean_us": "20"])
    case "crowd/requests": parameters.merging(["phase_ms": "20"])
    case "dependencies/chain": parameters.merging(["length": "\(min(2_000, parameters.integer("length") ?? 0))"])
    case "dependencies/fan-in": parameters.merging(["width": "\(min(2_000, parameters.integer("width") ?? 0))"])
    default: parameters
    }
  }

  /// Foundation is left out where it is known to crash, and the sweeps have tests of their own: with the spinning of
  /// these tests no granularity is worth anything, and a million bodies take long. A group for each benchmark and its
  /// parameters.
  private static let groups: [[Case]] =
    (try? Catalogue(graphs: [], seed: 1).workloads)?.filter {
      !($0 is MinimumGranularity) && !($0 is ForkBreakEven)
    }.flatMap { workload in
      // What takes CPUs from the whole process is tested in processes: `CrowdCommandTests`.
      sets(workload).filter { !["quota", "affinity"].contains($0["beside"]) }.map { parameters in
        SubjectRegistry.inProcess.filter { workload.obstacle($0, parameters) == nil }
          .filter { $0.name != "foundation" || parameters["links"] != "chain" }
          .map { Case(workload: workload, parameters: small(workload, parameters), subject: $0) }
      }
    } ?? []
  static let chosen = isLong ? groups.flatMap { $0 } : few(groups)
  /// Whether every case is to run.
  private static let isLong = getenv("OPBENCH_LONG_TESTS") != nil

  /// The most capable protocol that a subject conforms to: no ability stands for `ClosureSubject`.
  private static let kinds: [Abilities] = [.operations, .cancellation, []]
  private static func kind(_ subject: SubjectInfo) -> Abilities? {
    kinds.first { subject.abilities.isSuperset(of: $0) }
  }

  /// Each benchmark, with each of its parameters, on one subject for each protocol that subjects conform to: its code
  /// differs with those. By turns, so that none of the subjects is left out. And each subject on one benchmark of each
  /// family.
  private static func few(_ groups: [[Case]]) -> [Case] {
    var cases: [Case] = []
    for group in groups {
      for kind in kinds {
        let ofKind = group.filter { self.kind($0.subject) == kind }
        if !ofKind.isEmpty { cases.append(ofKind[cases.count % ofKind.count]) }
      }
    }
    var pairs = Set(cases.map(\.pair))
    return cases + groups.flatMap { $0 }.filter { pairs.insert($0.pair).inserted }
  }

  /// One subject for each protocol; at night all.
  static func few(_ subjects: [SubjectInfo]) -> [SubjectInfo] {
    isLong ? subjects : kinds.compactMap { kind in subjects.first { self.kind($0) == kind } }
  }

  static func trial(_ workload: any Workload, _ parameters: Parameters, _ subject: String) throws -> Trial? {
    try workload.prepare(
      subject: subject,
      Setting(
        parameters: parameters, workers: 2, seed: 1, spin: Spin(roundsPerMicrosecond: 10), serviceTime: 20_000))
  }

  @Test(.serialized, arguments: chosen.filter { !$0.waitsForSleep })
  func checksItselfAndReportsItsMetrics(_ chosen: Case) throws {
    try Self.check(chosen)
  }

  static func check(_ chosen: Case) throws {
    let trial = try #require(try Self.trial(chosen.workload, chosen.parameters, chosen.subject.name))
    #expect(trial.operationsPerRepeat > 0)
    for _ in 1...2 {
      let value = try Self.value(of: trial, chosen)
      let readings = value.readings + SampleSeries.merged(value.samples).flatMap { $0.readings() }
      #expect(!readings.isEmpty)
      for reading in readings {
        #expect(chosen.workload.metrics.contains(reading.metric), "\(reading.metric.name) is not announced")
        #expect(reading.value.isFinite && reading.value >= 0 && reading.count > 0)
      }
    }
  }

  /// Once in many runs the check finds that a barrier of Foundation's was not alone. That is no fault of the benchmark,
  /// unless it comes twice in a row.
  static func value(of trial: Trial, _ chosen: Case) throws -> Value {
    do {
      return try trial.measure(2)
    } catch let failed as CheckFailed {
      guard chosen.subject.name == "foundation", "\(chosen.workload.name)" == "dependencies/barrier" else {
        throw failed
      }
      return try trial.measure(2)
    }
  }

  /// What it runs is checked, and every run is one of the graph; where the curve of a busy machine lies is not.
  @Test(.serialized, arguments: few(SubjectRegistry.inProcess.filter { MinimumGranularity().obstacle($0) == nil }))
  func granularitySweeps(_ subject: SubjectInfo) throws {
    try Self.sweep(subject)
  }

  static func sweep(_ subject: SubjectInfo) throws {
    let parameters: Parameters = ["pattern": "stencil_1d", "width": "4", "steps": "4", "imbalance": "1"]
    let workload = MinimumGranularity()
    let setting = Setting(parameters: parameters, workers: 2, seed: 1, spin: Spin.calibrated())
    let trial = try #require(try workload.prepare(subject: subject.name, setting))
    #expect(trial.operationsPerRepeat == 16)
    do {
      let readings = try trial.measure(1).readings
      #expect(readings.contains { $0.metric == .metg(50) })
      for reading in readings { #expect(workload.metrics.contains(reading.metric)) }
    } catch let failed as CheckFailed {
      #expect(failed.description.contains("the peak") || failed.description.contains("granularity"))
    }
  }

  @Test func theCatalogueHasNoTwins() throws {
    let names = try Catalogue(graphs: [], seed: 1).workloads.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(Set(SubjectRegistry.all.map(\.name)).count == SubjectRegistry.all.count)
  }

  /// Whatever a workload reports has words that are no identifier.
  @Test func everyMetricHasWords() throws {
    let all = try Catalogue(graphs: [], seed: 1).workloads.flatMap(\.metrics) + Metric.process + Metric.counting
    for metric in all { #expect(!metric.facts.words.contains("_") && !metric.facts.words.isEmpty, "\(metric.name)") }
    #expect(Set(all.map(\.facts.words)).count == Set(all.map(\.name)).count, "two metrics have the same words")
  }

  @Test func unknownSubjectsAndMissingCapabilities() throws {
    #expect(try Self.trial(ExternalAdd(), ["ops": "1"], "nobody") == nil)
    #expect(throws: CheckFailed.self) { try Self.trial(RankError(), ["ops": "1", "work_ns": "1"], "raw-dispatch") }
    #expect(throws: Complaint.self) { try Self.trial(ExternalAdd(), [:], "stealing") }
  }
}

/// The checks of the benchmarks find what they are there to find.
struct CheckTests {
  @Test func operationsThatDidNotRunOrRanTwice() throws {
    let flags = RunFlags(count: 3)
    for index in 0..<3 { flags.slot(index).mark() }
    try flags.check()
    flags.slot(0).mark()
    #expect(throws: CheckFailed.self) { try flags.check() }
  }

  @Test func oneThatRanTwiceDoesNotHideOneThatDidNot() throws {
    let flags = RunFlags(count: 4)
    for index in [0, 1, 1, 3] { flags.slot(index).mark() }
    #expect(flags.ran == 3)
    #expect(throws: CheckFailed.self) { try flags.check() }
  }

  @Test func somethingLeftInTheQueue() throws {
    try checkEmpty(0)
    #expect(throws: CheckFailed.self) { try checkEmpty(1) }
  }

  @Test func graphsRunOutOfOrderTwiceOrNotAtAll() throws {
    let graph = TaskGraph(inputs: [[], [0]], nanoseconds: [0, 0])
    func run(_ order: [Int]) throws {
      let data = GraphData(graph, spin: Spin(roundsPerMicrosecond: 1))
      data.begin()
      for task in order { data.execute(task) }
      try data.check()
    }
    try run([0, 1])
    for bad in [[1, 0], [0], [0, 1, 1], []] { #expect(throws: CheckFailed.self) { try run(bad) } }
  }

  @Test func aRunDoesNotTakeTheLastOnesResults() throws {
    let data = GraphData(TaskGraph(inputs: [[], [0]], nanoseconds: [0, 0]), spin: Spin(roundsPerMicrosecond: 1))
    data.begin()
    data.execute(0)
    data.execute(1)
    try data.check()
    data.begin()
    data.execute(1)
    data.execute(0)
    #expect(throws: CheckFailed.self) { try data.check() }
  }
}
