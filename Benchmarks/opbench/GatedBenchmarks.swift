import HarnessGate
import HarnessMeasuring
import HarnessWords

/// The benchmarks of opbench that the gate measures.
enum GatedBenchmarks {
  static let defaultSubject = "stealing"

  /// Each path through the library once. Wall-clock time is measured at the width of this machine. At one worker, the
  /// allocations of every path are counted, and the simplest paths also have their CPU time and switches measured.
  static func cells(subject: String, workers: Int) -> [GatedCell] {
    let nine: [(Scenario, Metric)] = [
      (Scenario(BenchmarkName("overhead", "external-add"), ["ops": "10000"]), .nsPerOp),
      (Scenario(BenchmarkName("overhead", "local-add"), ["ops": "10000"]), .nsPerOp),
      (Scenario(BenchmarkName("overhead", "with-priority"), ["ops": "10000"]), .nsPerOp),
      (Scenario(BenchmarkName("overhead", "limited"), ["ops": "10000", "max": "1"]), .nsPerOp),
      (Scenario(BenchmarkName("dependencies", "chain"), ["length": "1000"]), .nsPerOp),
      (Scenario(BenchmarkName("dependencies", "fan-out"), ["width": "1000"]), .nsPerOp),
      (Scenario(BenchmarkName("dependencies", "fan-in"), ["width": "1000"]), .nsPerOp),
      (
        Scenario(
          BenchmarkName("dependencies", "graph"),
          ["pattern": "stencil_1d", "width": "16", "steps": "32", "work_ns": "0", "imbalance": "0"]), .nsPerOp
      ),
      (
        Scenario(BenchmarkName("cancellation", "cancel-all-pending"), ["held": "dependency", "pending": "1000"]),
        .nsPerCancel
      ),
    ]
    let steady: Set<String> = ["external-add", "local-add", "limited", "chain"]
    // In this benchmark one thread adds and runs, and no other has work. Where a thread adds while a worker runs, the
    // instructions depend on which of the two is ahead: on a busy machine two counts of `chain`, of `fan-in` or of a
    // stencil differ by a tenth and more. The lowest of several is no better, because some counts are too low.
    let counted: Set<String> = ["local-add"]
    let wide = nine.map { scenario, metric in
      GatedCell(CellKey(scenario, Arm(subject: subject, workers: workers)), [GatedMetric(metric, .wallClock)])
    }
    let narrow = nine.map { scenario, _ in
      let isSteady = steady.contains(scenario.name.benchmark)
      return GatedCell(
        CellKey(scenario, Arm(subject: subject, workers: 1)),
        isSteady ? [GatedMetric(.cpuNsPerOp, .steady), GatedMetric(.voluntarySwitchesPerOp, .steady)] : [],
        countsAllocations: true, countsInstructions: counted.contains(scenario.name.benchmark))
    }
    // The body of a cancelled operation must not begin.
    let late = GatedCell(
      CellKey(
        Scenario(
          BenchmarkName("cancellation", "late-starts"), ["ops": "256", "work_ns": "1000", "links": "chain"]),
        Arm(subject: subject, workers: workers)), [GatedMetric(.lateStarts, .deterministic)])
    let alone = shapes.map { scenario in
      GatedCell(CellKey(scenario, Arm(subject: subject, workers: 1)), [], countsAllocations: true)
    }
    return merged(wide + narrow) + alone + [late]
  }

  /// Shapes whose allocations are counted. No times are taken of these shapes.
  private static let shapes: [Scenario] = [
    Scenario(BenchmarkName("overhead", "external-batch"), ["ops": "10000", "batch": "1000"]),
    Scenario(BenchmarkName("overhead", "with-completion"), ["ops": "10000"]),
    Scenario(BenchmarkName("dependencies", "diamond"), ["diamonds": "45", "width": "8"]),
    Scenario(BenchmarkName("dependencies", "tree"), ["leaves": "256"]),
    Scenario(BenchmarkName("dependencies", "random-dag"), ["tasks": "512", "layers": "16", "probability": "0.5"]),
    Scenario(
      BenchmarkName("dependencies", "graph"),
      ["pattern": "all_to_all", "width": "16", "steps": "32", "work_ns": "0", "imbalance": "0"]),
    Scenario(BenchmarkName("dependencies", "recorded"), ["shape": "chain", "run": "again"]),
    Scenario(BenchmarkName("dependencies", "recorded"), ["shape": "stencil_1d", "run": "again"]),
    Scenario(BenchmarkName("async", "operations"), ["ops": "1000"]),
    Scenario(BenchmarkName("async", "limit"), ["ops": "1000", "max": "4"]),
    Scenario(BenchmarkName("async", "cancel"), ["ops": "1000"]),
  ]

  /// Merges equal cells. On a machine with one CPU, the wide cells are the narrow cells.
  private static func merged(_ cells: [GatedCell]) -> [GatedCell] {
    var order: [CellKey] = []
    var gated: [CellKey: GatedCell] = [:]
    for cell in cells {
      guard let earlier = gated[cell.cell] else {
        order.append(cell.cell)
        gated[cell.cell] = cell
        continue
      }
      gated[cell.cell] = GatedCell(
        cell.cell, earlier.metrics + cell.metrics,
        countsAllocations: earlier.countsAllocations || cell.countsAllocations,
        countsInstructions: earlier.countsInstructions || cell.countsInstructions)
    }
    return order.compactMap { gated[$0] }
  }
}
