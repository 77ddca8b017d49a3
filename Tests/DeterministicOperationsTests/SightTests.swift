import OperationJobs
import Testing

@testable import DeterministicOperations

/// What the monitor makes of a body that does not visit the backend: times are in milliseconds.
@Suite("Bodies that the monitor looks at")
struct SightTests {
  private struct Look {
    var isAsleep: Bool
    /// CPU time of the thread.
    var used: UInt64
    var now: UInt64
    var visits = 1
    var threadsPerCPU: UInt64 = 1
  }

  private func last(_ looks: [Look]) -> [UInt64] {
    var (sight, seen) = (Sight(), (asleep: UInt64(0), away: UInt64(0)))
    for look in looks {
      seen = sight.look(
        isAsleep: look.isAsleep, used: look.used * 1_000_000, now: look.now * 1_000_000, visits: look.visits,
        threadsPerCPU: look.threadsPerCPU)
    }
    return [seen.asleep / 1_000_000, seen.away / 1_000_000]
  }

  @Test("a body that sleeps is asleep, and away")
  func sleeping() {
    #expect(last((0...50).map { Look(isAsleep: true, used: 7, now: 1_000 + 10 * $0) }) == [500, 500])
  }

  @Test("where ten threads share a CPU, time asleep counts for a tenth, and so does that of a test that waits")
  func sharing() {
    let looks = (0...50).map { Look(isAsleep: true, used: 7, now: 1_000 + 10 * $0, threadsPerCPU: 10) }
    #expect(last(looks) == [50, 50])
    var sight = TestSight()
    let away = (0...50).map { sight.look(arrivals: 3, now: 1_000 + 10 * $0, threadsPerCPU: 10) }
    #expect(away.first == 0 && away.last == 50)
  }

  @Test("a body that computes is away for as long as it uses the CPU")
  func computing() {
    // Half of the time the thread waits for a CPU.
    #expect(last((0...50).map { Look(isAsleep: false, used: 5 * $0, now: 1_000 + 10 * $0) }) == [0, 250])
  }

  @Test("a thread that has ended between two looks has no CPU time, which counts for nothing")
  func ended() {
    let used: [UInt64] = [50, 60, 0]
    #expect(last(used.indices.map { Look(isAsleep: false, used: used[$0], now: UInt64(1_000 + 10 * $0)) }) == [0, 10])
  }

  @Test("a body that waits in a loop with short sleeps is away")
  func polling() {
    #expect(last((0...50).map { Look(isAsleep: true, used: $0 / 5, now: 1_000 + 10 * $0) })[1] == 500)
  }

  @Test("a process that stood still for a minute, in a debugger or after SIGSTOP, has done nothing")
  func standingStill() {
    for isAsleep in [true, false] {
      let looks = [0, 10, 60_000, 60_010].map {
        Look(isAsleep: isAsleep, used: isAsleep ? 3 : 3 + $0 / 60_000, now: 1_000 + $0)
      }
      #expect(last(looks) == (isAsleep ? [20, 20] : [0, 1]))
    }
    // A debugger may stop one thread alone: it is not asleep, and uses no CPU.
    #expect(last((0...5_000).map { Look(isAsleep: false, used: 3, now: 1_000 + 10 * $0) }) == [0, 0])
  }

  @Test("a visit begins anew")
  func visiting() {
    var looks = (0...50).map { Look(isAsleep: true, used: 7, now: 1_000 + 10 * $0) }
    looks += [
      Look(isAsleep: true, used: 7, now: 1_510, visits: 2), Look(isAsleep: true, used: 7, now: 1_520, visits: 2),
    ]
    #expect(last(looks) == [10, 10])
  }

  @Test("a late reaction to a body that was left to itself gives no place away when the body has ended")
  func lateReaction() throws {
    let backend = DeterministicBackend(workers: 1, seed: 1)
    let driver = backend.driver
    // One thread writes, and the other reads when the first has ended.
    nonisolated(unsafe) var seen: Strand?
    backend.submit(
      Job {
        seen = driver.currentCarrier?.strand
        // From here on the body is left to itself.
        backend.whileBlocked {}
      })
    // `run()` does not wait for such a body.
    backend.shutdown()
    let strand = try #require(seen)
    #expect(strand.worker == 0 && !strand.gavePlace)
    driver.lock.withLock { driver.react(to: strand, sleeps: true) }
    #expect(!strand.gavePlace)
  }
}
