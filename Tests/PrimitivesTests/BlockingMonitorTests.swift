import Primitives
import TestSupport
import Testing

/// The decisions, as pure functions.
@Suite struct BlockingMonitorDecisionTests {
  /// Places after each look at a pool with two workers.
  private func places(_ looks: [(active: Int, isNeeded: Bool)], blocked: Int = 1, undecided: [Int] = []) -> [Int] {
    var bonus = BlockingMonitor.Bonus()
    return looks.enumerated().map { number, look in
      bonus.look(
        active: look.active, blocked: blocked, isNeeded: look.isNeeded, workerCount: 2,
        undecided: number < undecided.count ? undecided[number] : 0)
      return bonus.places
    }
  }

  @Test func `no bonus while a thread computes, or while nothing is queued`() {
    #expect(places([(1, true), (2, true), (0, false)]) == [0, 0, 0])
  }

  @Test func `all blocked again and again: twice as many each time`() {
    #expect(places(Array(repeating: (0, true), count: 5)) == [0, 2, 6, 14, 30])
  }

  @Test func `no bonus where all threads sleep for want of a job, and one has just come`() {
    #expect(places([(0, true), (0, true), (0, true)], blocked: 0) == [0, 0, 0])
  }

  @Test func `a look that cannot decide about any thread changes nothing`() {
    let looks = [(0, true), (0, true), (2, true), (2, true), (0, true)]
    #expect(places(looks, undecided: [0, 0, 2, 2, 0]) == [0, 2, 2, 2, 6])
    // One thread is neither blocked nor about to be.
    #expect(places(looks, undecided: [0, 0, 1, 2, 0]) == [0, 2, 0, 0, 0])
    #expect(places([(0, true), (0, true), (2, false)], undecided: [0, 0, 2]) == [0, 2, 0])
    // Threads that begin one job after the other, and sleep at each look, never make room for others.
    #expect(
      places(Array(repeating: (2, true), count: 20), undecided: Array(repeating: 2, count: 20)).allSatisfy { $0 == 0 })
  }

  @Test
  func `as many as there are workers are blocked after a millisecond, others later if they may be passing a lock on`() {
    func milliseconds(blocked: Int, mayBePassing: Bool) -> Int {
      Int(BlockingMonitor.patience(blocked: blocked, workerCount: 2, mayBePassing: mayBePassing) / 1_000_000)
    }
    #expect((0...2).map { milliseconds(blocked: $0, mayBePassing: true) } == [1, 1, 16])
    #expect((0...2).map { milliseconds(blocked: $0, mayBePassing: false) } == [1, 1, 1])
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
    /// What a pool does at a look; `between` comes after the sight and before the pool has its lock.
    func look(
      now: UInt64, recheck: Bool = true, someComputes: Bool = false, between: () -> Void = {}
    ) -> WatchedThread.Sight {
      let seen = watched.observe(now: now, recheck: recheck, someComputes: someComputes)
      between()
      return watched.confirm(seen)
    }
    func mark() { watched.mark() }
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

  private static let millisecond = UInt64(BlockingMonitor.firstInterval)

  /// In one job, asleep in the kernel.
  private func startAsleep() throws -> Subject {
    let subject = try start()
    try eventually("the thread to sleep") { subject.watched.report.isBlocked }
    return subject
  }

  private func end(_ subject: Subject) throws {
    subject.release.open()
    subject.resumed.set()
    try subject.end.wait("the thread's end")
  }

  @Test func `for how long a thread has slept in a job, and the thread's mark`() throws {
    let subject = try startAsleep()
    let later = 1 + Self.millisecond
    #expect(subject.look(now: 1) == .asleep(since: 0))
    // Two looks may come at once.
    #expect(subject.look(now: 2) == .asleep(since: 1))
    #expect(subject.look(now: later) == .asleep(since: Self.millisecond))
    subject.mark()
    #expect(subject.look(now: later + 1) == .uncounted)
    #expect(subject.watched.report.since == 1)
    subject.release.open()
    try eventually("the thread to run") { !subject.watched.report.isBlocked }
    #expect(subject.look(now: later + 2, recheck: false) == .uncounted)
    #expect(subject.look(now: later + 3) == .resumed)
    #expect(subject.look(now: later + 4) == .computing)
    #expect(!subject.takeMark())
    try end(subject)
  }

  @Test func `the thread takes the mark back, once`() throws {
    let subject = try startAsleep()
    subject.mark()
    #expect(subject.takeMark())
    #expect(!subject.takeMark())
    try end(subject)
  }

  @Test func `one that ends jobs between the looks computes, even if every look finds it asleep`() throws {
    let subject = try startAsleep()
    #expect(subject.look(now: 1) == .asleep(since: 0))
    for round in 1...20 as ClosedRange<UInt64> {
      subject.watched.beginJob()
      subject.watched.beginJob()
      #expect(subject.look(now: 1 + round * 20 * Self.millisecond) == .computing)
    }
    // The next job after the one that the last look saw may be the first that blocks.
    subject.watched.beginJob()
    #expect(subject.look(now: 500 * Self.millisecond) == .asleep(since: 0))
    #expect(subject.look(now: 501 * Self.millisecond) == .asleep(since: Self.millisecond))
    try end(subject)
  }

  @Test func `where another computes, a job that has just begun counts as computing`() throws {
    let subject = try startAsleep()
    #expect(subject.look(now: 1, someComputes: true) == .computing)
    #expect(subject.look(now: 1 + Self.millisecond, someComputes: true) == .asleep(since: Self.millisecond))
    try end(subject)
  }

  @Test func `what changes before the pool has its lock, counts`() throws {
    let subject = try startAsleep()
    #expect(subject.look(now: 1) { subject.watched.beginJob() } == .computing)
    #expect(subject.look(now: 2) { subject.watched.becomeBusy(false) } == .uncounted)
    subject.watched.becomeBusy(true)
    #expect(subject.look(now: 3) { _ = subject.announce() } == .uncounted)
    subject.retract()
    #expect(!subject.takeMark())
    // A thread that takes its own mark back is not counted back twice.
    subject.mark()
    subject.release.open()
    try eventually("the thread to run") { !subject.watched.report.isBlocked }
    #expect(subject.look(now: 5) { _ = subject.takeMark() } == .computing)
    try end(subject)
  }

  @Test func `one that says so, or runs no job, is not asleep`() throws {
    let subject = try startAsleep()
    #expect(subject.announce())
    #expect(!subject.announce())
    #expect(subject.look(now: 1) == .uncounted)
    subject.retract()
    #expect(subject.announce())
    subject.retract()
    subject.watched.becomeBusy(false)
    #expect(subject.look(now: 2) == .uncounted)
    try end(subject)
  }

  @Test func `a survey counts who may block, until one computes`() throws {
    let subjects = try (0..<3).map { _ in try startAsleep() }
    /// About whom nothing is decided, after `change`, which comes between the sights and the lock.
    func undecided(_ change: () -> Void = {}) -> Int {
      var survey = BlockingMonitor.Survey(recheck: true)
      for subject in subjects { survey.observe(subject.watched) }
      survey.conclude(blocked: 0, workerCount: 3)
      change()
      for subject in subjects {
        survey.settle(subject.watched) { _ in Issue.record("a thread was marked at first sight") }
      }
      return survey.undecided
    }
    for subject in subjects { subject.watched.beginJob() }
    #expect(undecided() == 0, "each has ended a job that no look has seen")
    for subject in subjects { subject.watched.beginJob() }
    #expect(undecided() == 3)
    for subject in subjects { subject.watched.beginJob() }
    #expect(undecided { subjects[1].watched.becomeBusy(false) } == 2)
    for subject in subjects { subject.watched.beginJob() }
    #expect(undecided { subjects[2].watched.beginJob() } == 0)
    for subject in subjects { subject.watched.beginJob() }
    subjects[0].release.open()
    try eventually("the first thread to run") { !subjects[0].watched.report.isBlocked }
    #expect(undecided() == 0)
    for subject in subjects { try end(subject) }
  }

  @Test func `a survey marks as many as there are workers, and further ones later where others go on`() throws {
    let subjects = try (0..<5).map { _ in try startAsleep() }
    var blocked = 0
    func marks(at now: UInt64) -> Int {
      var survey = BlockingMonitor.Survey(now: now, recheck: false)
      for _ in 0..<2 { subjects[4].watched.beginJob() }
      for subject in subjects { survey.observe(subject.watched) }
      survey.conclude(blocked: blocked, workerCount: 2)
      for subject in subjects { survey.settle(subject.watched) { blocked += $0 } }
      return survey.marksAdded
    }
    // Four have slept in one job since the first look. The fifth ends jobs.
    #expect([1, 2, 3, 16, 17, 18].map { marks(at: $0 * Self.millisecond) } == [0, 2, 0, 0, 2, 0])
    for subject in subjects { try end(subject) }
  }
}
