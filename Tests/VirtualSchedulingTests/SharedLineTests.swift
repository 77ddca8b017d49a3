import Scheduling
import Testing

@testable import VirtualScheduling

/// CPUs that want the same cache line wait for each other.
@Suite struct SharedLineTests {
  @Test func eachOfManyHasItsTurn() {
    var line = SharedLine()
    for turn in 1...5 as ClosedRange<Int64> {
      #expect(line.promise(to: Int(turn), from: 1_000, for: 30, now: 1_000) == 1_000 + 30 * turn)
      #expect(line.last == Int32(turn))
    }
    // An access that holds the line for no time waits all the same, and delays no other access.
    #expect(line.promise(to: 7, from: 1_100, for: 0, now: 1_000) == 1_150)
    #expect(line.promise(to: 8, from: 1_150, for: 10, now: 1_000) == 1_160)
  }

  /// A thread that wakes another one first wants the line late. Others are not kept until then.
  @Test func anAccessFitsInBeforeALaterOne() {
    var line = SharedLine()
    #expect(line.promise(to: 0, from: 8_000, for: 50, now: 0) == 8_050)
    #expect(line.promise(to: 1, from: 0, for: 50, now: 0) == 50)
    #expect(line.promise(to: 2, from: 7_960, for: 50, now: 0) == 8_100)
    #expect(line.promise(to: 3, from: 40, for: 7_950, now: 0) == 8_000)
    // Now everything from 0 to 8,100 is promised.
    #expect(line.promise(to: 4, from: 10, for: 1, now: 0) == 8_101)
    #expect(line.promise(to: 5, from: 9_000, for: 1, now: 8_101) == 9_001)
  }

  /// Against a plain list of all nanoseconds.
  @Test func promisesNeverOverlap() {
    var choices = VirtualChoices(seed: 5)
    for _ in 0..<50 {
      var line = SharedLine()
      var taken: Set<Int64> = []
      for worker in 0..<60 {
        let time = Int64(choices.pick(below: 300))
        let duration = Int64(1 + choices.pick(below: 12))
        let end = line.promise(to: worker, from: time, for: duration, now: 0)
        let first = (time...).first { start in (start..<start + duration).allSatisfy { !taken.contains($0) } }!
        #expect(end == first + duration)
        taken.formUnion(end - duration..<end)
      }
    }
  }

  @Test func aWordIsReadForNothingUntilItChanges() {
    var word = SharedWord()
    #expect(word.isRead(by: 3) && !word.isRead(by: 3) && word.isRead(by: -1))
    word.isWritten(by: 3)
    #expect(!word.isRead(by: 3) && word.isRead(by: -1) && !word.isRead(by: -1) && word.isRead(by: 0))
  }

  /// Workers that are held take a job each from one lock at the same instant: the lock's two lines go from one to the
  /// next.
  @Test func aLockGoesFromCPUToCPU() {
    var costs = VirtualCosts()
    costs.list = 10
    costs.transfer = .init(100, otherGroup: 1_000, otherSocket: 10_000)
    func begins(_ topology: VirtualTopology) -> [Int64] {
      let pool = VirtualPool(
        workers: 4, strategy: .threadPool(.init()), costs: costs, topology: topology,
        choices: VirtualChoices(replaying: []), isWarm: true)
      pool.submit((1...4 as ClosedRange<UInt>).map { (job: $0, level: 2) })
      return runAll(pool).map(\.time)
    }
    // The thread outside, which held the lock for 10, counts as one of the group.
    #expect(begins(.flat) == [220, 430, 640, 850])
    let groups = begins(VirtualTopology(workersPerGroup: 2, workersPerSocket: 4))
    let sockets = begins(VirtualTopology(workersPerGroup: 2, workersPerSocket: 2))
    #expect(groups.last == 220 + 210 + 2_010 + 210 && sockets.last == 220 + 210 + 20_010 + 210)
  }

  /// A thief looks at lists that have not changed for less.
  @Test func aGlanceIsPaidForAListThatHasChanged() {
    var costs = VirtualCosts()
    costs.look = 1
    costs.glance = .init(1_000, otherGroup: 30_000, otherSocket: 500_000)
    var strategy = StealingStrategy()
    strategy.victim = .neighbour
    let pool = VirtualPool(
      workers: 8, strategy: .stealing(strategy), costs: costs,
      topology: VirtualTopology(workersPerGroup: 2, workersPerSocket: 4), choices: VirtualChoices(seed: 1),
      isWarm: true)
    // The lists of one worker of each distance have changed.
    for changed in [1, 2, 5] {
      pool.lists.push(QueuedJob(word: 1, level: 2, maker: -1, number: 0), to: changed)
      _ = pool.lists.pop(from: changed, level: 2, newest: false)
    }
    func search() -> Int64 {
      pool.spent = 0
      var round = ThiefRound(first: 1, count: 8)
      #expect(pool.nextVictim(of: 0, level: 2, least: 1, in: &round) == nil)
      return pool.spent
    }
    #expect(search() == 7 + 1_000 + 30_000 + 500_000)
    #expect(search() == 7)
    pool.lists.push(QueuedJob(word: 1, level: 2, maker: -1, number: 0), to: 5)
    _ = pool.lists.pop(from: 5, level: 2, newest: false)
    #expect(search() == 7 + 500_000)
  }
}
