import Subjects
import Testing

@testable import HarnessMeasuring
@testable import HarnessStatistics
@testable import HarnessWords
@testable import Workloads

/// The load that a subject carries. What is expected of numbers is expected of a subject that is far too slow, on any
/// machine.
struct CapacityTests {
  private static func setting(_ more: Parameters = [:], workers: Int = 1) -> Setting {
    let parameters: Parameters = [
      "service": "fixed", "arrivals": "exponential", "mean_us": "20", "long": "same", "samples": "200",
    ]
    // Bodies take a small part of their service time.
    return Setting(
      parameters: parameters.merging(more), workers: workers, seed: 1, spin: Spin(roundsPerMicrosecond: 1))
  }

  private static func value(_ name: String, of value: Value) throws -> Double {
    try #require(value.readings.first { $0.metric.name == name }).value
  }

  /// Each request takes fifty times its service time.
  @Test func aSubjectThatTakesAMillisecondEachCarriesNothing() throws {
    let value = try Capacity().prepare(closures: SluggishSubject.self, Self.setting()).measure(1)
    // Where other guests disturb each run, there is no number.
    if try Self.value("disturbed_runs", of: value) < 6 {
      #expect(try Self.value("capacity_percent", of: value) == 0)
      #expect(try Self.value("capacity_of_ideal", of: value) == 0)
    }
    let ideal = try Self.value("ideal_capacity_percent", of: value)
    #expect(ideal > 50 && ideal <= 95)
  }

  @Test func twoRunsMustAgreeAndDisturbedFailuresDoNotCount() throws {
    func agreed(_ runs: [(holds: Bool, isDisturbed: Bool)]) throws -> (carries: Bool, disturbed: Int, asked: Int) {
      var (disturbed, asked) = (0, 0)
      let carries = try Capacity.agreed(&disturbed) {
        asked += 1
        return runs[(asked - 1) % runs.count]
      }
      return (carries, disturbed, asked)
    }
    #expect(try agreed([(true, false)]) == (true, 0, 2) && agreed([(false, false)]) == (false, 0, 2))
    #expect(try agreed([(true, true), (false, true)]) == (true, 1, 3))
    #expect(try agreed([(false, true), (false, false)]) == (false, 2, 4))
    var disturbed = 0
    #expect(throws: Capacity.Undecided.self) { _ = try Capacity.agreed(&disturbed) { (false, true) } }
    #expect(disturbed == 6)
  }

  @Test func theCurveHasBothSlowdowns() throws {
    let setting = Self.setting(["load": "50"])
    let value = try Capacity(isCurve: true).prepare(closures: SluggishSubject.self, setting).measure(1)
    let (own, ideal) = (try Self.value("slowdown_p50", of: value), try Self.value("ideal_slowdown_p50", of: value))
    #expect(own > 50 && ideal >= 1 && ideal < 5)
    #expect(value.readings.map(\.metric) == Capacity(isCurve: true).metrics)
  }

  /// A program of another language gets the requests of the first value, and what one queue makes of them.
  @Test func peersGetTheSameRequests() throws {
    let setting = Self.setting(["load": "50", "service": "exponential"], workers: 2)
    let input = try Capacity(isCurve: true).peerInput(setting)
    let file = try #require(input.file)
    #expect(file.key == "requests" && input.fields.map { "\($0.key)=\($0.value)" } == ["sleeps=0"])
    let slow = try Capacity(isCurve: true).peerInput(Self.setting(["load": "50", "mean_us": "60"]))
    #expect(slow.fields.map(\.value) == ["1"])
    let lines = file.text.split(separator: "\n").map { $0.split(separator: " ").compactMap { Double($0) } }
    #expect(lines.count == 200 && lines.allSatisfy { $0.count == 3 && $0[0] >= 0 && $0[1] > 0 && $0[2] == 0 })
    let work = lines.reduce(0) { $0 + $1[1] }
    #expect(zip(lines, lines.dropFirst()).allSatisfy { $0[0] <= $1[0] } && lines[199][0] > work / 2)
    let own = (1...200).map { Reading(PeerRequests.sojourn, 1e6, count: 1, detail: ["request": "\($0)"]) }
    let derive = try #require(input.derive)
    let all = try derive(own)
    #expect(all.map(\.metric) == Capacity(isCurve: true).metrics && all.allSatisfy { $0.count == 200 })
    let trial = try Capacity(isCurve: true).prepare(closures: SluggishSubject.self, setting)
    // Behind the lead-in, too.
    _ = try trial.measure(1)
    let ours = try trial.measure(1)
    for metric in Metric.idealSlowdowns {
      #expect(try Self.value(metric.name, of: ours) == all.first { $0.metric == metric }?.value)
    }
  }

  /// Each request ends once, whatever is done about the long ones.
  @Test(arguments: SharedQueue.Long.allCases)
  func everyWayOfLongRequests(long: SharedQueue.Long) throws {
    let setting = Self.setting(["long": long.rawValue, "service": "pareto", "load": "50"], workers: 2)
    for isCurve in [true, false] {
      let value = try Capacity(isCurve: isCurve).prepare(operations: StealingSubject.self, setting).measure(2)
      #expect(value.readings.map(\.metric) == Capacity(isCurve: isCurve).metrics && value.readings[0].count == 400)
    }
    #expect(Capacity().needs(["long": long.rawValue]).contains(.operations) == (long != .same))
  }

  @Test(arguments: [
    ("service", "often"), ("arrivals", "never"), ("long", "short"), ("mean_us", "0"), ("mean_us", "nan"),
    ("mean_us", "inf"), ("samples", "0"), ("samples", "-1"),
  ])
  func wrongParameters(key: String, value: String) {
    #expect(throws: Complaint.self) {
      try Capacity().prepare(operations: StealingSubject.self, Self.setting([key: value]))
    }
  }

  @Test(arguments: ["0", "101", "-5", "x"])
  func wrongLoads(load: String) {
    #expect(throws: Complaint.self) {
      try Capacity(isCurve: true).prepare(operations: StealingSubject.self, Self.setting(["load": load]))
    }
    #expect(throws: Complaint.self) { try Capacity(isCurve: true).peerInput(Self.setting(["load": load])) }
  }

  @Test func longRequestsNeedPriorities() {
    #expect(throws: Complaint.self) {
      try Capacity().prepare(closures: SluggishSubject.self, Self.setting(["long": "later"]))
    }
  }
}

/// Takes a millisecond for each request, and runs it on the thread that submits.
final class SluggishSubject: ClosureSubject, @unchecked Sendable {
  static var name: String { "sluggish" }
  static var summary: String { "takes a millisecond each" }
  static var role: SubjectRole { .reference }
  static var workersAreAdjustable: Bool { false }

  // No state.
  init(workers: Int) {}

  func submit(_ body: @escaping @Sendable () -> Void) {
    Pacer.sleep(nanoseconds: 1_000_000)
    body()
  }

  func submit(_ count: Int, _ body: @escaping @Sendable (Int) -> Void, then join: @escaping @Sendable () -> Void) {
    for index in 0..<count { body(index) }
    join()
  }

  func drain() {}
}
