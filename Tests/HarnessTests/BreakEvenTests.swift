import Glibc
import Testing

@testable import HarnessMeasuring
@testable import HarnessStatistics
@testable import HarnessWords

/// Where forking begins to pay, from curves whose answer is known.
struct BreakEvenTests {
  /// Bodies whose forks cost `cost` in all, halved by a second worker.
  static func curve(_ bodies: Int, cost: Double, lengths: [Double]) -> [BreakEven.Point] {
    lengths.map { length in
      let serial = Double(bodies) * (length + 1)
      return BreakEven.Point(
        BreakEven.Problem(bodies: bodies, body: length), serial: serial, forked: cost + serial / 2)
    }
  }

  static let ladder: [Double] = (0..<40).map { exp2(Double($0) / 2) }

  @Test func forksPayOnceTheySaveATenth() throws {
    // cost + serial / 2 = 0.9 * serial, where serial is 2.5 times the cost.
    let found = try #require(BreakEven.find(Self.curve(4, cost: 1_000, lengths: Self.ladder)))
    #expect(abs(found / 2_500 - 1) < 0.02)
    #expect(BreakEven.find(Self.curve(4, cost: 1_000, lengths: Self.ladder.shuffled())) == found)
  }

  @Test func betweenTwoProblemsTheCurveIsStraightInLogarithms() throws {
    func point(_ serial: Double, _ ratio: Double) -> BreakEven.Point {
      BreakEven.Point(BreakEven.Problem(bodies: 2, body: serial), serial: serial, forked: serial * ratio)
    }
    let found = try #require(BreakEven.find([point(10, 3.6), point(1_000, 0.225)]))
    #expect(abs(found - 100) < 1e-6)
    // The first problem that pays counts: a later one may have lost a CPU to other programs.
    let first = try #require(BreakEven.find([point(1, 4), point(10, 0.9), point(100, 2), point(10_000, 0.5)]))
    #expect(abs(first - 10) < 1e-6)
    // Less than a tenth is not enough.
    #expect(BreakEven.find([point(50, 1), point(100, 0.91)]) == nil)
  }

  @Test func curvesWithoutABeginning() {
    let short = Self.curve(4, cost: 1_000, lengths: [0, 10, 100])
    #expect(BreakEven.find(short) == nil && BreakEven.smallest(short) == nil)
    let free = Self.curve(4, cost: 0, lengths: [0, 10, 100])
    #expect(BreakEven.find(free) == nil && BreakEven.worstLoss(free) == nil)
    #expect(BreakEven.find([]) == nil && BreakEven.smallest([]) == nil && BreakEven.worstLoss([]) == nil)
  }

  @Test func overAllNumbersOfBodies() throws {
    let points =
      Self.curve(1_024, cost: 100_000, lengths: Self.ladder) + Self.curve(2, cost: 5_000, lengths: Self.ladder)
      + Self.curve(16, cost: 1e12, lengths: Self.ladder)
    #expect(BreakEven.curves(points).map(\.bodies) == [2, 16, 1_024])
    let smallest = try #require(BreakEven.smallest(points))
    #expect(abs(smallest / 12_500 - 1) < 0.02)
    let worst = try #require(points.map(\.ratio).max())
    #expect(BreakEven.worstLoss(points) == worst)
    let readings = BreakEven.readings(points)
    let starts = readings.filter { $0.metric == .breakEven }
    // The curve of 16 bodies never gains, and has no beginning.
    #expect(starts.map(\.detail) == [["bodies": "2"], ["bodies": "1024"], [:]])
    #expect(starts.last?.value == BreakEven.smallest(points) && starts.last?.count == points.count)
    #expect(readings.filter { $0.metric == .worstLoss }.map(\.value) == [worst])
    let ratios = readings.filter { $0.metric == .timeOverSerial }
    #expect(ratios.map(\.value) == points.map(\.ratio) && ratios[0].detail == ["bodies": "1024", "body_ns": "1"])
  }

  @Test func theTimesOfAnotherProgram() throws {
    let points = Self.curve(4, cost: 1_000, lengths: [0, 10, 10_000])
    let times = points.flatMap { point in
      [
        Reading(.serial, point.serial, count: 4, detail: point.problem.parameters),
        Reading(.makespan, point.forked, count: 4, detail: point.problem.parameters),
      ]
    }
    #expect(try BreakEven.readings(times.shuffled()).count == BreakEven.readings(points).count)
    #expect(try BreakEven.readings(times) == BreakEven.readings(points))
    #expect(throws: CheckFailed.self) { try BreakEven.readings([Reading]()) }
    #expect(throws: CheckFailed.self) { try BreakEven.readings(Array(times.dropLast())) }
    #expect(throws: CheckFailed.self) {
      try BreakEven.readings(times.map { Reading($0.metric, 0, count: 4, detail: $0.detail) })
    }
  }
}
