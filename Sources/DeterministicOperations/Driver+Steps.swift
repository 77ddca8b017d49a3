import CPlatform
import OperationCore
import OperationJobs
import Primitives
import VirtualScheduling

// Choosing what happens next, with the baton in hand.

extension Driver {
  /// How `chooseSteps` ends.
  enum Outcome {
    /// It is the caller's turn.
    case turn
    /// The caller runs this strand, which has the baton.
    case begin(Strand)
    /// The baton is elsewhere.
    case handedOn
  }

  /// Called under `lock`, with the baton, on a thread that waits or that has nothing on its stack. Gives the lock up
  /// while conditions are looked at, and while nothing can happen.
  /// - Parameters:
  ///   - seat: where the calling thread sleeps.
  ///   - caller: what the calling thread waits for; nil for a carrier that may run a strand.
  func chooseSteps(seat: Seat, for caller: Waiter?) -> Outcome {
    var quiet = Quiet()
    while true {
      // In a seeded test what holds now is due, and permits the next step.
      if isOfSeededTest { lookAtConditions() }
      guard isPermitted else {
        lock.state.baton.holder = .nobody
        return .handedOn
      }
      if !isOfSeededTest { lookAtConditions() }
      if let step = lock.state.pool.next(until: timeLimit) {
        quiet = Quiet()
        switch step {
        case .run(let worker, let word):
          return begin(strand(of: Job(word: word), worker: worker), for: caller)
        case .timer(let timer):
          switch lock.state.waits.timers.removeValue(forKey: timer) {
          case .turn(let waiter):
            if let outcome = giveTurn(waiter, for: caller) { return outcome }
          case .question(let job): return begin(strand(of: job, worker: nil), for: caller)
          case .test(let part): return begin(strand(of: part), for: caller)
          case .sleep(let part):
            lock.state.work.jobs += 1
            lock.state.test.parts += 1
            return begin(strand(of: part), for: caller)
          case .block(let block):
            lock.state.work.jobs += 1
            return begin(strand(of: Job(block), worker: nil), for: caller)
          case nil: break
          }
        case .ended: break
        }
        continue
      }
      if wakeResting() { continue }
      if lock.state.ending.isStopping, finishStopping() { return .handedOn }
      if lock.state.ending.mayGiveUp, quiet.total >= patience {
        giveUp()
        return .handedOn
      }
      sleep(seat, &quiet)
    }
  }

  /// A time without a step, in nanoseconds.
  struct Quiet {
    /// How long to sleep before the next look at the conditions.
    var pause: Int64 = 1_000_000
    var total: UInt64 = 0

    static let longestPause: Int64 = 10_000_000
    /// After so long a line says what keeps a test waiting.
    static let suspicious = 5_000_000_000
  }

  // MARK: - Strands

  /// May give the lock up for a moment.
  private func strand(of job: Job, worker: Int?) -> Strand {
    if isOfSeededTest, lock.state.test.countStep(), let seeded {
      lock.unlock()
      seeded.end(.hasNoEnd)
      lock.lock()
    }
    let strand = lock.state.work.newStrand(of: job, worker: worker, isOfTest: false)
    lock.state.records.add(lock.state.pool.now, strand, "begins \(job.stepLabel)")
    return strand
  }

  private func strand(of part: DriverState.Part) -> Strand {
    let strand = lock.state.work.newStrand(of: part.job, worker: nil, isOfTest: true)
    lock.state.records.add(lock.state.pool.now, strand, "\(part.label) goes on")
    return strand
  }

  private func begin(_ strand: Strand, for caller: Waiter?) -> Outcome {
    hold(strand)
    if caller == nil { return .begin(strand) }
    // The stack of a thread that waits is not free. Where the system has no thread to give, it is tried again.
    while !send(.begin(strand)) {
      lock.unlock()
      Seat().parker.park(timeoutNanoseconds: Quiet.longestPause)
      lock.lock()
    }
    return .handedOn
  }

  /// The strand gets the baton, and sees the present time.
  private func hold(_ strand: Strand) {
    lock.state.baton.holder = .strand(strand)
    seeded?.showTime(lock.state.pool.now)
  }

  // MARK: - Turns

  /// Called under `lock`. The waiter goes on when its timer is chosen.
  /// - Parameter time: when at the earliest; nil: now.
  func makeReady(_ waiter: Waiter, at time: Int64? = nil) {
    waiter.forgetCondition()
    let timer = lock.state.pool.schedule(at: time ?? lock.state.pool.now)
    waiter.timer = timer
    lock.state.waits.timers[timer] = .turn(waiter)
  }

  private func giveTurn(_ waiter: Waiter, for caller: Waiter?) -> Outcome? {
    waiter.timer = nil
    guard let strand = waiter.strand else {
      if waiter.isGuest { lock.state.waits.guestLeaves(waiter) }
      lock.state.records.add(
        lock.state.pool.now, nil, waiter.isGuest ? "a thread outside goes on" : "a body that slept goes on")
      if waiter === caller {
        lock.state.baton.holder = .nobody
        stir()
        return .turn
      }
      waiter.hasTurn.store(true, ordering: .releasing)
      waiter.seat?.parker.unpark()
      if let resume = waiter.resume {
        lock.unlock()
        resume(false)
        lock.lock()
      }
      return nil
    }
    strand.visits += 1
    takePlace(of: strand)
    lock.state.records.add(lock.state.pool.now, strand, "goes on")
    hold(strand)
    if waiter === caller { return .turn }
    waiter.hasTurn.store(true, ordering: .releasing)
    waiter.seat?.parker.unpark()
    return .handedOn
  }

  /// Those whose condition holds become ready, in the order in which they began to wait.
  private func lookAtConditions() {
    guard !lock.state.waits.forConditions.isEmpty else { return }
    // The conditions are code of the library's and of users'. Nobody leaves the list meanwhile: only this thread gives
    // turns. Others may enter.
    let waiting = lock.state.waits.forConditions
    lock.unlock()
    let holding = waiting.map { waiter in
      if case .holds(let condition) = waiter.condition { condition() } else { true }
    }
    lock.lock()
    guard holding.contains(true) else { return }
    for (waiter, holds) in zip(waiting, holding) where holds { makeReady(waiter) }
    let entered = lock.state.waits.forConditions[waiting.count...]
    lock.state.waits.forConditions = zip(waiting, holding).filter { !$0.1 }.map(\.0) + entered
  }

  // MARK: - Time

  /// How far the clock may go by itself: not beyond the time at which a guest wants to go on, whatever others sleep
  /// for.
  private var timeLimit: Int64 {
    let now = lock.state.pool.now
    if lock.state.ending.isStopping { return lock.state.work.jobs > 0 || !threads.begun.isNone ? .max : now }
    let asked = lock.state.waits.forRest.compactMap { waiter in
      if case .rest(let time) = waiter.condition { time } else { nil }
    }
    if let nearest = asked.min() { return max(now, nearest) }
    return advancesByItself && (runsByItself || lock.state.waits.guestsWithTime > 0 || isOfSeededTest) ? .max : now
  }

  /// Nothing happens up to the limit of time: guests that wait for that get their turn, the nearest time first.
  private func wakeResting() -> Bool {
    // A body that was left to itself and computes will do something yet. One that blocks may wait for the guest.
    if lock.state.work.adrift.contains(where: \.computes) { return false }
    let next = lock.state.pool.nextTime
    var nearest: (index: Int, time: Int64)?
    for (index, waiter) in lock.state.waits.forRest.enumerated() {
      guard case .rest(let limit) = waiter.condition else { continue }
      let time = limit ?? lock.state.pool.now
      if let limit, let next, next <= limit { continue }
      if nearest.map({ time < $0.time }) ?? true { nearest = (index, time) }
    }
    guard let nearest else { return false }
    if nearest.time > lock.state.pool.now { lock.state.pool.advance(to: nearest.time) }
    makeReady(lock.state.waits.forRest.remove(at: nearest.index))
    return true
  }

  // MARK: - Sleeping for real

  /// Nothing can happen before somebody outside acts.
  private func sleep(_ seat: Seat, _ quiet: inout Quiet) {
    let quietCalls = lock.state.waits.forConditions.compactMap(\.whenQuiet)
    if !quietCalls.isEmpty {
      // As in `lookAtConditions`, nobody leaves the list meanwhile. What is called may run code of another backend.
      lock.unlock()
      for call in quietCalls { call() }
      lock.lock()
      // A job may have come, when nobody slept yet.
      if let next = lock.state.pool.nextTime, next <= timeLimit { return }
    }
    lock.state.baton.sleeper = seat
    let looksAgain = !lock.state.waits.forConditions.isEmpty
    let mayComplain = !runsByItself && !lock.state.hasComplained
    let mayGiveUp = lock.state.ending.mayGiveUp
    let time = looksAgain || mayGiveUp ? quiet.pause : mayComplain ? Int64(Quiet.suspicious) : -1
    lock.unlock()
    OwedReferences.settle()
    let start = cplatform_now_ns()
    let isStirred = seat.parker.park(timeoutNanoseconds: time)
    lock.lock()
    lock.state.baton.sleeper = nil
    if isStirred {
      quiet = Quiet()
      return
    }
    quiet.pause = min(2 * quiet.pause, Quiet.longestPause)
    let passed = cplatform_now_ns() &- start
    // After much more than that the whole process stood still.
    if passed < UInt64(max(0, time)) + Sight.late { quiet.total += passed }
    if quiet.total >= Quiet.suspicious, !mayGiveUp { complain(standstill) }
  }

  private var standstill: String {
    let (pool, waiting) = (lock.state.pool, lock.state.waits.forConditions)
    let inside = waiting.count { $0.strand != nil }
    var text = "nothing has run for 5 s: \(lock.state.waits.guests) outside and \(inside) inside wait"
    let adrift = lock.state.work.adrift.count
    if adrift > 0 { text += ", \(adrift) bodies are left to themselves" }
    if let next = pool.nextTime {
      text += "; the clock stands at \(Duration.nanoseconds(pool.now).inMilliseconds), and goes to "
      text += "\(Duration.nanoseconds(next).inMilliseconds) only with advance(by:) or run(until:)"
      if !advancesByItself { text += ", because advancesByItself is off" }
    }
    return text + ". Only a thread outside can end this."
  }
}
