import CPlatform
import Scheduling

// Forks of joins: jobs that a worker keeps to itself until other workers have nothing to do. `ForkList` of the core is
// the real one. A join waits for its forks; here nobody waits, and a fork is over when its job is.

extension VirtualPool {
  /// Says that the job of a worker makes forks, in their order. The worker runs those that nobody takes, the newest
  /// first, when its job and the successors of the job are over. To make a fork takes no time.
  package func fork(_ jobs: [(job: UInt, level: Int)], by worker: Int) {
    usesForks = true
    acting(worker) {
      for job in jobs {
        workers[worker].forks.append(made(job.job, level: job.level))
        forkOwners.set(worker, to: true)
        showForks(of: worker)
      }
    }
  }

  /// The newest fork that a worker has kept.
  func takeFork(_ worker: Int) -> QueuedJob? {
    guard let job = workers[worker].forks.popLast() else { return nil }
    if workers[worker].forks.isEmpty { forkOwners.set(worker, to: false) }
    return job
  }

  /// Shows the oldest forks of the acting worker, as many as the strategy wants to be seen.
  private func showForks(of worker: Int) {
    let idle = idlePlaces
    let lacking = min(strategy.forks.wanted(idle: idle), Int(cplatform_fork_slots)) - workers[worker].shownForks
    guard lacking > 0 else { return }
    let interval = Int64(strategy.forks.interval(idle: idle)) * 1_000
    if let last = workers[worker].lastShow, now + spent - last < interval { return }
    show(lacking, of: worker)
    workers[worker].lastShow = now + spent
  }

  /// The acting worker shows the oldest forks of a worker.
  private func show(_ count: Int, of owner: Int) {
    for _ in 0..<min(count, workers[owner].forks.count) {
      let job = workers[owner].forks.removeFirst()
      workers[owner].shownForks += 1
      spent += costs.add
      show(job)
      reactToOne()
    }
    if workers[owner].forks.isEmpty { forkOwners.set(owner, to: false) }
  }

  /// A worker that has found nothing shows forks that another worker keeps. It pays for a barrier on all threads: as
  /// much as for a wake.
  /// - Returns: whether there were any.
  func uncoverForks(_ worker: Int) -> Bool {
    guard usesForks, let owner = forkOwners.next(cyclicallyFrom: worker) else { return false }
    spent += costs.wake
    show(max(1, idlePlaces), of: owner)
    workers[worker].state = .looking
    schedule(.look, worker, at: now + spent)
    return true
  }

  /// Threads that could run a job now: places that are free, and threads that search.
  private var idlePlaces: Int {
    max(0, workerCount + blocked - (workers.count - sleepers.count)) + searching
  }
}
