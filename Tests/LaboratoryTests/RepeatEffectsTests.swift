import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessRunning
@testable import HarnessWords
@testable import Laboratory

/// The part of `validate` that looks whether the number of repeats changes a time, on subjects that only exist here.
struct RepeatEffectsTests {
  private static let scenario = Scenario(BenchmarkName("a", "b"), [:])
  private static let planned = PlannedScenario(
    scenario: scenario, arms: ["steady", "dear", "slow"].map { Arm(subject: $0, workers: 1) }, incapable: [],
    repeats: .calibrated(), headlines: [], countsAllocations: false, notes: [])

  /// A repeat takes 1.5 ms, that of the slow subject 20 ms. The first repeat of a value of the dear one takes 2.5 ms.
  private static func answer(_ request: MeasureRequest) -> ProcessOutcome {
    let perRepeat = request.subject == "slow" ? 20_000_000.0 : 1_500_000
    let first = request.subject == "dear" ? 1_000_000.0 : 0
    var lines: [ResultLine] = []
    switch request.mode {
    case .calibrate(let target, _, _): lines = [.repeats(Int((Double(target) / perRepeat).rounded(.up)))]
    case .time(let repeats, let values, _, _, let more, _, _):
      lines = (1...values).map { value in
        let count = value.isMultiple(of: 2) ? repeats + more : repeats
        return .reading(valueIndex: value, Reading(.nsPerOp, perRepeat + first / Double(count), count: count))
      }
    default: break
    }
    return ProcessOutcome(ending: .exited(0), lines: (lines + [.end]).map(\.text), lastWords: nil, nanoseconds: 1)
  }

  private func measured(
    references: Set<String> = [], isInterrupted: () -> Bool = { false },
    answer: @escaping (MeasureRequest) -> ProcessOutcome = answer
  ) throws -> (effects: [RepeatEffect], failures: [CellKey: String])? {
    try RepeatEffects(
      [Self.planned], .full, seed: 1, startup: 0.01, spin: Spin(roundsPerMicrosecond: 1),
      references: references, launch: { request, _ in answer(request) }
    ).measure(isInterrupted: isInterrupted) { done, total, _ in #expect(done < total) }
  }

  @Test func aSubjectWhoseFirstRepeatIsDearFails() throws {
    let effects = try #require(try measured()).effects
    #expect(effects.map(\.cell.arm.subject) == ["steady", "dear"])
    #expect(effects.map(\.repeats) == [2, 2])
    #expect(effects.map { $0.isSurelyTooLarge(among: effects.count) } == [false, true])
    #expect(effects[0].change == 0 && effects[1].change < -0.05)
  }

  @Test func anInterruptHasNoResult() throws {
    #expect(try measured(isInterrupted: { true }) == nil)
  }

  /// A process that hangs costs its time limit, so the cell of a reference that has failed once is left alone.
  @Test func aReferenceThatFailsIsLeftOut() throws {
    for round in 0..<3 {
      var asked = 0
      func hanging(_ request: MeasureRequest) -> ProcessOutcome {
        guard request.subject == "dear" else { return Self.answer(request) }
        asked += 1
        guard asked > round else { return Self.answer(request) }
        return ProcessOutcome(ending: .timedOut, lines: [], lastWords: nil, nanoseconds: 1)
      }
      let (effects, failures) = try #require(try measured(references: ["dear"], answer: hanging))
      #expect(effects.map(\.cell.arm.subject) == ["steady"] && asked == round + 1)
      #expect(failures.map(\.key.arm.subject) == ["dear"])
      asked = 0
      #expect(throws: Complaint.self) { try measured(answer: hanging) }
    }
  }
}
