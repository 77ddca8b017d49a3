import CPlatform
import OperationJobs
import Primitives
import Scheduling
import Synchronization

// How a worker comes to its next job. The way through the lists is `StealingSteps`, in `Scheduling`.

extension StealingPool {
  /// The next job of a worker; 0 for none.
  func nextJob(_ worker: Worker) -> UInt { nextJob(of: worker) ?? 0 }

  func hasWork(level: Int) -> Bool {
    if !isOutsideEmpty(level: level) { return true }
    for index in 0..<workersMade
    where !workers[index]._withUnsafeGuaranteedRef({ $0.isEmpty(level: level) }) {
      return true
    }
    return false
  }

  /// For a searching worker: looks everywhere, then again and again for a while. 0 for none.
  func search(_ worker: Worker, _ patience: inout Patience) -> UInt {
    if let job = sweep(worker, least: strategy.leastJobs) { return job }
    let job = patience.search { look(worker) }
    // What may not be stolen from a worker with few jobs may be stolen before the thief sleeps.
    return job == 0 && !rules.robsAll ? sweep(worker, least: 1) ?? 0 : job
  }

  /// Looks into the injectors. Looks at the other workers when the hint names a level and somebody else is awake.
  private func look(_ worker: Worker) -> UInt {
    if rules.usesMultiQueue { return multiQueue.isEmpty ? 0 : multiQueue.take(worker) }
    let outside = highestInjected
    if outside < 0, levelHint.pointer.pointee.load(ordering: .relaxed) == 0 { return 0 }
    guard sleepNow.isOnlyOneAwake else { return sweep(worker, least: strategy.leastJobs) ?? 0 }
    if outside < 0 { return 0 }
    // This thread is about to end its search: to write the word that the thread which brought the job has just read.
    cplatform_prefetch(UInt(bitPattern: sleepWord.pointer))
    guard let job = takeInjected(worker, level: outside, limit: rules.outsideBatch) else { return 0 }
    cplatform_prefetch(job &+ 64)
    return job
  }

  /// The highest level whose injector has a job; -1 for none.
  private var highestInjected: Int {
    var level = Job.levels - 1
    while level >= 0, isOutsideEmpty(level: level) { level -= 1 }
    return level
  }

  /// Whether any job is queued anywhere. Called after a sequentially consistent operation, for a thread that is about
  /// to sleep.
  var hasVisibleWork: Bool {
    if rules.usesMultiQueue { return !multiQueue.isEmpty }
    for level in 0..<Job.levels where hasWork(level: level) { return true }
    return false
  }
}
