import Glibc
import LaboratorySupport
import Synchronization
import TestSupport
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Laboratory

/// Bodies that are asynchronous: what is timed, and who waits. A measuring thread sleeps meanwhile, so each test has a
/// thread of its own.
@Suite(.ownThread) struct AsyncBenchmarkTests {
  /// Counts calls, and those that began before the last had ended.
  private final class Calls: Sendable {
    private let state = Mutex((total: 0, inside: 0, overlapping: 0))
    private let thread = Mutex<pthread_t?>(nil)

    func begin() {
      thread.withLock { $0 = pthread_self() }
      state.withLock {
        $0.total += 1
        if $0.inside > 0 { $0.overlapping += 1 }
        $0.inside += 1
      }
    }
    func end() { state.withLock { $0.inside -= 1 } }
    var total: Int { state.withLock { $0.total } }
    var overlapping: Int { state.withLock { $0.overlapping } }
    /// Whether the last call was on the thread that asks.
    var isHere: Bool { thread.withLock { $0 } == pthread_self() }
  }

  @Test func theCallsFollowOneAnother() throws {
    let calls = Calls()
    let benchmark = Benchmark("a/async", operations: 5) {
      calls.begin()
      await Task.yield()
      calls.end()
    }
    let value = try benchmark.trial().measure(40)
    #expect(calls.total == 40 && calls.overlapping == 0)
    #expect(value.readings.map(\.metric) == Metric.cost && value.readings.allSatisfy { $0.count == 200 })
    #expect(!benchmark.isSingleThreaded && !benchmark.gated(in: "a").countsInstructions)
  }

  /// What a body waits for is a part of its time, though no thread is held meanwhile.
  @Test func aSuspensionIsTimed() throws {
    let nanoseconds: UInt64 = 3_000_000
    let readings = try Benchmark("a/sleep") { try await Task.sleep(nanoseconds: nanoseconds) }.trial().measure(2)
      .readings
    let time = try #require(readings.first { $0.metric == .nsPerOp }).value
    #expect(time >= Double(nanoseconds))
  }

  /// The state is made once, before the first value, and reaches every call. No call is on the thread that waits.
  @Test func aStateIsMadeOnce() throws {
    let (made, seen) = (Calls(), Calls())
    let trial = try Benchmark(
      "a/state",
      setUp: {
        made.begin()
        try await Task.sleep(nanoseconds: 1)
        return 7
      },
      measure: { number in
        await Task.yield()
        guard number == 7 else { throw CheckFailed("not 7") }
        seen.begin()
        seen.end()
      }
    ).trial()
    #expect(made.total == 1 && seen.total == 0)
    _ = try trial.measure(3)
    _ = try trial.measure(2)
    #expect(made.total == 1 && seen.total == 5 && !seen.isHere)
  }

  /// What the counting process subtracts is the loop without the body.
  @Test func anIdleValueCallsNoBody() throws {
    let calls = Calls()
    let benchmarks = [
      Benchmark("a/async") {
        calls.begin()
        await Task.yield()
      }, Benchmark("a/plain") { calls.begin() },
    ]
    for benchmark in benchmarks {
      let idle = try #require(try benchmark.trial().idle)
      try idle()
    }
    #expect(calls.total == 0)
  }

  @Test func anErrorIsAFailure() throws {
    let wrong = try Benchmark("a/wrong") {
      await Task.yield()
      throw CheckFailed("wrong")
    }.trial()
    #expect(throws: CheckFailed("wrong")) { try wrong.measure(1) }
    let unprepared = Benchmark(
      "a/unprepared", setUp: { () async throws -> Int in throw CheckFailed("no state") },
      measure: { (_: Int) async in })
    #expect(throws: CheckFailed("no state")) { try unprepared.trial() }
  }

  /// A closure without `await` needs no task.
  @Test func aBodyThatIsNotAsynchronousStaysOnItsThread() throws {
    let calls = Calls()
    _ = try Benchmark("a/plain") { calls.begin() }.trial().measure(1)
    #expect(calls.total == 1 && calls.isHere)
  }
}
