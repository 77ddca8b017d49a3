import Scheduling

// Threads that watch the lists for a job, and the monitor.

extension VirtualPool {
  /// A job was made visible: one of the threads that watch notices it.
  func notifyWatcher() {
    guard !watchers.isEmpty else { return }
    let worker = watchers[choices.pick(below: watchers.count)]
    stopWatching(worker)
    workers[worker].state = .looking
    schedule(.notice, worker, at: now + spent + costs.look)
  }

  /// A thread without a job watches the lists for as long as its strategy says.
  func watch(_ worker: Int) {
    workers[worker].isLongSearch = false
    let times = strategy.search.times
    workers[worker].searchEnd = now + (isTimed ? spent + Int64(times.short) : 0)
    watchOn(worker)
  }

  /// The same with the time that is left.
  func watchOn(_ worker: Int) {
    workers[worker].state = .watching
    workers[worker].watchIndex = watchers.count
    watchers.append(worker)
    schedule(.searchEnds, worker, at: max(now, workers[worker].searchEnd))
  }

  private func stopWatching(_ worker: Int) {
    let index = workers[worker].watchIndex
    let last = watchers.removeLast()
    if last != worker {
      watchers[index] = last
      workers[last].watchIndex = index
    }
    workers[worker].watchIndex = -1
  }

  func searchEnds(_ worker: Int) {
    stopWatching(worker)
    if !workers[worker].isLongSearch, workers[worker].patience.goesOn() {
      workers[worker].isLongSearch = true
      let times = strategy.search.times
      workers[worker].searchEnd += isTimed ? max(0, Int64(times.long) - Int64(times.short)) : 0
      return watchOn(worker)
    }
    foundNothing(worker)
  }

  // MARK: - The monitor

  /// Has the monitor look whether a queued successor needs a thread. The first look comes at once, as fast as a woken
  /// thread; two looks are a millisecond apart.
  func armMonitor() {
    guard !isMonitorArmed else { return }
    isMonitorArmed = true
    let soon = now + spent + costs.wakeLatency
    let time = isTimed ? max(soon, lastMonitorLook + 1_000_000) : now
    push(Event(time: time, number: 0, kind: .monitor, subject: -1, epoch: 0))
  }

  func lookAsMonitor() {
    isMonitorArmed = false
    lastMonitorLook = now
    guard queued > 0 else { return }
    switch strategy {
    case .stealing: activate()
    case .threadPool: activateShared(queued)
    }
  }
}
