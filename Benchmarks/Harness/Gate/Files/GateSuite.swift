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
  /// has a context.
  package static let protocolNumber = 3

  /// The protocol number in a program's answer; nil when the answer has none.
  package static func protocolNumber(of lines: [String]) -> Int? {
    guard let fields = lines.first?.split(separator: "\t"), fields.count == 3, fields[0] == "suite" else { return nil }
    return Int(fields[1])
  }

  /// The request for the suite, in the place of a measurement.
  package static let request = "suite"

  /// How this program was built.
  package static var ownBuild: String { Environment.isOptimised ? "release" : "debug" }

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
