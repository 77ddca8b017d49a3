import OperationJobs
import Primitives
import Scheduling
import Synchronization

// How jobs go in, and what they call for.

extension StealingPool {
  func submit(_ job: Job) {
    guard rules.isUsual else { return submitByStrategy(job) }
    let level = job.level
    if let worker = currentWorker {
      worker._withUnsafeGuaranteedRef { $0.add(job.word, level: level) }
      // The fence stands between the push and the look at the sleepers. A thread that goes to sleep does the two the
      // other way round.
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      hint(level)
    } else {
      if stopping.load(ordering: .relaxed), isRefused(job) { return }
      threads.checkNotForked()
      injectors[level].pointer.pointee.push(job.word)
      hint(level)
    }
    react()
  }

  func submit(_ jobs: consuming JobFIFO) {
    let count = jobs.count
    if rules.showsEach {
      submitEach(jobs)
    } else if let worker = currentWorker {
      var levels: UInt32 = 0
      worker._withUnsafeGuaranteedRef { worker in
        while case let job = jobs.popFirst(), job != 0 {
          let level = self.level(of: Job(word: job))
          worker.add(job, level: level)
          levels |= 1 << UInt32(level)
        }
      }
      atomicMemoryFence(ordering: .sequentiallyConsistent)
      // Behind the fence. A hint that is read before the jobs are visible may be one that another worker is about to
      // take back, because that worker does not see the jobs yet.
      hint(levels: levels)
    } else {
      threads.checkNotForked()
      inject(jobs)
    }
    react()
    if count >= rules.batchThatWakes { wakeMore(for: count) }
  }

  private func inject(_ jobs: consuming JobFIFO) {
    // Successive jobs of one level go in with one exchange, linked the other way round: the newest is first.
    var newest: UInt = 0
    var oldest: UInt = 0
    var level = -1
    while case let job = jobs.popFirst(), job != 0 {
      if stopping.load(ordering: .relaxed), isRefused(Job(word: job)) { continue }
      let jobLevel = self.level(of: Job(word: job))
      if jobLevel != level {
        push(newest: newest, oldest: oldest, level: level)
        newest = 0
        oldest = job
        level = jobLevel
      }
      JobNode.setNext(of: job, to: newest)
      newest = job
    }
    push(newest: newest, oldest: oldest, level: level)
  }

  private func push(newest: UInt, oldest: UInt, level: Int) {
    guard newest != 0 else { return }
    injectors[level].pointer.pointee.push(newest: newest, oldest: oldest)
    hint(level)
  }

  /// Called after a job was made visible, behind a sequentially consistent operation.
  @inline(__always)
  func hint(_ level: Int) { hint(levels: 1 << UInt32(level)) }

  @inline(__always)
  private func hint(levels: UInt32) {
    if levels & ~levelHint.pointer.pointee.load(ordering: .relaxed) != 0 {
      levelHint.pointer.pointee.bitwiseOr(levels, ordering: .relaxed)
    }
  }

  /// Called after a job was made visible, behind a sequentially consistent operation.
  @inline(__always)
  func react() {
    guard rules.isUsual else { return reactByStrategy() }
    let limit = activeLimit
    switch sleepNow.reaction(limit: limit) {
    case .nothing: return
    case .activate: activate()
    case .busy: lacksPlace()
    }
  }

  /// After `shutdown()`: traps, unless the job has nothing to do.
  @inline(never)
  func isRefused(_ job: Job) -> Bool {
    if !threads.isOver { return false }
    if job.dropIfVoid() { return true }
    threads.refuseAfterShutdown()
  }

  /// Makes a job, or the ticket of a fork, visible where the strategy says. The last step is sequentially consistent.
  func show(_ job: Job) {
    let level = level(of: job)
    let worker = currentWorker
    if rules.usesMultiQueue { return multiQueue.push(job.word, level: level, worker) }
    if let worker, !rules.sharesAll {
      worker._withUnsafeGuaranteedRef { $0.add(job.word, level: level) }
      atomicMemoryFence(ordering: .sequentiallyConsistent)
    } else {
      injectors[list(level: level)].pointer.pointee.push(job.word)
    }
    hint(level)
  }
}
