import CPlatform
import OperationCore
import Primitives
import VirtualScheduling

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// Bodies that block or compute without a word: the monitor looks at the strand with the baton, and at strands adrift
// that still have their places.

/// What the monitor saw of a strand. Only the monitor's thread touches it.
struct Sight {
  private var visits = -1
  private var cpuTime: UInt64 = 0
  private var lastLook: UInt64 = 0
  /// For how long the thread has slept without using the CPU.
  private var asleep: UInt64 = 0
  /// For how long the thread has computed or slept without a visit to the backend.
  private var away: UInt64 = 0

  /// A look that comes so long after the last one is late: the whole process stood still, because of a debugger or
  /// SIGSTOP. The time in between says nothing about the body. In nanoseconds.
  static let late: UInt64 = 200_000_000

  /// Looks at the thread of the strand.
  /// - Returns: for how long the thread has slept in the kernel, and has not visited the backend, in nanoseconds.
  mutating func look(at thread: Int32, visits: Int) -> (asleep: UInt64, away: UInt64) {
    let isAsleep = cplatform_thread_look(thread) != cplatform_thread_runs
    return look(
      isAsleep: isAsleep, used: cplatform_thread_cpu_ns(thread), now: cplatform_now_ns(), visits: visits,
      threadsPerCPU: isAsleep ? Self.threadsPerCPU : 1)
  }

  /// How many threads of the machine share a CPU, at least 1. Who sleeps waits for somebody who gets a CPU that seldom:
  /// in 160 processes at once a lock of the allocator was held for a second, by a thread that waited for its turn.
  static var threadsPerCPU: UInt64 {
    let (running, cpus) = (cplatform_running_threads(), max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    return UInt64(max(1, (running + cpus - 1) / cpus))
  }

  /// Counts what a look has found. Time that the thread computes is CPU time: a thread that waits for a CPU, or
  /// that a debugger has stopped, does nothing. Time asleep is shared among the threads that want a CPU.
  mutating func look(
    isAsleep: Bool, used: UInt64, now: UInt64, visits: Int, threadsPerCPU: UInt64 = 1
  ) -> (asleep: UInt64, away: UInt64) {
    if self.visits == visits {
      let passed = now &- lastLook
      let counted = passed / threadsPerCPU
      if !isAsleep {
        // The time of a thread that has just ended cannot be read: it is 0.
        if used > cpuTime { away += used - cpuTime }
      } else if passed < Self.late {
        away += counted
        if used == cpuTime { asleep += counted }
      }
      if !isAsleep || used != cpuTime { asleep = 0 }
    } else {
      (self.visits, asleep, away) = (visits, 0, 0)
    }
    (cpuTime, lastLook) = (used, now)
    return (asleep, away)
  }
}

/// For how long the body of an asynchronous test has been in something that the backend does not know, while something
/// could happen. Only the monitor's thread touches it.
struct TestSight {
  private var arrivals = -1
  private var lastLook: UInt64 = 0
  private var away: UInt64 = 0

  /// - Parameters:
  ///   - arrivals: how many guests have come so far; nil when there is one, or nothing could happen.
  ///   - threadsPerCPU: asked for when nobody has come.
  /// - Returns: for how long nobody has come, in nanoseconds.
  mutating func look(arrivals: Int?, now: UInt64, threadsPerCPU: @autoclosure () -> UInt64 = 1) -> UInt64 {
    let passed = now &- lastLook
    if let arrivals, arrivals == self.arrivals {
      // As for a strand, a look that comes late counts for nothing.
      if passed < Sight.late { away += passed / threadsPerCPU() }
    } else {
      away = 0
    }
    (self.arrivals, lastLook) = (arrivals ?? -1, now)
    return away
  }
}

extension Driver {
  /// So many times `patience` a body may compute before the baton is taken from it: it may be waiting in a loop for
  /// what another body does.
  static let patienceWithComputing: UInt64 = 10
  /// With less patience the monitor looks every millisecond, otherwise less and less often.
  private static let longPatience: UInt64 = 100_000_000

  func armMonitor() {
    if !threads.monitor.isArmed {
      threads.monitor.arm { [weak self] _ in self?.watch() }
    }
  }

  /// The monitor's look.
  private func watch() -> BlockingMonitor.Look {
    lock.lock()
    var watched = lock.state.work.adrift.filter(\.computes)
    if case .strand(let strand) = lock.state.baton.holder { watched.append(strand) }
    let seen = watched.compactMap { strand in strand.carrier.map { (strand, $0.watched.threadID, strand.visits) } }
    let isTest = lock.state.test.isUnderWay
    let whenStuck = isTest ? watchTest() : nil
    lock.unlock()
    // Code of others: it resumes a task.
    whenStuck?()
    for (strand, thread, visits) in seen {
      let (asleep, away) = strand.sight.look(at: thread, visits: visits)
      if asleep >= patience || away >= Self.patienceWithComputing * patience {
        lock.withLock { if strand.visits == visits { react(to: strand, sleeps: asleep >= patience) } }
      }
    }
    return BlockingMonitor.Look(isNeeded: isTest || !seen.isEmpty, hasChanged: patience < Self.longPatience)
  }

  /// Called under `lock`. The body of an asynchronous test may await what the backend does not know: a task of its own,
  /// or an actor elsewhere. What it awaits may need what would run here.
  /// - Returns: to be called without the lock.
  private func watchTest() -> (() -> Void)? {
    var isStill = false
    if case .nobody = lock.state.baton.holder {
      isStill = !isPermitted && (seeded != nil || lock.state.pool.nextTime != nil)
      // A body that was left to itself and computes will do something yet.
      if seeded != nil, lock.state.work.adrift.contains(where: \.computes) { isStill = false }
    }
    let arrivals = isStill ? lock.state.waits.arrivals : nil
    let away = testSight.look(arrivals: arrivals, now: cplatform_now_ns(), threadsPerCPU: Sight.threadsPerCPU)
    if seeded != nil, isStill, !lock.state.waits.forConditions.isEmpty { drive() }
    guard away >= patience else { return nil }
    if let seeded {
      testSight = TestSight()
      return { seeded.end(.allTasksWait) }
    }
    let time = Duration.nanoseconds(Int64(patience)).inMilliseconds
    complain(
      "the test has been for \(time) in something that the backend does not know, such as a task of its own: what waits to"
        + " run goes on beside it, and from here on the run is not that of its seed")
    lock.state.test.isGuest = true
    lock.state.waits.countTask(1)
    stir()
    return nil
  }

  /// Called under `lock`. The monitor saw that the strand has not visited the backend for too long. The strand may have
  /// ended since.
  func react(to strand: Strand, sleeps: Bool) {
    if case .strand(let holder) = lock.state.baton.holder, holder === strand {
      let time = Duration.nanoseconds(Int64(sleeps ? patience : Self.patienceWithComputing * patience)).inMilliseconds
      let slept = "slept for \(time) in something that the backend does not know, such as a semaphore"
      let what = sleeps ? slept : "run for \(time) without a wait"
      complain("a body has \(what): others go on beside it, and from here on the run is not that of its seed")
      setAdrift(strand, givesPlace: sleeps)
    } else if sleeps, strand.isAdrift {
      // It computed at first, and now it blocks.
      strand.computes = false
      givePlace(of: strand)
      stir()
    }
  }

  /// Called under `lock`. The strand has the baton, and loses it.
  /// - Parameter givesPlace: whether another virtual worker may take the place of the strand's. A body that computes
  ///   keeps its place.
  func setAdrift(_ strand: Strand, givesPlace: Bool) {
    lock.state.records.add(lock.state.pool.now, strand, "is left to itself")
    lock.state.work.setAdrift(strand, computes: !givesPlace)
    strand.visits += 1
    if givesPlace { givePlace(of: strand) }
    lock.state.baton.holder = .nobody
    stir()
  }

  /// Called under `lock`. Tells once what makes a run another than that of its seed.
  func complain(_ reason: @autoclosure () -> String) {
    guard !runsByItself, !lock.state.hasComplained else { return }
    lock.state.hasComplained = true
    "Operations: deterministic: \(reason())".withCString { cplatform_print_error($0) }
  }
}
