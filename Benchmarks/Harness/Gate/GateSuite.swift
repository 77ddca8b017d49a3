/// What a program offers to the gate: its gated benchmarks, and how it was built. `PROGRAM measure suite` prints it.
package struct GateSuite: Hashable, Sendable {
  /// "release" or "debug": what a program allocates depends on it.
  package let build: String
  package let cells: [GatedCell]

  package init(build: String, cells: [GatedCell]) {
    self.build = build
    self.cells = cells
  }

  /// The request that asks for it, in the place of a measurement.
  package static let request = "suite"

  /// How this program was built.
  package static var ownBuild: String { Environment.isOptimised ? "release" : "debug" }

  package var lines: [String] {
    ["suite\t1\t\(build)"]
      + cells.map { gated in
        let metrics = gated.metrics.map { "\($0.metric.name) \($0.metric.unit) \($0.tier.rawValue)" }
        let abilities =
          (gated.countsAllocations ? ["allocations"] : []) + (gated.countsInstructions ? ["instructions"] : [])
        return [
          "gated", gated.cell.scenario.name.family, gated.cell.scenario.name.benchmark,
          "\(gated.cell.scenario.parameters)", gated.cell.arm.subject, "\(gated.cell.arm.workers)",
          metrics.joined(separator: ","), abilities.joined(separator: ","),
        ].joined(separator: "\t")
      } + ["end"]
  }

  /// Nil for anything that `lines` does not write.
  package init?(_ lines: [String]) {
    guard lines.last == "end", let first = lines.first?.split(separator: "\t").map(String.init), first.count == 3,
      first[0] == "suite", first[1] == "1"
    else { return nil }
    build = first[2]
    var cells: [GatedCell] = []
    for line in lines.dropFirst().dropLast() {
      guard let cell = GatedCell(suiteLine: line) else { return nil }
      cells.append(cell)
    }
    self.cells = cells
  }
}

extension GatedCell {
  fileprivate init?(suiteLine line: String) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 8, fields[0] == "gated", let parameters = Parameters(fields[3]),
      let workers = Int(fields[5]), workers > 0
    else { return nil }
    var metrics: [GatedMetric] = []
    for text in fields[6].split(separator: ",") {
      let words = text.split(separator: " ").map(String.init)
      guard words.count == 3, let tier = Int(words[2]).flatMap(GatedMetric.Tier.init) else { return nil }
      metrics.append(GatedMetric(Metric(words[0], unit: words[1]), tier))
    }
    let abilities = fields[7].split(separator: ",")
    self.init(
      CellKey(
        Scenario(BenchmarkName(fields[1], fields[2]), parameters), Arm(subject: fields[4], workers: workers)),
      metrics, countsAllocations: abilities.contains("allocations"),
      countsInstructions: abilities.contains("instructions"))
  }
}

extension GateSuite {
  /// The gated benchmarks of opbench: each path through the library once, at the width of this machine for wall-clock
  /// time, and the plainest of them at one worker for what hardly varies.
  package static func standard(subject: String, workers: Int) -> [GatedCell] {
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
    // One thread adds and the same one runs; one adds a batch and one runs it.
    let counted: Set<String> = ["local-add", "chain"]
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
    // What is cancelled must not begin.
    let late = GatedCell(
      CellKey(
        Scenario(
          BenchmarkName("cancellation", "late-starts"), ["ops": "256", "work_ns": "1000", "links": "chain"]),
        Arm(subject: subject, workers: workers)), [GatedMetric(.lateStarts, .deterministic)])
    return merged(wide + narrow) + [late]
  }

  /// On a machine with one CPU the wide cells are the narrow ones.
  private static func merged(_ cells: [GatedCell]) -> [GatedCell] {
    var order: [CellKey] = []
    var found: [CellKey: GatedCell] = [:]
    for cell in cells {
      guard let earlier = found[cell.cell] else {
        order.append(cell.cell)
        found[cell.cell] = cell
        continue
      }
      found[cell.cell] = GatedCell(
        cell.cell, earlier.metrics + cell.metrics,
        countsAllocations: earlier.countsAllocations || cell.countsAllocations,
        countsInstructions: earlier.countsInstructions || cell.countsInstructions)
    }
    return order.compactMap { found[$0] }
  }
}
