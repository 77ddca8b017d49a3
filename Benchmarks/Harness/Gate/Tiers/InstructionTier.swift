import HarnessMeasuring

/// The part of tier 1 that counts: the instructions of one measuring process of base and head.
package struct InstructionTier {
  /// Runs one measuring process; nil when the program cannot be counted.
  package typealias Counter = (GateArm, MeasureRequest) -> ProcessOutcome?

  private let cells: [GatedCell]
  private let resources: GateTiers.Resources
  /// Nil when instructions cannot be counted on this machine.
  private let counter: Counter?

  init(_ cells: [GatedCell], _ resources: GateTiers.Resources, _ counter: Counter?) {
    (self.cells, self.resources, self.counter) = (cells, resources, counter)
  }

  func run(_ runner: GateRunner, _ found: inout GateFindings) {
    let single = cells.filter(\.countsInstructions)
    guard !single.isEmpty else { return }
    guard let counter else {
      found.note("instructions are not counted; to have them: apt-get install valgrind binutils")
      return
    }
    for gated in single {
      let metric = GatedMetric(.instructionsPerOp, .steady)
      let count = InstructionCount(gated.cell, seed: runner.seed, spin: runner.spin, counter)
      let threshold =
        resources.threshold(gated.cell, metric) ?? metric.leastThreshold
      let tolerance = GateScale(metric.metric).tolerance(threshold)
      switch count.compare(base: runner.base, head: runner.head, tolerance: tolerance) {
      case nil:
        found.note("the instructions of \(gated.cell.scenario.name) are not counted: strip cannot read the program")
      // The blocks report a new benchmark too, and one report is enough.
      case .failure(let failure) where failure.isNew: continue
      // What valgrind can run of neither says nothing about the change. A program that fails without valgrind, too, is
      // found by the other tiers.
      case .failure(let failure) where failure.isBase && count.fails(runner.head):
        found.note(
          "the instructions of \(gated.cell.scenario) are not counted, of the base nor of the head: \(failure.reason)")
      case .failure(let failure): found.noteSelfCheck(gated.cell, failure)
      case .success(let triple):
        found.add(InstructionCount.finding(gated.cell, metric, triple, threshold: threshold))
      }
    }
  }
}
