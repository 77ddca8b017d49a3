import CPlatform
import Synchronization

/// How many workers a pool has now. A number that somebody chose stays. Without one, the pool has a worker for each CPU
/// that the process may use, and follows the CPUs: a quota of the cgroup may be cut and given back, and the affinity
/// mask may change. Such a pool also lends CPUs to other pools of the process while jobs wait in it (`CPUShare`).
@usableFromInline
package final class WorkerNumber: Sendable {
  /// The most that the pool will have: the number that was chosen, or the CPUs of the affinity mask at the start.
  package let most: Int
  private let count: Atomic<Int>
  private let lastLook = Atomic<UInt64>(0)
  /// Nil when the number was chosen.
  private let cpus: (@Sendable () -> Int?)?
  private let others: @Sendable (_ running: Int) -> RunningThreads.Sums
  /// How many CPUs are lent to other pools.
  private let lent = Atomic<Int>(0)
  private let share = Locked(CPUShare())

  /// How long a look at the CPUs counts, in nanoseconds.
  private let interval: UInt64

  /// - Parameters:
  ///   - workers: the number asked for; nil: OPERATIONS_WORKERS, or else the CPUs. Traps when the number is less than
  ///     one, or more than `mostWorkers`.
  ///   - affinity: the CPUs without any quota.
  ///   - interval: how long a look at the CPUs counts, in nanoseconds: as long as the usual period of a quota.
  ///   - cpus: reads how many CPUs the process may use; nil: that cannot be read, and the number stays.
  ///   - others: reads how many threads of other pools run, by how many of this one do.
  package init(
    _ workers: Int?, affinity: @autoclosure () -> Int = CPUCount.affinity(), interval: UInt64 = 100_000_000,
    cpus: @escaping @Sendable () -> Int? = { CPUCount.availableIfKnown() },
    others: @escaping @Sendable (_ running: Int) -> RunningThreads.Sums = RunningThreads.ofProcess.others(than:)
  ) {
    (self.interval, self.others) = (interval, others)
    guard let chosen = workers ?? WorkersVariable.value else {
      let now = min(mostWorkers, cpus() ?? CPUCount.available())
      (most, self.cpus) = (max(now, min(mostWorkers, affinity())), cpus)
      count = Atomic(now)
      return
    }
    if chosen < 1 { fatalError("Operations: a backend needs at least one worker, not \(chosen)") }
    if chosen > mostWorkers { fatalError("Operations: a backend has at most \(mostWorkers) workers, not \(chosen)") }
    (most, self.cpus) = (chosen, nil)
    count = Atomic(chosen)
  }

  package var now: Int { count.load(ordering: .relaxed) }

  /// The workers that have a CPU: without those whose CPU is lent. At least one.
  package var withCPU: Int { max(1, now - lent.load(ordering: .relaxed)) }

  /// How many of the workers have no CPU now.
  package var withheld: Int { most - withCPU }

  /// Looks at the CPUs, unless the last look is younger than `interval`. One thread calls this at a time: the monitor.
  /// A look reads a few small files.
  package func look(at time: UInt64 = cplatform_now_ns()) {
    guard let cpus, time &- lastLook.load(ordering: .relaxed) >= interval else { return }
    lastLook.store(time, ordering: .relaxed)
    guard let found = cpus() else { return }
    count.store(max(1, min(most, found)), ordering: .relaxed)
  }

  /// Decides how many CPUs are lent to other pools. The monitor calls this at each look.
  /// - Parameters:
  ///   - running: the running threads of this pool.
  ///   - hasQueuedJobs: without queued jobs nothing is lent, so that jobs which come together find all places.
  ///   - longestJob: for how long looks have seen a thread of this pool compute in the same job, in nanoseconds.
  package func lendCPUs(running: Int, hasQueuedJobs: Bool, longestJob: UInt64, at time: UInt64 = cplatform_now_ns()) {
    guard cpus != nil else { return }
    let others = others(running)
    let new = share.withLock { share.state.look(at: time, others: others, cpus: now, longestJob: longestJob) }
    lent.store(hasQueuedJobs ? new : 0, ordering: .relaxed)
  }
}
