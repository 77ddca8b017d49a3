import Primitives
import Synchronization
import TestSupport
import Testing

/// The decision, as a pure function.
@Suite struct BlockingMonitorVerdictTests {
  private func sample(
    queued: Int = 5, progress: Int = 10, busy: Int = 2, blocked: Int = 2, live: Int = 2
  ) -> BlockingMonitor.Sample {
    BlockingMonitor.Sample(queued: queued, progress: progress, busy: busy, blocked: blocked, live: live)
  }

  private func verdict(
    _ now: BlockingMonitor.Sample, before: BlockingMonitor.Sample? = nil, workers: Int = 2, lastAdded: Int = 0
  ) -> BlockingMonitor.Verdict {
    BlockingMonitor.verdict(now: now, before: before ?? now, workerCount: workers, lastAdded: lastAdded)
  }

  @Test func `nothing queued: no more looks`() { #expect(verdict(sample(queued: 0)) == .disarm) }

  @Test func `progress: nobody is stuck`() {
    #expect(verdict(sample(progress: 11), before: sample(progress: 10)) == .wait)
  }

  @Test func `an idle worker will take the work`() { #expect(verdict(sample(busy: 1, blocked: 1)) == .wait) }

  @Test func `workers that compute fill the processors`() { #expect(verdict(sample(blocked: 0)) == .wait) }

  @Test func `one worker for each processor that nobody uses`() {
    #expect(verdict(sample(blocked: 1)) == .addSpares(1))
    #expect(verdict(sample(busy: 8, blocked: 5, live: 8), workers: 4) == .addSpares(1))
  }

  @Test func `all blocked: at least as many as workers, then twice as many each time, at most what is queued`() {
    #expect(verdict(sample(queued: 100)) == .addSpares(2))
    #expect(verdict(sample(queued: 100), lastAdded: 2) == .addSpares(4))
    #expect(verdict(sample(queued: 100), lastAdded: 40) == .addSpares(80))
    #expect(verdict(sample(queued: 3), lastAdded: 40) == .addSpares(3))
    #expect(verdict(sample(queued: 1)) == .addSpares(1))
  }
}

/// The thread around it.
@Suite struct BlockingMonitorTests {
  /// A pool whose workers are stuck until it was given `spares`.
  private final class StuckPool: Sendable {
    let spares = Counter()
    let toldSurplus = Gate()
    let looks = Counter()
    let needed: Int

    init(needed: Int) { self.needed = needed }

    func arm(_ monitor: BlockingMonitor) {
      monitor.arm(
        sample: {
          self.looks.increment()
          let isStuck = self.spares.value < self.needed
          return BlockingMonitor.Sample(queued: isStuck ? 1 : 0, progress: 0, busy: 2, blocked: 2, live: 2)
        },
        addSpares: { count in
          if count == 0 { self.toldSurplus.open() }
          for _ in 0..<count { self.spares.increment() }
        })
    }
  }

  @Test func `adds spares while jobs are stuck, then says that they are surplus and looks no more`() throws {
    let monitor = BlockingMonitor(name: "monitor", workerCount: 2)
    let pool = StuckPool(needed: 3)
    pool.arm(monitor)
    try pool.spares.wait(for: 3, "three spares")
    try pool.toldSurplus.wait("the end of the need")
    try eventually("the monitor to be disarmed") { !monitor.isArmed }
    let looks = pool.looks.value
    giveOthersAChance()
    giveOthersAChance()
    #expect(pool.looks.value == looks, "it looks although it is disarmed")
    #expect(pool.spares.value == 3)
    monitor.stop()
  }

  @Test func `can be armed again`() throws {
    let monitor = BlockingMonitor(name: "monitor", workerCount: 2)
    for round in 1...3 {
      let pool = StuckPool(needed: round)
      // Only the first call starts the thread, which keeps its functions; the pool behind them may change.
      current.with { $0 = pool }
      monitor.arm(sample: { self.sampleOfCurrent() }, addSpares: { self.addToCurrent($0) })
      try pool.spares.wait(for: round, "spares of round \(round)")
      try eventually("the monitor to be disarmed") { !monitor.isArmed }
    }
    monitor.stop()
  }

  private let current = Monitor<StuckPool?>(nil)

  private func sampleOfCurrent() -> BlockingMonitor.Sample? {
    guard let pool = current.value else { return nil }
    let isStuck = pool.spares.value < pool.needed
    return BlockingMonitor.Sample(queued: isStuck ? 1 : 0, progress: 0, busy: 2, blocked: 2, live: 2)
  }

  private func addToCurrent(_ count: Int) {
    for _ in 0..<count { current.value?.spares.increment() }
  }

  @Test func `lets go of its functions when it is stopped`() throws {
    let tracker = LifetimeTracker()
    do {
      let monitor = BlockingMonitor(name: "monitor", workerCount: 1)
      let token = tracker.token()
      monitor.arm(
        sample: {
          withExtendedLifetime(token) {}
          return BlockingMonitor.Sample(queued: 0, progress: 0, busy: 0, blocked: 0, live: 1)
        }, addSpares: { _ in })
      monitor.stop()
    }
    try tracker.waitUntilAllReleased("the monitor's functions")
  }
}
