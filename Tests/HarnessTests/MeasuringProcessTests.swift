import Testing

@testable import HarnessMeasuring

/// How a process takes its times: the lead-in, the values, the budget, and where it begins.
struct MeasuringProcessTests {
  /// What a request makes of a benchmark that does nothing: the calls that it got, and the lines.
  private func measured(_ mode: MeasureRequest.Mode) -> (calls: Int, lines: [ResultLine]) {
    final class Log {
      var calls = 0
      var lines: [ResultLine] = []
    }
    let log = Log()
    let trial = Trial(operationsPerRepeat: 10) { repeats in
      log.calls += 1
      return Value([Reading(.nsPerOp, Double(repeats), count: 10 * repeats)])
    }
    MeasuringProcess(trial) { log.lines.append($0) }.run(mode)
    #expect(log.lines.last == .end)
    return (log.calls, log.lines)
  }

  private func values(_ lines: [ResultLine]) -> [Int] {
    lines.compactMap { line in
      guard case .reading(let index, let reading) = line, reading.metric == .nsPerOp else { return nil }
      #expect(reading.value == 3 && reading.count == 30)
      return index
    }
  }

  @Test func aBudgetEndsTheValuesAfterOne() {
    let spent = measured(.time(repeats: 3, values: 5, budget: 0))
    #expect(spent.calls == 1 && values(spent.lines) == [1])
    let whole = measured(.time(repeats: 3, values: 5, budget: .max))
    #expect(whole.calls == 5 && values(whole.lines) == [1, 2, 3, 4, 5])
  }

  @Test func theLeadInIsInNoValue() {
    let led = measured(.time(repeats: 3, values: 2, leadIn: 1))
    // One repeat stands between the lead-in and the first value.
    #expect(led.calls == 4 && values(led.lines) == [1, 2])
    let long = measured(.time(repeats: 3, values: 2, leadIn: 2_000_000))
    #expect(long.calls >= 4 && values(long.lines) == [1, 2])
  }

  /// The process stops before each value, when everything of the value before it is done, and leads in again.
  @Test func aValueIsATurn() throws {
    enum Event: Hashable { case said, stopped, ran }
    final class Log { var events: [Event] = [] }
    let log = Log()
    var readings: [Reading] = []
    let trial = Trial(operationsPerRepeat: 10) { repeats in
      log.events.append(.ran)
      return Value([Reading(.nsPerOp, Double(repeats), count: 10 * repeats)])
    }
    MeasuringProcess(
      trial, stop: { log.events.append(.stopped) },
      write: { line in
        if line == .turn { log.events.append(.said) }
        if case .reading(_, let reading) = line { readings.append(reading) }
      }
    ).run(.time(repeats: 3, values: 3, leadIn: 1, takesTurns: true))
    let turn: [Event] = [.said, .stopped, .ran, .ran]
    #expect(log.events == [.ran] + turn + turn + turn)
    #expect(readings.count { $0.metric == .nsPerOp } == 3)
    // What the process spends is of the values and of the repeats before each of them.
    let delay = readings.first { $0.metric == .runDelayNsPerOp }
    #expect(delay.map { $0.count == 180 } ?? true)
  }

  @Test func aBudgetEndsTheTurnsAfterOne() {
    let spent = measured(.time(repeats: 3, values: 5, budget: 0, takesTurns: true))
    #expect(spent.calls == 2 && values(spent.lines) == [1] && spent.lines.count { $0 == .turn } == 1)
  }

  @Test func costsAreOfTheValuesThatWereTaken() throws {
    let taken = measured(.time(repeats: 3, values: 4, leadIn: 1_000_000, budget: 0))
    let delay = taken.lines.compactMap { line in
      if case .reading(0, let reading) = line, reading.metric == .runDelayNsPerOp { reading.count } else { nil }
    }
    // With the repeat that stands before the first value.
    #expect(delay.isEmpty || delay == [40])
  }

  @Test func eventsAreCountedOnRequestAlone() {
    let without = measured(.time(repeats: 8, values: 1))
    #expect(without.calls == 1)
    // Where the kernel lets nobody count there is nothing to run for.
    #expect((1...2).contains(measured(.time(repeats: 8, values: 1, countsEvents: true)).calls))
  }

  /// Whatever the index, and however many CPUs there are.
  @Test func aThreadThatBeginsSomewhereMayGoAnywhere() {
    let before = CPUs.affinity
    for place in [0, 1, 2, 1_000_003, -1] {
      CPUs.begin(on: place)
      #expect(CPUs.affinity == before)
    }
  }

  /// Where this thread runs: the 39th field of its `stat`, the second of which is a name in parentheses.
  private static func cpu() -> Int {
    let fields = SystemFile.read("/proc/thread-self/stat")?.split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 36 ? Int(fields[36]) ?? -1 : -1
  }

  /// The kernel may move the thread on before anybody looks, but does not every time.
  @Test func eachPlaceIsACPUOfItsOwn() {
    let usual = (0..<CPUs.affinity).map { place in
      let seen = (0..<200).map { _ in
        CPUs.begin(on: place)
        return Self.cpu()
      }
      return Dictionary(grouping: seen) { $0 }.max { $0.value.count < $1.value.count }!.key
    }
    #expect(Set(usual).count == CPUs.affinity, "\(usual)")
  }
}
