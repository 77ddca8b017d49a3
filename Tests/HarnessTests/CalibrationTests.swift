import LaboratorySupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessPlanning
@testable import HarnessRunning
@testable import HarnessWords

struct CalibrationTests {
  /// The answer of a calibration, and the repeats of its attempts.
  private func calibrated(
    target: UInt64, limit: Int = .max, led: UInt64 = .max, took: (_ repeats: Int, _ attempt: Int) -> UInt64
  ) -> (answer: Int, attempts: [Int]) {
    var calibration = Calibration(target: target, limit: limit, led: led)
    var attempts: [Int] = []
    while true {
      attempts.append(calibration.repeats)
      if let answer = calibration.answer(took: took(calibration.repeats, attempts.count)) { return (answer, attempts) }
    }
  }

  @Test func enoughTime() {
    let short = calibrated(target: 50) { repeats, _ in UInt64(repeats) * 20 }
    #expect(short.answer == 3 && short.attempts == [1, 3, 3, 3])
    let long = calibrated(target: 50) { _, _ in 500 }
    #expect(long.answer == 1 && long.attempts == [1])
  }

  @Test func growsTenfoldAtMost() {
    let free = calibrated(target: 1_000) { repeats, _ in UInt64(repeats) / 10 }
    #expect(free.answer == 10_000 && free.attempts == [1, 10, 100, 1_000, 10_000, 10_000, 10_000])
    let sudden = calibrated(target: 50) { repeats, _ in repeats < 1_000 ? 0 : 50 }
    #expect(sudden.attempts.prefix(4) == [1, 10, 100, 1_000])
  }

  @Test func aSlowerSubjectHasTheLastWord() {
    let small = calibrated(target: 50, limit: 7) { _, _ in 1 }
    #expect(small.answer == 7 && small.attempts == [1, 7])
    #expect(calibrated(target: 50, limit: 3) { repeats, _ in UInt64(repeats) * 20 }.answer == 3)
  }

  /// An attempt that others disturbed takes many times its time.
  @Test func oneDisturbedAttemptChangesNothing() {
    for disturbed in 1...4 {
      let found = calibrated(target: 1_000, led: 10) { repeats, attempt in
        UInt64(repeats) * (attempt == disturbed ? 900 : 10)
      }
      #expect(found.answer == 100, "\(found)")
    }
  }
}

struct CommonRepeatsTests {
  private func numbers(_ fitting: [Int]) -> [Int] {
    let cells = fitting.indices.map { CellKey(Sample.scenario, Arm(subject: "s\($0)", workers: 1)) }
    let numbers = CommonRepeats.numbers(Dictionary(uniqueKeysWithValues: zip(cells, fitting)), .full)
    return cells.map { numbers[$0]! }
  }

  /// Eight milliseconds hold these numbers of repeats: the quickest arm fills two with a quarter of its own.
  @Test func armsOfAboutTheSameSpeedHaveTheSameNumber() {
    #expect(numbers([40, 41, 39]) == [11, 11, 11])
    #expect(numbers([40, 20, 10]) == [10, 10, 10])
    #expect(numbers([40, 9, 3, 1]) == [10, 9, 3, 1])
    #expect(numbers([4]) == [1] && numbers([5]) == [2] && numbers([1]) == [1] && numbers([]) == [])
  }

  @Test func theLongestValueIsFourValues() {
    #expect(Effort.full.longestValue == 4 * Effort.full.target)
  }
}

/// How often a benchmark is repeated, where the first repeat of a value is dearer than the others.
struct RepeatNumberTests {
  /// Two names for one subject, whose operations take 400 ns, and 50 us more in the first repeat of a value. A repeat
  /// has 100 operations. What a calibration says strays by a fifth.
  private func answer(_ request: MeasureRequest, stray: Double) -> ProcessOutcome {
    let perRepeat = 40_000.0
    switch request.mode {
    case .calibrate(let target, _, _):
      return FakeEffects.outcome(.exited(0), [.repeats(Int((Double(target) / perRepeat / stray).rounded(.up))), .end])
    case .time(let repeats, let values, _, _, let more, _, _):
      let lines = (1...values).map { value -> ResultLine in
        let count = value.isMultiple(of: 2) ? repeats + more : repeats
        return .reading(
          valueIndex: value, Reading(.nsPerOp, (perRepeat + 50_000 / Double(count)) / 100, count: 100 * count))
      }
      return FakeEffects.outcome(.exited(0), lines + [.end])
    default: return FakeEffects.success(request)
    }
  }

  /// It was told apart when each name had a number of repeats of its own.
  @Test func aSubjectUnderTwoNamesIsOne() {
    let effects = FakeEffects()
    effects.answer = { self.answer($0, stray: $0.subject == "foundation" ? 1.2 : 0.9) }
    let result = effects.run(
      Sample.plan(effort: Effort(blocks: 6, values: 4, leadIn: 10, target: 120_000, budget: 480_000)))
    let times = Dictionary(grouping: result.rows.filter { $0.reading.metric == .nsPerOp }, by: \.cell.arm.subject)
      .mapValues { $0.map(\.reading.value).max()! }
    #expect(times.count == 2 && abs(times["stealing"]! / times["foundation"]! - 1) < 0.01, "\(times)")
    #expect(Set(result.repeats.values).count == 1, "\(result.repeats)")
  }

  /// A subject far slower than the quickest one does what fits into the longest value.
  @Test func aSlowSubjectHasFewer() {
    let effects = FakeEffects()
    effects.answer = { self.answer($0, stray: $0.subject == "foundation" ? 30 : 1) }
    let result = effects.run(
      Sample.plan(effort: Effort(blocks: 1, values: 4, leadIn: 10, target: 2_000_000, budget: 8_000_000)))
    #expect(result.repeats[CellKey(Sample.scenario, Sample.ours)] == 50)
    #expect(result.repeats[CellKey(Sample.scenario, Sample.reference)] == 7)
  }

  /// A stretch of two milliseconds is one of timed work: what is around the timed work does not count.
  @Test func aCalibrationIsOfTimedWork() {
    final class Log {
      var lines: [ResultLine] = []
      var calls = 0
    }
    for metrics in [[Metric.nsPerOp, .cpuNsPerOp], [.nsPerCancel], [.makespan]] {
      let log = Log()
      let trial = Trial(operationsPerRepeat: 10) { repeats in
        log.calls += 1
        // The first repeat of a process takes a hundred times as long.
        let each = log.calls == 1 ? 10_000_000.0 : 100_000
        let count = metrics == [.makespan] ? repeats : 10 * repeats
        return Value(metrics.map { Reading($0, each * Double(repeats) / Double(count), count: count) })
      }
      MeasuringProcess(trial) { log.lines.append($0) }.run(.calibrate(target: 2_000_000, limit: .max))
      #expect(log.lines == [.repeats(20), .end], "\(metrics)")
    }
  }

  @Test func theLeadInOfACalibrationIsThatOfAValue() {
    var calls = 0
    let trial = Trial(operationsPerRepeat: 1) { repeats in
      calls += 1
      return Value([Reading(.nsPerOp, 1_000, count: repeats)])
    }
    let start = Clock.now()
    MeasuringProcess(trial) { _ in }.run(.calibrate(target: 1_000, limit: .max, leadIn: 5_000_000))
    #expect(Clock.now() - start >= 5_000_000 && calls > 3)
  }

  /// Threads fall asleep while lines are written.
  @Test func nothingIsWrittenBetweenTwoValues() {
    var log: [String] = []
    let trial = Trial(operationsPerRepeat: 1) { repeats in
      log.append("value of \(repeats)")
      return Value([Reading(.nsPerOp, 5_000, count: repeats)])
    }
    MeasuringProcess(trial) { line in
      if case .reading(1..., _) = line { log.append("line") }
    }.run(.time(repeats: 3, values: 3, leadIn: 1, more: 2))
    #expect(
      Array(log.suffix(7)) == [
        // The repeat before the first value is for the threads that slept while the process read its counts.
        "value of 1", "value of 3", "value of 5", "value of 3", "line", "line", "line",
      ], "\(log)")
  }

  private func effect(_ repeats: Int, extra: Double, noise: [Double] = [1]) -> RepeatEffect {
    let answers = (0..<RepeatEffect.processes).map { process in
      (1...RepeatEffect.values).map { value -> ResultLine in
        let count = value.isMultiple(of: 2) ? 2 * repeats : repeats
        let time = (1_000 + extra / Double(count)) * noise[(process + value) % noise.count]
        return .reading(valueIndex: value, Reading(.nsPerOp, time, count: count))
      }
    }
    return RepeatEffect(CellKey(Sample.scenario, Sample.ours), repeats: repeats, answers)
  }

  @Test func whatOneRepeatMoreDoes() {
    // 1 against 2, and 10 against 11: an extra of a tenth of a repeat, spread over them.
    let one = effect(1, extra: 100)
    #expect(abs(one.change - (1_050.0 / 1_100 - 1)) < 0.002 && one.isSurelyTooLarge(among: 100), "\(one.change)")
    let ten = effect(10, extra: 100)
    #expect(
      abs(ten.change - (1_000 + 100.0 / 11) / (1_000 + 10) + 1) < 0.002 && !ten.isSurelyTooLarge(among: 100),
      "\(ten.change)")
    #expect(!effect(1, extra: 0).isSurelyTooLarge(among: 1) && effect(1, extra: 0).change == 0)
    // Repeats that are dearer with their number are no better.
    #expect(effect(1, extra: -100).isSurelyTooLarge(among: 100))
    // Noise is no effect.
    #expect(!effect(1, extra: 0, noise: [1, 1.2, 0.9, 1.1, 0.95]).isSurelyTooLarge(among: 1))
  }

  @Test func aCellWithoutATimeHasNoEffect() {
    let lines: [ResultLine] = [.reading(valueIndex: 1, Reading(.inversion, 5, count: 1)), .end]
    let none = RepeatEffect(CellKey(Sample.scenario, Sample.ours), repeats: 1, [lines, []])
    #expect(!none.isMeasured && none.change.isNaN && !none.isSurelyTooLarge(among: 1))
  }
}
