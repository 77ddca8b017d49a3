import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// The thread that lets alarms go off. It sleeps until the first one, or until a job comes.
final class AlarmThread: TaskExecutor, @unchecked Sendable {
  // Sendable: everything is touched under the lock. Only the thread itself parks.

  static let shared = AlarmThread()

  /// The kernel's time-outs do not count while the system is suspended, and `ContinuousClock` does: the thread looks at
  /// that clock as often as this.
  private static let longestSleep: Int64 = 60_000_000_000

  private let lock = FutexLock()
  private let parker = Parker()
  private var continuous = AlarmHeap()
  private var suspending = AlarmHeap()
  /// Of tasks that sleep on clocks of others.
  private var jobs: [UnownedJob] = []
  private var isStarted = false
  private var isAsleep = false

  private let continuousStart = ContinuousClock.now
  private let suspendingStart = SuspendingClock.now

  func add(_ alarm: Alarm, at instant: ContinuousClock.Instant) {
    let time = continuousStart.duration(to: instant).nanosecondsUp
    change { continuous.insert(alarm, at: time) }
  }

  func add(_ alarm: Alarm, at instant: SuspendingClock.Instant) {
    let time = suspendingStart.duration(to: instant).nanosecondsUp
    change { suspending.insert(alarm, at: time) }
  }

  func add(_ alarm: Alarm, afterNanoseconds delay: Int64, countsSuspended: Bool) {
    // Far enough: some 73 years.
    let delay = min(delay, Int64.max / 4)
    change {
      countsSuspended
        ? continuous.insert(alarm, at: continuousNow + delay) : suspending.insert(alarm, at: suspendingNow + delay)
    }
  }

  private var continuousNow: Int64 { continuousStart.duration(to: .now).nanosecondsUp }
  private var suspendingNow: Int64 { suspendingStart.duration(to: .now).nanosecondsUp }

  func remove(_ alarm: Alarm) {
    lock.withLock {
      if continuous.contains(alarm) {
        continuous.remove(alarm)
      } else if suspending.contains(alarm) {
        suspending.remove(alarm)
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    change {
      jobs.append(job)
      return true
    }
  }

  /// - Parameter body: returns whether the thread has something to do earlier than before.
  private func change(_ body: () -> Bool) {
    let (wakes, starts) = lock.withLock {
      let isEarlier = body()
      defer { isStarted = true }
      return (isEarlier && isAsleep, !isStarted)
    }
    if starts { start() }
    if wakes { parker.unpark() }
  }

  /// - Returns: false where the system refuses the thread.
  func startNow() -> Bool {
    let starts = lock.withLock {
      defer { isStarted = true }
      return !isStarted
    }
    if !starts || startThread() { return true }
    lock.withLock { isStarted = false }
    return false
  }

  private func startThread() -> Bool { PlatformThread.start(name: "op-alarm") { self.run() } }

  private func start() {
    if startThread() { return }
    printError("the system refuses the thread that ends waits; it is tried again")
    Task.detached {
      repeat {
        try? await Task.sleep(for: .milliseconds(10))
      } while !self.startThread()
    }
  }

  private func run() {
    while true {
      let (due, jobs, timeout) = takeWork()
      // The alarms first: jobs are code of a user's clock.
      for alarm in due { alarm.goOff() }
      for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
      if let timeout {
        parker.park(timeoutNanoseconds: timeout)
        lock.withLock { isAsleep = false }
      }
    }
  }

  /// - Returns: what is to be done now, or else how long the thread sleeps.
  private func takeWork() -> (due: [Alarm], jobs: [UnownedJob], timeout: Int64?) {
    lock.withLock {
      let (now, suspendingNow) = (continuousNow, suspendingNow)
      let due = continuous.takeDue(now) + suspending.takeDue(suspendingNow)
      defer { jobs = [] }
      if !due.isEmpty || !jobs.isEmpty { return (due, jobs, nil) }
      isAsleep = true
      var timeout = Int64(-1)
      if let first = continuous.first { timeout = min(first - now, Self.longestSleep) }
      if let first = suspending.first {
        timeout = timeout < 0 ? first - suspendingNow : min(timeout, first - suspendingNow)
      }
      return ([], [], timeout)
    }
  }
}

/// Alarms by their time: a binary heap in which each alarm knows its place, so that one that is cancelled goes in O(log
/// n).
struct AlarmHeap {
  /// What an alarm knows of its place. Belongs to the heap.
  struct Entry {
    fileprivate var place = -1
    fileprivate var time: Int64 = 0
  }

  private var alarms: [Alarm] = []

  /// The earliest time.
  var first: Int64? { alarms.first?.entry.time }

  func contains(_ alarm: Alarm) -> Bool {
    alarms.indices.contains(alarm.entry.place) && alarms[alarm.entry.place] === alarm
  }

  /// - Returns: whether the alarm is the first one now.
  mutating func insert(_ alarm: Alarm, at time: Int64) -> Bool {
    alarm.entry = Entry(place: alarms.count, time: time)
    alarms.append(alarm)
    rise(from: alarms.count - 1)
    return alarm.entry.place == 0
  }

  mutating func remove(_ alarm: Alarm) {
    let place = alarm.entry.place
    alarm.entry.place = -1
    let last = alarms.removeLast()
    guard last !== alarm else { return }
    put(last, at: place)
    rise(from: place)
    sink(from: last.entry.place)
  }

  /// - Returns: the alarms whose time has come, the earliest first.
  mutating func takeDue(_ now: Int64) -> [Alarm] {
    var due: [Alarm] = []
    while let alarm = alarms.first, alarm.entry.time <= now {
      due.append(alarm)
      remove(alarm)
    }
    return due
  }

  private mutating func put(_ alarm: Alarm, at place: Int) {
    alarms[place] = alarm
    alarm.entry.place = place
  }

  private mutating func rise(from start: Int) {
    let alarm = alarms[start]
    var place = start
    while place > 0, case let parent = (place - 1) / 2, alarms[parent].entry.time > alarm.entry.time {
      put(alarms[parent], at: place)
      place = parent
    }
    put(alarm, at: place)
  }

  private mutating func sink(from start: Int) {
    let alarm = alarms[start]
    var place = start
    while case var child = 2 * place + 1, child < alarms.count {
      if child + 1 < alarms.count, alarms[child + 1].entry.time < alarms[child].entry.time { child += 1 }
      if alarms[child].entry.time >= alarm.entry.time { break }
      put(alarms[child], at: place)
      place = child
    }
    put(alarm, at: place)
  }
}

extension Duration {
  /// Two of this many nanoseconds can be subtracted.
  private static var furthest: Int128 { Int128(Int64.max / 4) }

  /// Rounded up, so that nothing comes too early.
  var nanosecondsUp: Int64 {
    let (whole, rest) = attoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    return Int64(max(-Self.furthest, min(Self.furthest, whole + (rest > 0 ? 1 : 0))))
  }
}
