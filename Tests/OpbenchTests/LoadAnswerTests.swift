import HarnessComparing
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessWords
import LaboratorySupport
import Testing
import Workloads

@testable import opbench

/// What `opbench load` says of rows that are made by hand.
struct LoadAnswerTests {
  /// - Parameters:
  ///   - late: by subject and rate, the percentage of late requests in each block.
  ///   - p99: by subject, in milliseconds, in each block.
  private func lines(_ late: [String: [Double: [Double]]], p99: [String: [Double]]) throws -> [String] {
    let folder = TemporaryFolder()
    let load = try LoadDescription.read(path: folder.write("rate = 300\nservice = fixed 1ms\n", to: "mine.load"))
    // 15 % of two CPUs.
    #expect(load.factors(cpus: 2) == [0.5, 1, 1.5, 2, 3])
    let arms = late.keys.sorted().map { Arm(subject: $0, workers: 2) }
    var scenarios: [PlannedScenario] = []
    var rows: [Row] = []
    for parameters in DescribedLoad(load).parameterSets() {
      let scenario = Scenario(DescribedLoad.name, parameters)
      scenarios.append(
        PlannedScenario(
          scenario: scenario, arms: arms, incapable: [], repeats: .samples(1, seconds: 1),
          headlines: [DescribedLoad.p99], countsAllocations: false, notes: []))
      for arm in arms {
        func add(_ metric: Metric, _ values: [Double]) {
          for (block, value) in values.enumerated() {
            rows.append(
              Row(
                runID: "r", block: block + 1, process: 1, valueIndex: 1, cell: CellKey(scenario, arm),
                reading: Reading(metric, value, count: 1)))
          }
        }
        let factor = parameters.number("times")!
        let own = late[arm.subject]![factor] ?? []
        add(DescribedLoad.late, own)
        add(DescribedLoad.idealLate, own.map { _ in factor > 2 ? 1 : 0 })
        if factor == 1 { add(DescribedLoad.p99, p99[arm.subject]!.map { $0 * 1e6 }) }
      }
    }
    let plan = Plan(scenarios: scenarios, effort: .full, seed: 1)
    return LoadAnswer(load, ResultTable(rows), plan, cpus: 2).text(width: 500).split(separator: "\n").map(String.init)
  }

  private static let never = [0.0, 0, 0, 0, 0, 0]
  private static let always = [1.0, 1, 1, 1, 1, 1]
  private static let sometimes = [0, 1, 0, 0, 0.0, 0]

  private func breaks(_ lines: [String], _ subject: String) -> String? {
    lines.first { $0.hasPrefix("\(subject) ") }.map {
      $0.split(separator: "  ").dropFirst(4).map { $0.drop { $0 == " " } }.joined(separator: "|")
    }
  }

  @Test func whereTailsBreak() throws {
    let all = [0.5, 1, 1.5, 2, 3]
    func upTo(_ last: Double, then: [Double]) -> [Double: [Double]] {
      Dictionary(uniqueKeysWithValues: all.map { ($0, $0 <= last ? Self.never : then) })
    }
    var unsure = upTo(1, then: Self.always)
    unsure[1.5] = Self.sometimes
    let flat = [5.0, 5.1, 4.9, 5.05, 4.95, 5]
    let lines = try lines(
      [
        "a": upTo(1.5, then: Self.always), "b": upTo(3, then: []), "c": upTo(0, then: Self.always), "d": unsure,
        "e": Dictionary(uniqueKeysWithValues: all.map { ($0, Self.sometimes) }), "f": [:],
      ], p99: ["a": flat, "b": flat.map { $0 + 1 }, "c": flat, "d": flat, "e": flat, "f": []])
    #expect(breaks(lines, "a") == "between x1.5 and x2|between x2 and x3", "\(lines)")
    #expect(breaks(lines, "b")?.hasPrefix("above x3") == true, "\(lines)")
    #expect(breaks(lines, "c")?.hasPrefix("below x0.5") == true, "\(lines)")
    #expect(breaks(lines, "d")?.hasPrefix("between x1 and x2") == true, "\(lines)")
    #expect(breaks(lines, "e")?.hasPrefix("not sure") == true, "\(lines)")
    #expect(breaks(lines, "f")?.hasPrefix("-") == true, "\(lines)")
    // What carries most goes first, although its p99 is longer.
    #expect(lines.contains("take: b with 2 workers"), "\(lines)")
    #expect(!lines.contains { $0.hasPrefix("not sure:") })
  }

  /// Of those that carry as much, the shortest p99 goes first. What is not surely another is named, with its ratio.
  @Test func whatIsNotSure() throws {
    let holds = Dictionary(uniqueKeysWithValues: [0.5, 1, 1.5, 2, 3].map { ($0, Self.never) })
    let lines = try lines(
      ["a": holds, "b": holds, "c": holds],
      p99: ["a": [5, 6, 5, 6, 5, 6, 5], "b": [4, 4, 4, 4, 4, 4, 4], "c": [3.9, 4.3, 3.9, 4.3, 4.2, 4.1, 4.2]])
    #expect(lines.contains("take: b with 2 workers"), "\(lines)")
    let other = try #require(lines.first { $0.hasPrefix("not sure:") })
    #expect(other.contains("c with 2 workers x1.0") && !other.contains("a with"), "\(other)")
  }

  @Test func nothingCarriesIt() throws {
    let fails = Dictionary(uniqueKeysWithValues: [0.5, 1, 1.5, 2, 3].map { ($0, Self.always) })
    let lines = try lines(["a": fails], p99: ["a": [5, 6, 5, 6, 5, 6]])
    #expect(lines.contains { $0.hasPrefix("nothing that was measured surely carries this load") }, "\(lines)")
  }
}
