import LaboratorySupport
import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Laboratory

/// What a user's benchmarks do beside what they measure.
struct OddBenchmarkTests {
  static let program = BuiltProgram.path("OddBenchmarks")

  private func measure(_ benchmark: String, _ mode: MeasureRequest.Mode) throws -> ProcessOutcome {
    let names = benchmark.split(separator: "/").map(String.init)
    let cell = CellKey(Scenario(BenchmarkName(names[0], names[1]), [:]), Arm(subject: "OddBenchmarks", workers: 1))
    return ProcessRunner.measure(
      MeasureRequest(cell: cell, mode: mode, seed: 1, spin: Spin(roundsPerMicrosecond: 1)), program: Self.program,
      environment: [:], timeout: 60)
  }

  /// The answer to a calibration, and every value, comes through.
  @Test(arguments: [
    "quiet/sum", "prints/lines", "prints/pieces", "prints/results", "prints/by-another-program",
  ])
  func whatABodyPrintsIsNoResult(benchmark: String) throws {
    let calibrate = MeasureRequest.Mode.calibrate(target: 100_000, limit: 50)
    let calibrated = try measure(benchmark, calibrate)
    #expect(calibrated.failure(calibrate) == nil, "\(calibrated)")
    #expect(calibrated.lines.count == 2, "\(calibrated)")
    let time = MeasureRequest.Mode.time(repeats: 3, values: 4)
    let timed = try measure(benchmark, time)
    #expect(timed.failure(time) == nil, "\(timed)")
    let times = timed.results.compactMap { line -> Reading? in
      if case .reading(1..., let reading) = line, reading.metric == .nsPerOp { reading } else { nil }
    }
    #expect(times.count == 4 && times.allSatisfy { $0.value > 0.5 }, "\(timed)")
    #expect(timed.lastWords != nil)
  }

  /// The suite comes through too, whatever the program prints while it makes its benchmarks.
  @Test func theSuiteComesThrough() throws {
    let outcome = ProcessRunner.run(Self.program, ["measure", GateSuite.request], timeout: 60)
    let suite = try #require(GateSuite(outcome.lines), "\(outcome)")
    #expect(suite.cells.count == 9 && outcome.lastWords == "made")
  }

  @Test func resultsThatCannotBeWrittenFailTheCell() throws {
    let time = MeasureRequest.Mode.time(repeats: 1, values: 1)
    let outcome = try measure("closes/all", time)
    #expect(outcome.ending == .exited(74) && outcome.lines.isEmpty, "\(outcome)")
    #expect(outcome.failure(time)?.contains("cannot write the result") == true, "\(outcome)")
  }

  /// A call of the body takes no longer than a call of an empty one. One of several processes is enough here: on a busy
  /// machine a process may see one loop much slower than the other.
  @Test(arguments: ["empty/closure", "empty/asynchronous"])
  func aBodyWithoutWorkIsNamed(benchmark: String) throws {
    let time = MeasureRequest.Mode.time(repeats: 10_000, values: 3)
    let isNamed = try (0..<20).contains { _ in
      let outcome = try measure(benchmark, time)
      #expect(outcome.failure(time) == nil)
      return outcome.results.contains { if case .tooShort = $0 { true } else { false } }
    }
    #expect(isNamed)
    let quiet = try measure("quiet/sum", time)
    #expect(!quiet.results.contains { if case .tooShort = $0 { true } else { false } }, "\(quiet)")
  }
}
