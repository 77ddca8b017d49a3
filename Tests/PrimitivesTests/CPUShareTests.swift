import Testing

@testable import Primitives

/// How many CPUs a pool lends to others.
struct CPUShareTests {
  private static let millisecond: UInt64 = 1_000_000

  private func lent(_ threads: Int, of pools: Int = 1, cpus: Int, after earlier: [Int] = []) -> Int {
    var share = CPUShare()
    var time: UInt64 = 1_000_000_000
    for threads in earlier {
      _ = look(&share, time, threads, pools: threads > 0 ? pools : 0, cpus: cpus)
      time += 16 * Self.millisecond
    }
    return look(&share, time, threads, pools: pools, cpus: cpus)
  }

  private func look(
    _ share: inout CPUShare, _ time: UInt64, _ threads: Int, pools: Int, cpus: Int, longestJob: UInt64 = 0
  ) -> Int {
    share.look(at: time, others: .init(threads: threads, pools: pools), cpus: cpus, longestJob: longestJob)
  }

  @Test func asManyAsOthersUse() {
    #expect(lent(0, of: 0, cpus: 8) == 0)
    #expect(lent(1, cpus: 8) == 1)
    #expect(lent(3, cpus: 8) == 3)
  }

  @Test func theFairShareIsKept() {
    #expect(lent(64, cpus: 8) == 4)
    #expect(lent(64, of: 3, cpus: 8) == 6)
    #expect(lent(64, of: 20, cpus: 8) == 7)
    #expect(lent(2, cpus: 2) == 1)
    #expect(lent(2, of: 5, cpus: 1) == 0)
    #expect(lent(5, cpus: 3) == 2)
  }

  /// Others that come and go with each job count with their mean.
  @Test func aMeanCounts() {
    #expect(lent(0, of: 0, cpus: 8, after: [2, 2, 2]) == 1)
    #expect(lent(0, of: 0, cpus: 8, after: [2, 2, 2] + Array(repeating: 0, count: 8)) == 0)
    #expect(lent(0, of: 0, cpus: 8, after: Array(repeating: 0, count: 40) + [1]) == 0)
    for count in 20..<30 {
      let turns = (0...count).map { $0 % 2 * 4 }
      #expect(lent(turns[count], cpus: 8, after: turns.dropLast()) == 2)
    }
  }

  /// A gap makes what was seen before it worthless.
  @Test func aGapForgets() {
    var share = CPUShare()
    #expect(look(&share, 1, 4, pools: 1, cpus: 8) == 4)
    #expect(look(&share, 1 + CPUShare.memory, 0, pools: 0, cpus: 8) == 0)
    #expect(look(&share, 1 + 2 * CPUShare.memory, 4, pools: 1, cpus: 8) == 4)
  }

  /// Bodies that wait for each other without blocking get all places.
  @Test func nothingIsLentWhileABodyComputesForLong() {
    var share = CPUShare()
    let lent = [0, 99, 100, 5_000, 1].enumerated().map { place, age in
      look(
        &share, UInt64(place + 1) * 16 * Self.millisecond, 2, pools: 1, cpus: 4,
        longestJob: UInt64(age) * Self.millisecond)
    }
    #expect(lent == [2, 2, 0, 0, 2])
  }
}

/// The sums over all pools.
struct RunningThreadsTests {
  @Test func sumsAreOfAllPools() {
    let running = RunningThreads()
    #expect(running.sums == .init(threads: 0, pools: 0))
    running.change(from: 0, to: 3)
    running.change(from: 0, to: 1)
    #expect(running.sums == .init(threads: 4, pools: 2))
    #expect(running.others(than: 3) == .init(threads: 1, pools: 1))
    #expect(running.others(than: 0) == .init(threads: 4, pools: 2))
    running.change(from: 3, to: 1)
    #expect(running.sums == .init(threads: 2, pools: 2))
    running.change(from: 1, to: 0)
    running.change(from: 1, to: 0)
    #expect(running.sums == .init(threads: 0, pools: 0))
    #expect(running.others(than: 2) == .init(threads: 0, pools: 0))
  }

  /// A thread may count as blocked twice for a moment.
  @Test func aNumberMayBeBelowZero() {
    let running = RunningThreads()
    running.change(from: 0, to: 2)
    running.change(from: 0, to: -1)
    #expect(running.sums == .init(threads: 1, pools: 1))
    running.change(from: 2, to: -1)
    #expect(running.sums == .init(threads: -2, pools: 0))
    running.change(from: -1, to: 1)
    running.change(from: -1, to: 0)
    #expect(running.sums == .init(threads: 1, pools: 1))
  }

  /// Two changes of one pool may come in the other order.
  @Test func aSumMayBeBelowZero() {
    let running = RunningThreads()
    running.change(from: 1, to: 0)
    #expect(running.sums == .init(threads: -1, pools: -1))
    #expect(running.others(than: 0) == .init(threads: 0, pools: 0))
    running.change(from: 0, to: 1)
    #expect(running.sums == .init(threads: 0, pools: 0))
  }
}
