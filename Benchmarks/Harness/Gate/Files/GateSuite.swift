import HarnessMeasuring
import HarnessWords

/// The gated benchmarks of a program, and how the program was built. `PROGRAM measure suite` prints the suite.
package struct GateSuite: Hashable, Sendable {
  /// "release" or "debug": the allocations of a program depend on the build.
  package let build: String
  package let cells: [GatedCell]

  package init(build: String, cells: [GatedCell]) {
    self.build = build
    self.cells = cells
  }

  /// The version of the requests and answers of a measuring process. The number rises when an older program would
  /// misunderstand a request. From 2 on, a program that has no such cell says so in a line of its own, and a request
  /// has a context. From 4 on, nothing comes between two values: times of a program before are of dearer first repeats.
  package static let protocolNumber = 4

  /// The protocol number in a program's answer; nil when the answer has none.
  package static func protocolNumber(of lines: [String]) -> Int? {
    guard let fields = lines.first?.split(separator: "\t"), fields.count == 3, fields[0] == "suite" else { return nil }
    return Int(fields[1])
  }

  /// The request for the suite, in the place of a measurement.
  package static let request = "suite"

  /// How this program was built.
  package static var ownBuild: String { Build.kind }

  package var lines: [String] {
    ["suite\t\(Self.protocolNumber)\t\(build)"]
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

  /// Nil for any text that `lines` does not write.
  package init?(_ lines: [String]) {
    guard lines.last == "end", let first = lines.first?.split(separator: "\t").map(String.init), first.count == 3,
      Self.protocolNumber(of: lines) == Self.protocolNumber
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

extension GateSuite {
  /// A benchmark of the base, or a measure of one, that the head does not offer to the gate.
  package struct Missing: Hashable, Sendable {
    package let cell: CellKey
    package let text: String

    package var finding: GateFinding {
      GateFinding(tier: .deterministic, cell, GateFinding.selfCheck, .regression, reason: text)
    }
  }

  /// What `base` has, in these tiers, and this suite has not. A benchmark that is renamed, or that has other
  /// parameters, is gone under its old name. Subjects do not count: the user may choose another one.
  package func missing(_ base: [GatedCell], tiers: Set<GatedMetric.Tier>) -> [Missing] {
    func place(_ cell: CellKey) -> CellKey { CellKey(cell.scenario, Arm(subject: "", workers: cell.arm.workers)) }
    let own = Dictionary(cells.map { (place($0.cell), $0) }) { first, _ in first }
    let scenarios = Set(cells.map(\.cell.scenario))
    var gone: Set<Scenario> = []
    var found: [Missing] = []
    for gated in base {
      let cell = gated.cell
      guard scenarios.contains(cell.scenario) else {
        if gone.insert(cell.scenario).inserted {
          found.append(Missing(cell: cell, text: "\(cell.scenario) is gone: the base has it, and the head has not"))
        }
        continue
      }
      let now = own[place(cell)]
      let lost = gated.measures(tiers).filter { now?.measures(tiers).contains($0) != true }
      guard !lost.isEmpty else { continue }
      found.append(
        Missing(
          cell: cell,
          text:
            "\(cell.scenario)@\(cell.arm.workers) has fewer measures: the base has also \(lost.joined(separator: ", "))"
        ))
    }
    return found
  }
}

extension GatedCell {
  /// The names of what is held in these tiers.
  fileprivate func measures(_ tiers: Set<GatedMetric.Tier>) -> [String] {
    metrics.filter { tiers.contains($0.tier) }.map(\.metric.name)
      + (countsAllocations && tiers.contains(.deterministic) ? ["allocations"] : [])
      + (countsInstructions && tiers.contains(.steady) ? ["instructions"] : [])
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
