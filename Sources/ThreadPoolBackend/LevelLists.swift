import OperationJobs
import Primitives
import Scheduling
import Synchronization

/// The queued jobs of a thread pool whose levels have a lock each (`locks=perlevel`).
///
/// A job is appended under the lock of its level, then counted in the pool's `queued`. A thread takes from the most
/// urgent level that shows jobs. README.md here says why no job is left lying.
struct LevelLists: ~Copyable {
  private struct Level: ~Copyable {
    let jobs: Locked<JobFIFO>
    /// The number of jobs, for looks without the lock.
    let count = Atomic<Int>(0)

    init() { jobs = Locked(JobFIFO()) }
  }

  /// Whether the pool has its jobs here.
  let isUsed: Bool
  /// The number of threads that may still become active; below 0 when there are surplus threads.
  let places = PaddedPointer(Atomic<Int>(0))
  let isStopping = Atomic<Bool>(false)
  private let levels: UnsafeMutablePointer<PaddedPointer<Level>>
  private let hasLevels: Bool
  private let newestFirst: Bool
  private let fairnessInterval: Int
  /// Jobs taken so far: alone on its cache line, since every thread writes it.
  private let taken = PaddedPointer(Atomic<Int>(0))

  init(_ strategy: ThreadPoolStrategy, fairnessInterval: Int) {
    isUsed = strategy.locks == .perLevel
    hasLevels = strategy.order == .priority
    newestFirst = strategy.order == .lifo
    self.fairnessInterval = fairnessInterval
    levels = .allocate(capacity: isUsed ? Job.levels : 0)
    if isUsed { for level in 0..<Job.levels { (levels + level).initialize(to: PaddedPointer(Level())) } }
  }

  deinit {
    if isUsed { for level in 0..<Job.levels { levels[level].deallocate() } }
    levels.deallocate()
    places.deallocate()
    taken.deallocate()
  }

  func append(_ jobs: consuming JobFIFO) {
    while case let job = jobs.popFirst(), job != 0 { append(job) }
  }

  func append(_ job: UInt) {
    let level = levels[hasLevels ? Job(word: job).level : Job.middleLevel].pointer
    level.pointee.jobs.withLock {
      if newestFirst { level.pointee.jobs.state.prepend(job) } else { level.pointee.jobs.state.append(job) }
      level.pointee.count.store(level.pointee.jobs.state.count, ordering: .sequentiallyConsistent)
    }
  }

  /// The most urgent job; once every `fairnessInterval` times, one of the lowest level that has jobs. 0 when every
  /// level was seen empty.
  func popFirst() -> UInt {
    let isLowestsTurn =
      fairnessInterval > 0
      && (taken.pointer.pointee.load(ordering: .relaxed) + 1).isMultiple(of: fairnessInterval)
    for turn in 0..<Job.levels {
      guard case let job = pop(isLowestsTurn ? turn : Job.levels - 1 - turn), job != 0 else { continue }
      if fairnessInterval > 0 { taken.pointer.pointee.wrappingAdd(1, ordering: .relaxed) }
      return job
    }
    return 0
  }

  private func pop(_ level: Int) -> UInt {
    let level = levels[level].pointer
    if level.pointee.count.load(ordering: .sequentiallyConsistent) == 0 { return 0 }
    return level.pointee.jobs.withLock {
      let job = level.pointee.jobs.state.popFirst()
      level.pointee.count.store(level.pointee.jobs.state.count, ordering: .sequentiallyConsistent)
      return job
    }
  }

  func hasJob(above level: Int) -> Bool {
    hasLevels
      && (level + 1..<Job.levels).contains { levels[$0].pointer.pointee.count.load(ordering: .relaxed) > 0 }
  }
}
