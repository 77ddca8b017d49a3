import Primitives
import TestSupport
import Testing

/// The decisions, as pure functions.
@Suite struct BlockingMonitorDecisionTests {
  /// Places after each look at a pool with two workers.
  private func places(_ looks: [(active: Int, isNeeded: Bool)], asleep: [Int] = []) -> [Int] {
    var bonus = BlockingMonitor.Bonus()
    return looks.enumerated().map { number, look in
      bonus.look(active: look.active, isNeeded: look.isNeeded, workerCount: 2) {
        number < asleep.count ? asleep[number] : 0
      }
      return bonus.places
    }
  }

  @Test func `no bonus while a thread computes, or while nothing is queued`() {
    #expect(places([(1, true), (2, true), (0, false)]) == [0, 0, 0])
  }

  @Test func `all blocked again and again: twice as many each time`() {
    #expect(places(Array(repeating: (0, true), count: 5)) == [0, 2, 6, 14, 30])
  }

  @Test func `threads that sleep unmarked do not compute, as long as all of them do`() {
    #expect(places([(1, true), (1, true), (2, true), (2, true)], asleep: [1, 1, 2, 1]) == [0, 2, 6, 0])
    #expect(places([(2, true), (2, true)], asleep: [1, 1]) == [0, 0])
    #expect(places([(1, false), (1, true)], asleep: [1, 1]) == [0, 0])
  }

  @Test func `of threads one that computes decides`() {
    #expect(WatchedThread.countAsleep([]) == 0)
    #expect(WatchedThread.countAsleep([.asleep, .uncounted, .asleep]) == 2)
    #expect(WatchedThread.countAsleep([.asleep, .computing, .asleep]) == 0)
  }

  @Test func `the bonus ends when a thread computes`() {
    #expect(places([(0, true), (0, true), (1, true), (0, true), (0, true)]) == [0, 2, 0, 0, 2])
  }

  @Test func `the bonus stays finite`() {
    #expect(places(Array(repeating: (0, true), count: 100)).max() == 2 * 2047)
  }

  @Test func `looks come less and less often while they change nothing`() {
    var interval = BlockingMonitor.firstInterval
    var seen = [interval]
    for _ in 0..<6 {
      interval = BlockingMonitor.interval(after: interval, hasChanged: false)
      seen.append(interval)
    }
    #expect(seen.map { $0 / BlockingMonitor.firstInterval } == [1, 2, 4, 8, 16, 16, 16])
    #expect(BlockingMonitor.interval(after: interval, hasChanged: true) == BlockingMonitor.firstInterval)
    #expect(!BlockingMonitor.rechecks(at: BlockingMonitor.firstInterval) && BlockingMonitor.rechecks(at: interval))
  }
}

/// The thread around it.
@Suite struct BlockingMonitorTests {
  /// A pool that needs a number of looks.
  private final class Needy: Sendable {
    let looks = Counter()
    private let needed: Int

    init(looks needed: Int) { self.needed = needed }

    func look() -> BlockingMonitor.Look {
      BlockingMonitor.Look(isNeeded: looks.increment() < needed, hasChanged: true)
    }
  }

  @Test func `looks while it is needed, and no more`() throws {
    let monitor = BlockingMonitor(name: "monitor")
    let pool = Needy(looks: 5)
    #expect(monitor.arm { _ in pool.look() })
    try pool.looks.wait(for: 5, "five looks")
    try eventually("the monitor to be disarmed") { !monitor.isArmed }
    let looks = pool.looks.value
    giveOthersAChance()
    giveOthersAChance()
    #expect(pool.looks.value == looks, "it looks although it is disarmed")
    monitor.stop()
  }

  @Test func `can be armed again`() throws {
    let monitor = BlockingMonitor(name: "monitor")
    // Only the first call starts the thread, which keeps its function; the pool behind it may change.
    let current = Monitor<Needy?>(nil)
    for round in 1...3 {
      let pool = Needy(looks: round + 2)
      current.with { $0 = pool }
      monitor.arm { _ in current.value?.look() }
      try pool.looks.wait(for: round + 2, "the looks of round \(round)")
      try eventually("the monitor to be disarmed") { !monitor.isArmed }
    }
    monitor.stop()
  }

  @Test func `lets go of its function when it is stopped`() throws {
    let tracker = LifetimeTracker()
    do {
      let monitor = BlockingMonitor(name: "monitor")
      let token = tracker.token()
      monitor.arm { _ in
        withExtendedLifetime(token) {}
        return BlockingMonitor.Look(isNeeded: false, hasChanged: false)
      }
      monitor.stop()
    }
    try tracker.waitUntilAllReleased("the monitor's function")
  }
}

/// What a monitor sees of a thread.
@Suite struct WatchedThreadTests {
  /// A thread that does what it is told, and what is known of it.
  private final class Subject: Sendable {
    let watched = WatchedThread()
    func look(now: UInt64, atFirstSight: Bool, recheck: Bool) -> WatchedThread.Change {
      let change = watched.look(now: now, atFirstSight: atFirstSight, recheck: recheck)
      if change == .blocked { watched.mark() }
      return change
    }
    func takeMark() -> Bool { watched.takeMark() }
    func announce() -> Bool { watched.announce() }
    func retract() { watched.retract() }
    let (ready, release, resumed, end) = (Gate(), Gate(), SpinFlag(), Gate())
  }

  /// In one job: first asleep in the kernel, then computing.
  private func start() throws -> Subject {
    let subject = Subject()
    startThread {
      subject.watched.begin()
      subject.watched.becomeBusy(true)
      subject.watched.beginJob()
      subject.ready.open()
      subject.release.pass()
      subject.resumed.spin()
      subject.end.open()
    }
    try subject.ready.wait("the thread")
    return subject
  }

  @Test func `one that sleeps in the same job at two looks is blocked, once`() throws {
    let subject = try start()
    try eventually("the thread to sleep") { subject.watched.report.isBlocked }
    #expect(subject.look(now: 1, atFirstSight: false, recheck: true) == .none)
    #expect(subject.look(now: 2, atFirstSight: false, recheck: true) == .blocked)
    #expect(subject.look(now: 3, atFirstSight: false, recheck: true) == .none)
    #expect(subject.watched.report.since == 1)
    subject.release.open()
    try eventually("the thread to run") { !subject.watched.report.isBlocked }
    #expect(subject.look(now: 4, atFirstSight: false, recheck: false) == .none)
    #expect(subject.look(now: 5, atFirstSight: false, recheck: true) == .resumed)
    #expect(!subject.takeMark())
    subject.resumed.set()
    try subject.end.wait("the thread's end")
  }

  @Test func `at first sight when asked for, and the thread takes the mark back`() throws {
    let subject = try start()
    try eventually("the thread to sleep") { subject.watched.report.isBlocked }
    #expect(subject.look(now: 1, atFirstSight: true, recheck: true) == .blocked)
    #expect(subject.takeMark())
    #expect(!subject.takeMark())
    subject.release.open()
    subject.resumed.set()
    try subject.end.wait("the thread's end")
  }

  @Test func `one that says so, or runs no job, is not marked`() throws {
    let subject = try start()
    try eventually("the thread to sleep") { subject.watched.report.isBlocked }
    #expect(subject.announce())
    #expect(!subject.announce())
    #expect(subject.look(now: 1, atFirstSight: true, recheck: true) == .none)
    subject.retract()
    #expect(subject.announce())
    subject.retract()
    subject.watched.becomeBusy(false)
    #expect(subject.look(now: 2, atFirstSight: true, recheck: true) == .none)
    subject.release.open()
    subject.resumed.set()
    try subject.end.wait("the thread's end")
  }
}
