import CPlatform
import OperationCore
import OperationJobs
import Primitives
import Synchronization
import VirtualScheduling

// Waiting for a turn, on threads of the backend and on threads of others.

extension Driver {
  /// Whether the calling thread runs a job of the backend, and not the body of an asynchronous test.
  var isInJob: Bool { currentCarrier?.strand?.isOfTest == false }

  /// Returns when the condition holds and it is the caller's turn.
  /// - Parameters:
  ///   - givesPlace: inside a job, whether another virtual worker may take the place of the job's meanwhile.
  ///   - whenQuiet: called when nothing can happen.
  func wait(for condition: Condition, givesPlace: Bool, whenQuiet: (() -> Void)? = nil) {
    threads.checkNotForked()
    OwedReferences.settle()
    if let carrier = currentCarrier, let strand = carrier.strand {
      let waiter = Waiter(condition, strand: strand, seat: carrier.seat)
      waiter.whenQuiet = whenQuiet
      wait(strand, on: carrier, as: waiter, givesPlace: givesPlace)
    } else {
      waitAsGuest(for: condition, whenQuiet)
    }
  }

  private func wait(_ strand: Strand, on carrier: Carrier, as waiter: Waiter, givesPlace: Bool) {
    lock.lock()
    let isAdrift = strand.isAdrift
    strand.visits += 1
    if isAdrift { lock.state.work.endAdrift(strand) }
    // A strand that was left to itself while it computed still has its place.
    if givesPlace { givePlace(of: strand) }
    lock.state.records.add(lock.state.pool.now, strand, waiter.condition.inWords)
    enter(waiter)
    let announced = carrier.watched.announce()
    var outcome = Outcome.handedOn
    if isAdrift {
      stir()
    } else {
      lock.state.baton.holder = .driver
      outcome = chooseSteps(seat: carrier.seat, for: waiter)
    }
    lock.unlock()
    if case .handedOn = outcome { sleepUntilTurn(waiter, carrier.seat) }
    if announced { carrier.watched.retract() }
    armMonitor()
  }

  private func waitAsGuest(for condition: Condition, _ whenQuiet: (() -> Void)?) {
    let seat = Seat()
    let waiter = Waiter(condition, seat: seat)
    waiter.whenQuiet = whenQuiet
    lock.lock()
    if lock.state.ending.isOver {
      lock.unlock()
      return waitForOthers(condition)
    }
    enter(waiter)
    var outcome = Outcome.handedOn
    if case .nobody = lock.state.baton.holder {
      lock.state.baton.holder = .driver
      outcome = chooseSteps(seat: seat, for: waiter)
    } else {
      stir()
    }
    lock.unlock()
    if case .handedOn = outcome { sleepUntilTurn(waiter, seat) }
  }

  private func sleepUntilTurn(_ waiter: Waiter, _ seat: Seat) {
    while !waiter.hasTurn.load(ordering: .acquiring) { seat.parker.park() }
  }

  /// After `shutdown()` the backend runs nothing: only others can make the condition true.
  private func waitForOthers(_ condition: Condition) {
    guard case .holds(let holds) = condition else { return }
    while !holds() { Seat().parker.park(timeoutNanoseconds: Quiet.longestPause) }
  }

  /// Called under `lock`.
  private func enter(_ waiter: Waiter) {
    if waiter.isGuest { lock.state.waits.guestEnters(waiter) }
    switch waiter.condition {
    case .turn: makeReady(waiter)
    case .holds: lock.state.waits.forConditions.append(waiter)
    case .time(let time): makeReady(waiter, at: time)
    case .rest: lock.state.waits.forRest.append(waiter)
    }
  }

  // MARK: - Tasks

  /// A task waits. The driver calls `waiter.resume`.
  /// - Returns: false when the backend has ended.
  func enterTask(_ waiter: Waiter) -> Bool {
    threads.checkNotForked()
    return lock.withLock {
      if lock.state.ending.isOver { return false }
      enter(waiter)
      stir()
      return true
    }
  }

  /// A task waits for an operation: jobs run meanwhile.
  func beginTaskWait() {
    threads.checkNotForked()
    lock.withLock {
      lock.state.waits.countTask(1)
      if !lock.state.ending.isOver { stir() }
    }
  }

  func endTaskWait() { lock.withLock { lock.state.waits.countTask(-1) } }

  /// As `beginTaskWait`. The submit that follows stirs.
  func expectTaskJob() {
    threads.checkNotForked()
    lock.withLock { lock.state.waits.countTask(1) }
  }

  func lookAgain() { lock.withLock { if !lock.state.ending.isOver { stir() } } }

  // MARK: - The body of an asynchronous test

  /// A strand waits for something outside that mostly ends by itself, with the baton: the monitor counts the wait only
  /// when it has lasted as long as a body may compute.
  func pauseForOthers(since start: UInt64) {
    Seat().parker.park(timeoutNanoseconds: 100_000)
    guard cplatform_now_ns() - start < Self.patienceWithComputing * patience else { return }
    lock.withLock { currentCarrier?.strand?.visits += 1 }
  }

  /// How the seed chooses from now on.
  func setOrder(_ order: TaskOrder) {
    guard case .priorities(let changes) = order else { return }
    guard 0...1_000 ~= changes else {
      fatalError("Operations: the order of a seeded test has 0 to 1,000 changes of priorities, not \(changes)")
    }
    lock.withLock { lock.state.pool.order = PriorityOrder(changes: changes, &lock.state.pool.choices) }
  }

  /// Cancels the body of a test, as a part of the test: so what handlers hand over belongs to the test, too.
  func cancelBody(_ cancel: @escaping @Sendable () -> Void) {
    lock.withLock { lock.state.test.steps = 0 }
    goOnWithTest(Job(cancel), as: "the test is cancelled", mayPause: false)
  }

  /// The body begins, or has ended.
  func setTest(isUnderWay: Bool) {
    lock.withLock {
      lock.state.test.isUnderWay = isUnderWay
      if lock.state.test.isGuest {
        lock.state.test.isGuest = false
        lock.state.waits.countTask(-1)
      }
      if !isUnderWay { dropSleeps() }
    }
    if isUnderWay { armMonitor() }
  }

  /// The body, or a child task of it, may go on: as a strand, so that nothing else goes on meanwhile.
  /// - Parameters:
  ///   - label: what goes on, asked for where steps are recorded.
  ///   - lane: the same as a number, asked for where the seed chooses by priorities.
  ///   - delay: how long the part sleeps first, in nanoseconds.
  ///   - mayPause: whether the part may be one of a task that polls.
  func goOnWithTest(
    _ job: Job, as label: @autoclosure () -> String, lane: @autoclosure () -> UInt32 = 0, after delay: Int64 = 0,
    mayPause: Bool = true
  ) {
    threads.checkNotForked()
    lock.lock()
    let isEndless = seeded != nil && lock.state.test.countPart(at: lock.state.pool.now)
    // A task that polls would hold the clock, and wait for ever for one that sleeps.
    let isPolling = seeded != nil && mayPause && lock.state.test.isUnderWay && lock.state.test.isPolling
    let delay = isPolling ? max(delay, DriverState.Test.pollingPause) : delay
    if lock.state.ending.isOver {
      lock.unlock()
      return runBesideAll(job)
    }
    // Such a task stays suspended for ever: it sleeps, or polls.
    if !lock.state.test.isUnderWay, delay > 0 || lock.state.test.polledBehindEnd { return lock.unlock() }
    let part = DriverState.Part(job: job, label: lock.state.records.isOn ? label() : "", isPause: isPolling)
    if lock.state.test.isGuest { lock.state.test.isGuest = false } else { lock.state.waits.countTask(1) }
    let timer = lock.state.pool.schedule(
      at: VirtualTime.after(lock.state.pool.now, max(0, delay)), lane: lock.state.pool.order == nil ? 0 : lane())
    if delay > 0 {
      lock.state.waits.timers[timer] = .sleep(part)
    } else {
      lock.state.test.parts += 1
      lock.state.work.jobs += 1
      lock.state.waits.timers[timer] = .test(part)
    }
    stir()
    lock.unlock()
    if isEndless { seeded?.end(.hasNoEnd) }
  }

  /// Called under `lock`. The test has ended: a task that sleeps stays suspended for ever, as one that a process leaves
  /// behind. A pause for the sake of others is over.
  private func dropSleeps() {
    for number in lock.state.waits.timers.keys.sorted() {
      guard case .sleep(let part)? = lock.state.waits.timers[number] else { continue }
      lock.state.pool.cancel(timer: number)
      lock.state.waits.timers[number] = nil
      if part.isPause {
        lock.state.test.parts += 1
        lock.state.work.jobs += 1
        lock.state.waits.timers[lock.state.pool.schedule(at: lock.state.pool.now)] = .test(part)
      } else {
        lock.state.waits.countTask(-1)
      }
    }
  }

  /// A task waits no longer, unless it has its turn already.
  func cancelTask(_ waiter: Waiter) {
    lock.lock()
    guard let timer = waiter.timer, !waiter.hasTurn.load(ordering: .relaxed) else { return lock.unlock() }
    lock.state.pool.cancel(timer: timer)
    lock.state.waits.timers[timer] = nil
    waiter.timer = nil
    if waiter.isGuest { lock.state.waits.guestLeaves(waiter) }
    lock.unlock()
    waiter.resume?(true)
  }

  // MARK: - Announced blocking

  /// The calling thread blocks in something that the backend does not know.
  func whileBlocked(_ body: () -> Void) {
    if let strand = currentCarrier?.strand {
      lock.withLock { if !strand.isAdrift { setAdrift(strand, givesPlace: true) } }
    }
    body()
  }

  // MARK: - The end

  /// Refuses further jobs from outside. The threads end when all jobs have ended.
  func stop() {
    lock.lock()
    lock.state.ending.isStopping = true
    if case .nobody = lock.state.baton.holder, finishStopping() {
      // Nothing was left.
    } else {
      stir()
    }
    lock.unlock()
  }

  /// An operation has ended that went on after its start. The backend may have waited for that alone.
  func countEnded() {
    threads.begun.end()
    lock.withLock { if lock.state.ending.isStopping { stir() } }
  }

  /// After a test that has failed: as `stop`, but what waits is given up when nothing can happen any more.
  /// - Parameter reason: why the test has failed. A line tells the reason when something is left to run: whatever that
  ///   does, the reason is known.
  func stopAfterFailure(_ reason: () -> String) {
    let left = lock.withLock {
      lock.state.ending.mayGiveUp = true
      // The test's last part may not have returned yet.
      return lock.state.work.jobs - lock.state.test.parts
    }
    if left > 0 {
      let line = "Operations: deterministic: \(reason()). Jobs that are left, and run now: \(left)"
      line.withCString { cplatform_print_error($0) }
    }
    stop()
    // The threads that were given up never end.
    while !threads.isEmpty, !lock.withLock({ lock.state.ending.gaveUp }) {
      Seat().parker.park(timeoutNanoseconds: Quiet.longestPause / 10)
    }
  }

  /// A seeded test has ended. What tasks that it left behind still add is dropped.
  func dropLateJobs() { lock.withLock { lock.state.ending.gaveUp = true } }

  /// Called under `lock`, with the baton. Nothing can happen any more, and a test that has failed does not wait for it.
  /// The strands that wait keep their threads for ever: a wait that returned without its condition would be wrong.
  func giveUp() {
    let waiting = lock.state.waits.forConditions.count { $0.strand != nil }
    var text = "Operations: deterministic: the test has failed, and nothing can happen any more. Bodies given"
    text += " up: \(waiting) that wait, \(lock.state.work.adrift.count) left to themselves"
    text.withCString { cplatform_print_error($0) }
    lock.state.ending.gaveUp = true
    MainActorTurn.giveUp(for: self)
    endAll()
  }

  /// Called under `lock`, gives it up meanwhile. When all jobs have ended, and all operations that have begun: tasks
  /// and guests go on, timers are dropped, and all threads end.
  /// - Returns: whether this is the end.
  func finishStopping() -> Bool {
    guard lock.state.work.jobs == 0, threads.begun.isNone || lock.state.ending.mayGiveUp, !lock.state.ending.isOver
    else {
      return lock.state.ending.isOver
    }
    endAll()
    return true
  }

  /// Called under `lock`, gives it up meanwhile. Nothing runs any more. Strands that wait go on waiting.
  private func endAll() {
    lock.state.ending.isOver = true
    lock.state.baton.holder = .nobody
    var left = lock.state.waits.forConditions + lock.state.waits.forRest
    var dropped: [@Sendable () -> Void] = []
    for (_, timer) in lock.state.waits.timers.sorted(by: { $0.key < $1.key }) {
      switch timer {
      case .turn(let waiter): left.append(waiter)
      case .block(let block): dropped.append(block)
      case .question, .test, .sleep: break
      }
    }
    (lock.state.waits.forConditions, lock.state.waits.forRest, lock.state.waits.timers) = ([], [], [:])
    left.removeAll { $0.strand != nil }
    for waiter in left {
      waiter.timer = nil
      waiter.forgetCondition()
      waiter.hasTurn.store(true, ordering: .releasing)
      waiter.seat?.parker.unpark()
    }
    for carrier in lock.state.carriers.idle {
      carrier.order = .end
      carrier.seat.parker.unpark()
    }
    lock.state.carriers.idle = []
    threads.monitor.stop()
    lock.unlock()
    for waiter in left { waiter.resume?(true) }
    // What the blocks captured goes here, without the lock.
    dropped = []
    lock.lock()
  }
}
