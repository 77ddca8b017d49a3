import Primitives
import TestSupport
import Testing

/// The decisions, as pure functions.
@Suite struct BlockingMonitorDecisionTests {
  /// Places after each look at a pool with two workers.
  private func places(_ looks: [(active: Int, isNeeded: Bool)], blocked: Int = 1, asleep: [Int] = []) -> [Int] {
    var bonus = BlockingMonitor.Bonus()
    return looks.enumerated().map { number, look in
      bonus.look(
        active: look.active, blocked: blocked, isNeeded: look.isNeeded, workerCount: 2,
        asleep: number < asleep.count ? asleep[number] : 0)
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
    #expect(places([(1, true), (1, true)], blocked: 0, asleep: [1, 1]) == [0, 2])
  }

  @Test func `threads that sleep unmarked do not compute, as long as all of them do`() {
    #expect(places([(1, true), (1, true), (2, true), (2, true)], asleep: [1, 1, 2, 1]) == [0, 2, 6, 0])
    #expect(places([(2, true), (2, true)], asleep: [1, 1]) == [0, 0])
    #expect(places([(1, false), (1, true)], asleep: [1, 1]) == [0, 0])
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
      now: UInt64, atFirstSight: Bool = false, recheck: Bool = true, someComputes: Bool = false,
      between: () -> Void = {}
    ) -> WatchedThread.Sight {
      let seen = watched.observe(now: now, atFirstSight: atFirstSight, recheck: recheck, someComputes: someComputes)
      between()
      let sight = watched.confirm(seen)
      if sight == .blocked { watched.mark() }
      return sight
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

  @Test func `one that sleeps a millisecond after the first look at the same job is blocked, once`() throws {
    let subject = try startAsleep()
    let later = 1 + Self.millisecond
    #expect(subject.look(now: 1) == .asleep)
    #expect(subject.look(now: later) == .blocked)
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

  @Test func `two looks that come at once do not make a short sleep a blocked body`() throws {
    let subject = try startAsleep()
    #expect(subject.look(now: 1) == .asleep)
    #expect(subject.look(now: 2) == .asleep)
    #expect(subject.look(now: Self.millisecond) == .asleep)
    try end(subject)
  }

  @Test func `at first sight when asked for, and the thread takes the mark back`() throws {
    let subject = try startAsleep()
    #expect(subject.look(now: 1, atFirstSight: true) == .blocked)
    #expect(subject.takeMark())
    #expect(!subject.takeMark())
    try end(subject)
  }

  @Test func `where another computes, a job that has just begun counts as computing`() throws {
    let subject = try startAsleep()
    #expect(subject.look(now: 1, someComputes: true) == .computing)
    #expect(subject.look(now: 1 + Self.millisecond, someComputes: true) == .blocked)
    try end(subject)
  }

  @Test func `what changes before the pool has its lock, counts`() throws {
    let subject = try startAsleep()
    #expect(subject.look(now: 1, atFirstSight: true) { subject.watched.beginJob() } == .computing)
    #expect(subject.look(now: 2, atFirstSight: true) { subject.watched.becomeBusy(false) } == .uncounted)
    subject.watched.becomeBusy(true)
    #expect(subject.look(now: 3, atFirstSight: true) { _ = subject.announce() } == .uncounted)
    subject.retract()
    #expect(!subject.takeMark())
    // A thread that takes its own mark back is not counted back twice.
    #expect(subject.look(now: 4, atFirstSight: true) == .blocked)
    subject.release.open()
    try eventually("the thread to run") { !subject.watched.report.isBlocked }
    #expect(subject.look(now: 5) { _ = subject.takeMark() } == .computing)
    try end(subject)
  }

  @Test func `one that says so, or runs no job, is not marked`() throws {
    let subject = try startAsleep()
    #expect(subject.announce())
    #expect(!subject.announce())
    #expect(subject.look(now: 1, atFirstSight: true) == .uncounted)
    subject.retract()
    #expect(subject.announce())
    subject.retract()
    subject.watched.becomeBusy(false)
    #expect(subject.look(now: 2, atFirstSight: true) == .uncounted)
    try end(subject)
  }

  @Test func `a survey counts who sleeps, until one computes`() throws {
    let subjects = try (0..<3).map { _ in try startAsleep() }
    /// Who sleeps, after `change`, which comes between the sights and the lock.
    func asleep(_ change: () -> Void = {}) -> Int {
      var survey = BlockingMonitor.Survey(atFirstSight: false, recheck: true)
      for subject in subjects { survey.observe(subject.watched) }
      change()
      for subject in subjects { survey.settle(subject.watched) { _ in } }
      return survey.asleep
    }
    for subject in subjects { subject.watched.beginJob() }
    #expect(asleep() == 3)
    for subject in subjects { subject.watched.beginJob() }
    #expect(asleep { subjects[1].watched.becomeBusy(false) } == 2)
    for subject in subjects { subject.watched.beginJob() }
    #expect(asleep { subjects[2].watched.beginJob() } == 0)
    for subject in subjects { subject.watched.beginJob() }
    subjects[0].release.open()
    try eventually("the first thread to run") { !subjects[0].watched.report.isBlocked }
    #expect(asleep() == 0)
    for subject in subjects { try end(subject) }
  }
}
