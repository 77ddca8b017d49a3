import FoundationEssentials
import Glibc
import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessStatistics
@testable import HarnessWords

/// The rules by which numbers are written and paired, each with a fixture of examples. The report takes all numbers and
/// texts from the document of facts, so that a page says what the program says.
struct SharedRulesTests {
  static func cases<Case: Decodable>(_ name: String, of _: Case.Type) throws -> Case {
    let path = Checkout.path("Tests/HarnessTests/Fixtures/\(name).json")
    return try JSONDecoder().decode(Case.self, from: try #require(FileManager.default.contents(atPath: path)))
  }

  struct NumberCase: Decodable {
    let unit: String
    let value: Double
    let low: Double?
    let high: Double?
    let text: String

    var interval: ClosedRange<Double>? { low.flatMap { low in high.map { low...$0 } } }
  }

  /// Three significant digits once a number is rounded; a ratio has as many.
  @Test func numbersAsText() throws {
    let cases = try Self.cases("number-text", of: [NumberCase].self)
    #expect(cases.count >= 24)
    for one in cases {
      let text =
        one.unit == "x"
        ? NumberFormat.ratio(one.value, one.interval) : NumberFormat(one.unit, one.value).text(one.value, one.interval)
      #expect(text == one.text)
    }
  }

  struct METGCase: Decodable {
    let level: Double
    let points: [[Double]]
    let outcome: String
    let at: Double?
    let text: String
  }

  /// A curve that never reaches a level is told from one that never loses the level.
  @Test func whereACurveCrossesALevel() throws {
    for one in try Self.cases("metg-outcomes", of: [METGCase].self) {
      let outcome = try? METG.find(one.level, one.points.map { METG.Point(granularity: $0[0], efficiency: $0[1]) })
      #expect((outcome?.name ?? "impossible", METG.text(outcome)) == (one.outcome, one.text))
      if case .crosses(let granularity, _)? = outcome { #expect(abs(granularity - (one.at ?? 0)) < 0.01) }
    }
  }

  struct MeansCase: Decodable {
    struct Line: Decodable {
      let benchmark: String
      let factors: [String: Double]
      let zero: String?
    }

    let what: String
    let ours: [String]
    let lines: [Line]
    let together: [String: Double]
    let apart: [String: Double]
    let base: String
    let benchmarks: Int
  }

  /// Means stand together over the lines that all of ours have; what lacks some of these lines stands apart.
  @Test func meansThatMayStandTogether() throws {
    for one in try Self.cases("common-means", of: [MeansCase].self) {
      let names = Set(one.lines.flatMap(\.factors.keys)).sorted()
      let order = (one.ours + names.filter { !one.ours.contains($0) }).map { Arm(subject: $0, workers: 2) }
      let lines = one.lines.map { line in
        CommonMeans.Line(
          benchmark: line.benchmark,
          numbers: line.factors.merging(["foundation": 1]) { $1 }.reduce(into: [:]) { numbers, entry in
            numbers[Arm(subject: entry.key, workers: 2)] = Dictionary(
              uniqueKeysWithValues: (1...6).map { block in
                (block, line.zero == entry.key && block == 3 ? 0 : entry.value * Double(block))
              })
          })
      }
      let means = CommonMeans(lines, arms: order, ours: Set(one.ours), reference: "foundation", seed: 1)
      func ratios(_ all: [CommonMeans.Mean]) -> [String: Double] {
        Dictionary(uniqueKeysWithValues: all.map { ($0.arm.subject, ($0.ratio * 1e9).rounded() / 1e9) })
      }
      #expect(ratios(means.together) == one.together, "\(one.what)")
      #expect(ratios(means.apart.compactMap(\.mean)) == one.apart, "\(one.what)")
      #expect(means.leader?.subject == one.base && means.together.allSatisfy { $0.benchmarks == one.benchmarks })
    }
  }

  struct PairingCase: Decodable {
    let what: String
    let numerators: [String: Double]
    let denominators: [String: Double]
    let quotients: [String: Double]
  }

  /// Where a number of a pair is not positive there is no ratio, not one of the other blocks.
  @Test func pairsOfBlocks() throws {
    for one in try Self.cases("pairing", of: [PairingCase].self) {
      let logarithms = Pairing.logarithms(of: one.numerators, over: one.denominators)
      #expect(logarithms.keys.sorted() == one.quotients.keys.sorted(), "\(one.what)")
      for (block, quotient) in one.quotients { #expect(abs((logarithms[block] ?? 0) - log(quotient)) < 1e-12) }
    }
  }

  /// The whole comparison is dropped from an ablation, as from every other table.
  @Test func aBlockWithoutARatioTakesTheLineOfAnAblation() {
    let plan = AblationTests.plan(nil, changes: 2, names: ["overhead/external-add"])
    let world = GoalTests.effects { _ in 0.01 }
    let answer = world.answer
    var isFirst = true
    world.answer = { request in
      guard request.subject == AblationTests.change(1).subject, isFirst, case .time = request.mode else {
        return answer(request)
      }
      isFirst = false
      return FakeEffects.outcome(.exited(0), [.reading(valueIndex: 1, Reading(.nsPerOp, 0, count: 1)), .end])
    }
    let rows = world.run(plan).rows
    let table = AblationTable(Summary(rows, plan: plan, reference: "pool"), arms: plan.arms, seed: 1)
    #expect(rows.contains { $0.reading.value == 0 } && table.changes == [AblationTests.change(2)])
  }
}
