import LaboratorySupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessStatistics
@testable import HarnessWords

/// METG from curves whose answer is known.
struct METGTests {
  /// Tasks that cost `overhead` beside their work, on a machine that reaches its peak otherwise: the efficiency at
  /// granularity g is (g - overhead) / g.
  func curve(overhead: Double, works: [Double]) -> [METG.Point] {
    works.map { METG.Point(granularity: $0 + overhead, efficiency: $0 / ($0 + overhead)) }
  }

  let ladder = (0..<16).map { 64_000 / Double(1 << $0) }

  @Test func aSmoothCurve() throws {
    // Half is work where the granularity is twice the overhead; 95 % where it is twenty times it.
    let points = curve(overhead: 1_000, works: ladder)
    guard case .crosses(let half, let times) = try METG.find(0.5, points) else { throw CheckFailed("no crossing") }
    #expect(times == 1 && abs(half / 2_000 - 1) < 0.02)
    guard case .crosses(let most, 1) = try METG.find(0.95, points) else { throw CheckFailed("no crossing") }
    // Between two points of this ladder the curve bends away from the straight line.
    #expect(abs(most / 20_000 - 1) < 0.05)
    #expect(try METG.find(0.5, points.shuffled()) == METG.find(0.5, points))
  }

  /// A curve that never reaches a level is told from one that never loses the level.
  @Test func whereACurveCrossesALevel() throws {
    let cases: [(level: Double, points: [(Double, Double)], outcome: METG.Outcome?, text: String)] = [
      // Between two points a curve is linear in the logarithm, and a point on the level reaches the level.
      (0.5, [(10_000, 0.9), (100, 0.1)], .crosses(at: 1_000, times: 1), "1.00 µs"),
      (0.5, [(800, 0.5), (400, 0.2)], .crosses(at: 800, times: 1), "800 ns"),
      (0.5, [(64e3, 0.9), (32e3, 0.4), (16e3, 0.6), (8e3, 0.3)], .crosses(at: 36_758.35, times: 3), "36.8 µs"),
      (0.5, [(64_000, 0.431), (32_000, 0.2)], .neverReached(best: 0.431), "never: 43.1 % at best"),
      (0.95, [(9, 0.7)], .neverReached(best: 0.7), "never: 70.0 % at best"),
      (0.5, [(2_400, 0.99), (1_200, 0.8)], .neverLost(smallest: 1_200), "below 1.20 µs"),
      (0.5, [(2_400, 0.3), (1_200, 0.8)], .neverLost(smallest: 1_200), "below 1.20 µs"),
      (0.5, [(2_400, 1.6), (1_200, 0.4)], nil, "-"),
    ]
    for one in cases {
      let outcome = try? METG.find(one.level, one.points.map { METG.Point(granularity: $0.0, efficiency: $0.1) })
      #expect(METG.text(outcome) == one.text)
      if case (.crosses(let at, let times)?, .crosses(let wanted, let count)?) = (outcome, one.outcome) {
        #expect(abs(at - wanted) < 0.01 && times == count)
      } else {
        #expect(outcome == one.outcome)
      }
    }
    #expect(try METG.find(0.5, []) == .neverReached(best: 0))
  }

  @Test func ofSeveralCrossingsTheLargestFall() throws {
    let efficiencies = [0.9, 0.4, 0.6, 0.3, 0.7, 0.1]
    let points = efficiencies.enumerated().map {
      METG.Point(granularity: 64_000 / Double(1 << $0.offset), efficiency: $0.element)
    }
    guard case .crosses(let half, let times) = try METG.find(0.5, points) else { throw CheckFailed("no crossing") }
    #expect(times == 5 && 32_000..<64_000 ~= half)
    // Where the largest granularity is already below the level, the curve first has to rise.
    guard case .crosses(let late, 4) = try METG.find(0.5, Array(points.dropFirst())) else {
      throw CheckFailed("no crossing")
    }
    #expect(8_000..<16_000 ~= late)
  }

  @Test(arguments: [1.51, .infinity, .nan])
  func anEfficiencyThatCannotBe(wrong: Double) {
    let points = [METG.Point(granularity: 9, efficiency: wrong), METG.Point(granularity: 5, efficiency: 0.1)]
    #expect(throws: CheckFailed.self) { try METG.find(0.5, points) }
    #expect(throws: CheckFailed.self) { try METG.find(0.5, [METG.Point(granularity: 0, efficiency: 0.5)]) }
  }

  /// 100 tasks on 4 cores that each do 0.8 ns of nominal work in a nanosecond.
  let sweep = METG.Sweep(tasks: 100, cores: 4, load: 100, peak: 0.8)

  @Test func pointsFromMakespans() {
    // 100 tasks of 1,000 ns take 100,000 / (4 * 0.8) = 31,250 ns at best.
    let point = sweep.point(work: 1_000, makespan: 62_500)
    #expect(abs(point.efficiency - 0.5) < 1e-12)
    #expect(point.granularity == 2_500)
  }

  @Test func readingsOfASweep() throws {
    let makespans = ladder.map { (work: $0, makespan: ($0 / 0.8 + 1_000) * 25) }
    let readings = try METG.readings(makespans, sweep)
    #expect(readings.count { $0.metric == .efficiency } == ladder.count)
    let half = try #require(readings.first { $0.metric == .metg(50) })
    #expect(abs(half.value / 2_000 - 1) < 0.02 && half.metric.name == "metg50_ns" && half.metric.unit == "ns")
    #expect(readings.filter { $0.metric == .crossings }.map(\.value) == [1, 1])
    // To a thousandth of a nanosecond, so that one step has one name wherever a sweep began.
    let steps = ladder.map { ($0 * 1_000).rounded() / 1_000 }
    #expect(Set(readings.filter { $0.metric == .efficiency }.compactMap { $0.detail.number("work_ns") }) == Set(steps))
    // Another program gives its makespans as readings.
    let foreign = makespans.map { Reading(.makespan, $0.makespan, count: 1, detail: ["work_ns": "\($0.work)"]) }
    let derived = try METG.readings(foreign + [Reading(.nsPerOp, 1, count: 1)], sweep)
    #expect(derived.map(\.value) == readings.map(\.value))
  }

  @Test func readingsOfABadSweep() throws {
    // 40 % at best: no number at all.
    #expect(throws: CheckFailed.self) { try METG.readings([(1_000, 78_125), (10, 70_000)], sweep) }
    // Never below one half.
    #expect(throws: CheckFailed.self) { try METG.readings([(1_000, 31_250), (500, 20_000)], sweep) }
    // 90 % at best: half has a number, 95 % has none.
    let readings = try METG.readings([(1_000, 34_722), (100, 31_250)], sweep)
    #expect(readings.contains { $0.metric == .metg(50) } && !readings.contains { $0.metric == .metg(95) })
  }

  @Test func meansOverTheScenariosThatAllHave() throws {
    func line(_ pattern: String, _ metric: Metric, _ medians: [Double?]) -> TableLine {
      var cells: [Arm: TableLine.Cell] = [:]
      for (median, arm) in zip(medians, [Sample.ours, Sample.reference]) {
        guard let median else { continue }
        cells[arm] = TableLine.Cell(estimate: Estimate(median: median, interval: nil, count: 3), ratio: nil)
      }
      let name = BenchmarkName("dependencies", "metg")
      return TableLine(
        scenario: Scenario(name, ["pattern": pattern]), parameters: ["pattern": pattern], metric: metric, cells: cells)
    }
    let lines = [
      line("a", .metg(50), [1_000, 10]), line("b", .metg(50), [4_000, 90]), line("c", .metg(50), [7, nil]),
      line("a", .metg(95), [5, 6]), line("a", .nsPerOp, [1, 1]), line("b", .nsPerOp, [1, 1]),
    ]
    let means = ScenarioMeans.all(lines)
    #expect(means.map(\.metric) == [.metg(50)] && means.map(\.scenarios) == [2])
    #expect(abs(try #require(means[0].means[Sample.ours]) - 2_000) < 1e-6)
    #expect(abs(try #require(means[0].means[Sample.reference]) - 30) < 1e-6)
    #expect(line("a", .crossings, [1, 1]).isUnremarkable && !line("a", .crossings, [1, 3]).isUnremarkable)
    #expect(!line("a", .nsPerOp, [1, 1]).isUnremarkable)
  }
}
