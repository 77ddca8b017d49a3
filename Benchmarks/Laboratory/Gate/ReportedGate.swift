import Glibc
import HarnessGate
import HarnessMeasuring

/// One gate with its report: what is compared, against what, and under which names. `GateTiers` finds what moved.
package struct ReportedGate {
  /// The names of base and head in the report.
  package struct Names {
    let base: String?
    let head: String

    package init(base: String?, head: String) { (self.base, self.head) = (base, head) }
  }

  private let cells: [GatedCell]
  private let head: GateArm
  private let resources: GateTiers.Resources
  private let seed: UInt64
  /// The program that the head is compared with; nil: the head is held against the record alone.
  package var base: GateArm?
  package var names: Names
  /// What the base offers to the gate and the head does not, and whether that fails the gate.
  package var missing: [GateSuite.Missing] = []
  package var failsOnMissing = false
  /// Additions to the environment of processes, for the self-test.
  package var inject: (GateArm, MeasureRequest) -> [String: String] = { _, _ in [:] }

  package init(_ cells: [GatedCell], head: GateArm, _ resources: GateTiers.Resources, seed: UInt64) {
    (self.cells, self.head, self.resources, self.seed) = (cells, head, resources, seed)
    names = Names(base: nil, head: head.name)
  }

  /// Runs all tiers and puts the report together.
  package func report(_ progress: Progress) throws -> GateReport {
    let began = Clock.now()
    let load = SystemLoad.read()
    let callgrind = resources.tiers.contains(.steady) && cells.contains(where: \.countsInstructions) ? Callgrind() : nil
    let runner = Self.runner(base: base ?? head, head: head, seed: seed, progress, inject)
    var run = GateTiers(cells, resources, runner: runner, hasBase: base != nil, instructions: callgrind.map { $0.run })
    let outcome = Result { try run.run() }
    progress.clear()
    try GateInvocation.stopIfInterrupted()
    let findings = try outcome.get() + (failsOnMissing ? missing.map(\.finding) : [])
    var notes = (failsOnMissing ? [] : missing.map(\.text)) + run.notes
    if let difference = resources.thresholds.difference(cells), resources.tiers != [.deterministic] {
      notes.append("the thresholds were found \(difference): calibrate on the kind of machine that the gate runs on")
    }
    return GateReport(
      base: names.base, head: names.head,
      provenance: .here(commit: GateInvocation.commit(), command: CommandLine.arguments),
      seconds: Double(Clock.now() - began) / 1e9, stealShare: SystemLoad.read().stealShare(since: load),
      findings: findings, notes: notes)
  }

  /// A runner whose blocks are processes of this machine.
  static func runner(
    base: GateArm, head: GateArm, seed: UInt64, _ progress: Progress,
    _ inject: @escaping (GateArm, MeasureRequest) -> [String: String] = { _, _ in [:] }
  ) -> GateRunner {
    var began: UInt64 = 0
    let effects = GateEffects(
      launch: { arm, request, environment, timeout in
        let additions = [arm.environment, environment, inject(arm, request)]
        return ProcessRunner.measure(
          request, program: arm.program, environment: additions.reduce([:]) { $0.merging($1) { $1 } }, timeout: timeout)
      },
      watchSteal: {
        let start = SystemLoad.read()
        return { SystemLoad.read().stealShare(since: start) }
      },
      showProgress: { done, total, what in
        let now = Clock.now()
        if done == 0 { began = now }
        // Before the first block has ended, a block is taken to last one second.
        let each = done > 0 ? Double(now - began) / 1e9 / Double(done) : 1
        progress.show(done: done, total: total, what: what, secondsLeft: each * Double(total - done))
      }, isInterrupted: { Interrupt.isRequested }, say: progress.say)
    return GateRunner(
      base: base, head: head, effort: GateEffort(), seed: seed, spin: Spin.calibrated(), effects: effects)
  }
}
