import CPlatform
import OperationCore
import OperationJobs
import OperationTraceEvents
import Primitives
import Scheduling
import Synchronization
import VirtualScheduling

/// The threads of a deterministic backend, of which one goes on at a time. `README.md` here has the protocol.
final class Driver: @unchecked Sendable {
  // Sendable: the fields are constants, or guarded by `lock`. One thread touches `testSight`. `backend` is written
  // once, before anybody else knows the driver.

  let lock: Locked<DriverState>
  let threads: PoolThreads
  let runsByItself: Bool
  let advancesByItself: Bool
  /// For how long a body may sleep without the backend's knowledge before the baton is taken from it, in nanoseconds.
  let patience: UInt64
  nonisolated(unsafe) weak var backend: DeterministicBackend?
  /// The monitor's alone.
  var testSight = TestSight()
  /// The test whose tasks belong to the backend, all of them. Written once, before anybody else knows the driver.
  nonisolated(unsafe) var seeded: SeededTest?

  init(_ pool: VirtualPool, runsByItself: Bool, advancesByItself: Bool, patience: UInt64, records: Bool) {
    lock = Locked(DriverState(pool, records: records))
    threads = PoolThreads(
      poolName: "deterministic", monitorName: "op-watch", workers: WorkerNumber(pool.workerCount),
      limit: ThreadShortage.threadLimit)
    self.runsByItself = runsByItself
    self.advancesByItself = advancesByItself
    // So that ten times as much is a time as well.
    self.patience = min(patience, UInt64(VirtualTime.last) / 10)
  }

  /// The carrier that the calling thread is; nil on other threads.
  var currentCarrier: Carrier? { WorkerLocal.current(of: self, as: Carrier.self)?.takeUnretainedValue() }

  /// Called under `lock`. Whether jobs may run now.
  var isPermitted: Bool {
    runsByItself || lock.state.waits.guests > 0 || lock.state.ending.isStopping
      || isOfSeededTest && lock.state.pool.nextTime != nil
  }

  /// Called under `lock`. Whether all that happens belongs to a test, whose tasks may await anything: also what an
  /// operation or a timer resumes.
  var isOfSeededTest: Bool { seeded != nil && lock.state.test.isUnderWay }

  // MARK: - Submitting

  func submit(_ jobs: consuming JobFIFO) {
    threads.checkNotForked()
    let carrier = currentCarrier
    lock.lock()
    if lock.state.ending.isOver, carrier == nil {
      let isDropped = lock.state.ending.gaveUp
      lock.unlock()
      return isDropped ? drop(jobs) : refuse(jobs)
    }
    let worker = carrier?.strand?.worker
    lock.state.work.jobs += jobs.count
    if jobs.count == 1 {
      let job = jobs.popFirst()
      lock.state.pool.submit(job, level: Job(word: job).level, by: worker)
    } else {
      var list: [(job: UInt, level: Int)] = []
      while case let job = jobs.popFirst(), job != 0 { list.append((job, Job(word: job).level)) }
      lock.state.pool.submit(list, by: worker)
    }
    stir()
    lock.unlock()
  }

  /// Runs a question soon. The question needs no virtual worker.
  func ask(_ question: Job) {
    threads.checkNotForked()
    lock.lock()
    if lock.state.ending.isOver {
      lock.unlock()
      return runBesideAll(question)
    }
    lock.state.work.jobs += 1
    lock.state.waits.timers[lock.state.pool.schedule(at: lock.state.pool.now)] = .question(question)
    stir()
    lock.unlock()
  }

  /// After the end: on a thread of its own.
  func runBesideAll(_ job: Job) {
    if !PlatformThread.start(name: "op-carrier", { _ = job.run() }) { _ = job.run() }
  }

  /// Runs a block when so much virtual time has passed, in nanoseconds. The block needs no virtual worker.
  func run(after delay: Int64, _ block: @escaping @Sendable () -> Void) {
    threads.checkNotForked()
    lock.lock()
    if lock.state.ending.isOver {
      let isDropped = lock.state.ending.gaveUp
      lock.unlock()
      if isDropped { return }
      fatalError("Operations: a timer was set on the deterministic backend after shutdown()")
    }
    let timer = lock.state.pool.schedule(at: VirtualTime.after(lock.state.pool.now, delay))
    lock.state.waits.timers[timer] = .block(block)
    stir()
    lock.unlock()
  }

  /// Whether jobs from outside are refused.
  var refusesJobs: Bool { lock.withLock { lock.state.ending.isStopping } && currentCarrier == nil }

  func refuseJoinAfterShutdown() {
    threads.checkNotForked()
    if refusesJobs { fatalError("Operations: join was called on the deterministic backend after shutdown()") }
  }

  /// After a failed test whose bodies were given up: the jobs never run.
  private func drop(_ jobs: consuming JobFIFO) { while jobs.popFirst() != 0 {} }

  /// After `shutdown()`: traps, unless the jobs have nothing to do.
  private func refuse(_ jobs: consuming JobFIFO) {
    while case let job = jobs.popFirst(), job != 0 {
      if Job(word: job).dropIfVoid() { continue }
      threads.refuseAfterShutdown()
    }
  }

  // MARK: - The baton

  /// Called under `lock`. Something has changed: a driver that sleeps looks again, and where nobody has the baton a
  /// carrier takes it.
  func stir() {
    if let seat = lock.state.baton.sleeper {
      seat.parker.unpark()
    } else if isPermitted {
      drive()
    }
  }

  /// Called under `lock`. A carrier takes the baton, where nobody has it.
  func drive() {
    guard case .nobody = lock.state.baton.holder, !lock.state.ending.isOver else { return }
    lock.state.baton.holder = .driver
    if !send(.drive) { lock.state.baton.holder = .nobody }
  }

  /// Called under `lock`. Gives the order to an idle or a new carrier.
  /// - Returns: false when the system has no thread to give.
  func send(_ order: Carrier.Order) -> Bool {
    if let carrier = lock.state.carriers.idle.popLast() {
      carrier.order = order
      carrier.seat.parker.unpark()
      return true
    }
    let carrier = Carrier(self)
    carrier.order = order
    lock.state.carriers.all.append(carrier)
    return threads.start(
      name: "op-carrier", undo: { lock.state.carriers.remove(carrier) },
      retry: { [weak self] in self?.retry() ?? false },
      {
        carrier.watched.begin()
        WorkerLocal.become(carrier, of: self) { OwedReferences.allowed { self.live(as: carrier) } }
        self.threads.ended()
      })
  }

  /// - Returns: whether a thread is still wanted.
  private func retry() -> Bool {
    lock.lock()
    defer { lock.unlock() }
    stir()
    return threads.shortage.isRefused
  }

  // MARK: - A carrier's life

  private func live(as carrier: Carrier) {
    lock.lock()
    if cplatform_is_tracing() { TraceProbe.threadBegins(isSpare: lock.state.carriers.all.count > 1) }
    while let order = carrier.order {
      carrier.order = nil
      switch order {
      case .end: break
      case .begin(let strand):
        if perform(strand, on: carrier) { drive(on: carrier) }
      case .drive: drive(on: carrier)
      }
      rest(carrier)
    }
    lock.state.carriers.remove(carrier)
    lock.unlock()
    if cplatform_is_tracing() { TraceProbe.threadEnds() }
  }

  /// Called under `lock`, with the baton. Chooses steps and runs them, until the baton has gone elsewhere.
  private func drive(on carrier: Carrier) {
    while case .begin(let strand) = chooseSteps(seat: carrier.seat, for: nil) {
      if !perform(strand, on: carrier) { return }
    }
  }

  /// Called under `lock`, gives it up meanwhile. Runs a strand from its beginning to its end.
  /// - Returns: whether the calling thread has the baton.
  private func perform(_ strand: Strand, on carrier: Carrier) -> Bool {
    (carrier.strand, strand.carrier) = (strand, carrier)
    carrier.watched.beginJob()
    carrier.watched.becomeBusy(true)
    lock.unlock()
    armMonitor()
    let time = seeded?.beginTime()
    let successor = strand.job.run()
    if let time { seeded?.endTime(time) }
    // What the job owes is given back before anybody else goes on.
    OwedReferences.settle()
    lock.lock()
    carrier.watched.becomeBusy(false)
    carrier.strand = nil
    end(strand, successor: successor)
    if strand.isAdrift {
      lock.state.work.endAdrift(strand)
      stir()
      return false
    }
    lock.state.baton.holder = .driver
    return true
  }

  /// Called under `lock`.
  private func end(_ strand: Strand, successor: Job?) {
    lock.state.records.add(lock.state.pool.now, strand, "ends")
    lock.state.work.jobs -= 1
    if strand.isOfTest {
      lock.state.test.parts -= 1
      lock.state.waits.countTask(-1)
    }
    if successor != nil { lock.state.work.jobs += 1 }
    guard let worker = strand.worker else {
      if let successor { lock.state.pool.submit(successor.word, level: successor.level) }
      return
    }
    takePlace(of: strand)
    lock.state.pool.finished(worker, successor: successor.map { ($0.word, $0.level) })
  }

  /// Called under `lock`. The strand's virtual worker needs its place again.
  func takePlace(of strand: Strand) {
    guard let worker = strand.worker, strand.gavePlace else { return }
    strand.gavePlace = false
    lock.state.pool.unblocks(worker)
  }

  /// Called under `lock`. Another virtual worker may take the place of the strand's.
  func givePlace(of strand: Strand) {
    guard let worker = strand.worker, !strand.gavePlace else { return }
    strand.gavePlace = true
    lock.state.pool.blocks(worker)
  }

  /// Called under `lock`. Sleeps until there is an order; without one for a second the carrier ends.
  private func rest(_ carrier: Carrier) {
    if lock.state.ending.isOver { return }
    lock.state.carriers.idle.append(carrier)
    while carrier.order == nil {
      lock.unlock()
      let isInTime = carrier.seat.parker.park(timeoutNanoseconds: PoolThreads.surplusLifetime)
      lock.lock()
      if isInTime || carrier.order != nil { continue }
      lock.state.carriers.idle.removeAll { $0 === carrier }
      return
    }
  }
}
