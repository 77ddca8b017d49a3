@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessWords

/// Processes that only exist here: each arm has its times, allocations and failures.
final class FakeGate {
  static let base = GateArm("base", program: "old")
  static let head = GateArm("head", program: "new")
  static let cell = CellKey(
    Scenario(BenchmarkName("overhead", "external-add"), ["ops": "10"]), Arm(subject: "stealing", workers: 1))
  static let gated = GatedCell(
    cell, [GatedMetric(.nsPerOp, .wallClock), GatedMetric(.voluntarySwitchesPerOp, .steady)], countsAllocations: true)

  /// Nanoseconds of a process, by its arm and how many ran before it.
  var time: (GateArm, Int) -> Double = { _, _ in 100 }
  var switches: (GateArm) -> Double = { _ in 0.001 }
  var allocations: (GateArm) -> Double = { _ in 1 }
  /// In a process that uses no memory again.
  var freshAllocations: (GateArm) -> Double = { _ in 3 }
  var retained = 0.0
  var retainedOperations = 90_000
  var lateStarts = 0.0
  var failure: (GateArm, MeasureRequest) -> ProcessOutcome? = { _, _ in nil }
  /// How long the gate stands still during a process, in nanoseconds, by how many ran before it.
  var stoodStill: (Int) -> UInt64 = { _ in 0 }
  /// The share of CPU time stolen in each stretch that is watched, then none.
  var stolen: [Double] = []
  var launched: [(arm: String, request: MeasureRequest)] = []
  /// The request that is being answered.
  var asked: MeasureRequest?
  /// How long the processes were given, and what each takes, in seconds.
  var timeouts: [Double] = []
  var seconds = 0.001
  /// What was said of the progress: how much is done, of how much.
  var progress: [(done: Int, total: Int)] = []
  /// After how many processes the user interrupts the gate.
  var interruptedAfter = Int.max
  /// The lines that were said besides.
  var said: [String] = []

  func runner(seed: UInt64 = 1) -> GateRunner {
    GateRunner(
      base: Self.base, head: Self.head, effort: GateEffort(), seed: seed, spin: Spin(roundsPerMicrosecond: 1),
      effects: GateEffects(
        launch: { arm, request, environment, timeout in
          if environment["OPERATIONS_REUSE"] == "off" {
            return FakeEffects.outcome(.exited(0), Self.counts(self.freshAllocations(arm)) + [.end])
          }
          self.timeouts.append(timeout)
          let stoodStill = self.stoodStill(self.launched.count)
          let answer = self.answer(arm, request)
          return ProcessOutcome(
            ending: answer.ending, lines: answer.lines, lastWords: answer.lastWords,
            nanoseconds: UInt64(self.seconds * 1e9), stoodStill: stoodStill)
        },
        watchSteal: { { self.stolen.isEmpty ? 0 : self.stolen.removeFirst() } },
        showProgress: { done, total, _ in self.progress.append((done, total)) },
        isInterrupted: { self.launched.count >= self.interruptedAfter },
        now: { UInt64(Double(self.launched.count) * self.seconds * 1e9) }, say: { self.said.append($0) }))
  }

  private static func counts(_ allocations: Double) -> [ResultLine] {
    [
      .reading(valueIndex: 1, Reading(.allocationsPerOp, allocations, count: 10)),
      .reading(valueIndex: 1, Reading(.bytesPerOp, 32 * allocations, count: 10)),
    ]
  }

  private func answer(_ arm: GateArm, _ request: MeasureRequest) -> ProcessOutcome {
    asked = request
    defer { launched.append((arm.name, request)) }
    if let failure = failure(arm, request) { return failure }
    switch request.mode {
    case .calibrate: return FakeEffects.outcome(.exited(0), [.repeats(7), .end])
    case .count:
      return FakeEffects.outcome(
        .exited(0),
        Self.counts(allocations(arm)) + [
          .reading(valueIndex: 0, Reading(.retainedBytesPerOp, retained, count: retainedOperations)), .end,
        ])
    case .time, .trace:
      return FakeEffects.outcome(
        .exited(0),
        [
          .reading(valueIndex: 1, Reading(.nsPerOp, time(arm, launched.count), count: 10)),
          .reading(valueIndex: 1, Reading(.voluntarySwitchesPerOp, switches(arm), count: 10)),
          .reading(valueIndex: 1, Reading(.lateStarts, lateStarts, count: 10)),
          .reading(valueIndex: 0, Reading(.threadsCreated, 1, count: 10)), .end,
        ])
    }
  }

  var resources: GateTiers.Resources = {
    var resources = GateTiers.Resources()
    resources.countingEnvironment = [:]
    var record = AllocationRecord()
    record.add(
      [
        AllocationRecord.Entry(
          cell,
          [AllocationCounts(allocations: 1, bytes: 32, threads: 1, fresh: .init(allocations: 3, bytes: 96))])
      ], build: "release",
      from: GateFilesTests.provenance)
    resources.record = record
    return resources
  }()

  func run(_ cells: [GatedCell] = [gated], hasBase: Bool = true) throws -> (findings: [GateFinding], notes: [String]) {
    var run = GateTiers(cells, resources, runner: runner(), hasBase: hasBase)
    return (try run.run(), run.notes)
  }

  func verdict(of metric: Metric) throws -> GateVerdict? {
    try run().findings.first { $0.metric == metric.name }?.verdict
  }
}
