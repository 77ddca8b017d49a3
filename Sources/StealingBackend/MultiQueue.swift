import CPlatform
import OperationJobs
import Primitives
import Scheduling
import Synchronization

/// The lists of a relaxed multi-queue. A job goes to a random list. A worker looks at two random lists and takes from
/// the better one (`ListChoice`).
///
/// Each list has a lock, and a word that shows its most urgent level and its length. The word is written under the lock
/// by a sequentially consistent store, behind the change. So a thread that goes to sleep, and looks at every word after
/// it has said so, sees every job whose submit has not seen the thread asleep.
struct MultiQueue: ~Copyable {
  private struct List: ~Copyable {
    let jobs: Locked<PriorityFIFO>
    /// The most urgent level plus one, above 32 bits of the number of jobs; 0 for an empty list.
    let shown = Atomic<UInt64>(0)

    init(fairnessInterval: Int) { jobs = Locked(PriorityFIFO(fairnessInterval: fairnessInterval)) }

    /// Called under the lock.
    borrowing func show() {
      let level = UInt64(jobs.state.highestLevel + 1)
      shown.store(level << 32 | UInt64(jobs.state.count), ordering: .sequentiallyConsistent)
    }

    var now: (level: Int, jobs: Int) {
      let word = shown.load(ordering: .sequentiallyConsistent)
      return (Int(word >> 32) - 1, Int(word & 0xFFFF_FFFF))
    }
  }

  private let lists: UnsafeMutablePointer<PaddedPointer<List>>
  private let count: Int
  private let stickiness: Int

  init(lists count: Int, stickiness: Int, fairnessInterval: Int) {
    self.count = count
    self.stickiness = stickiness
    lists = .allocate(capacity: count)
    for index in 0..<count {
      (lists + index).initialize(to: PaddedPointer(List(fairnessInterval: fairnessInterval)))
    }
  }

  deinit {
    for index in 0..<count { lists[index].deallocate() }
    lists.deallocate()
  }

  var isEmpty: Bool { (0..<count).allSatisfy { lists[$0].pointer.pointee.now.jobs == 0 } }

  /// The number of jobs, not of one instant.
  var jobCount: Int { (0..<count).reduce(0) { $0 + lists[$1].pointer.pointee.now.jobs } }

  /// - Parameter worker: the worker that adds the job; nil for a thread outside.
  func push(_ job: UInt, level: Int, _ worker: Unmanaged<Worker>?) {
    let index =
      worker.map { worker in
        worker._withUnsafeGuaranteedRef { worker in
          worker.chosenLists.nextToAdd(stickiness: stickiness) { worker.random(below: count) }
        }
      } ?? OutsideRandom.number(below: count)
    let list = lists[index].pointer
    list.pointee.jobs.withLock {
      list.pointee.jobs.state.append(job)
      list.pointee.show()
    }
  }

  /// A job; 0 when every list was seen empty.
  @inline(never)
  func take(_ worker: Worker) -> UInt {
    // Two lists that happen to be empty say little about the others.
    for _ in 0..<2 {
      let index = worker.chosenLists.nextToTake(
        stickiness: stickiness, random: { worker.random(below: count) }, state: { lists[$0].pointer.pointee.now })
      if case let job = pop(index), job != 0 { return job }
      worker.chosenLists.dropTake()
    }
    let start = worker.random(below: count)
    for offset in 0..<count {
      if case let job = pop((start + offset) % count), job != 0 { return job }
    }
    return 0
  }

  /// Nobody uses the lists any more: lets go of jobs that have nothing to do.
  func dropTickets() {
    for index in 0..<count {
      while case let job = pop(index), job != 0 { _ = Job(word: job).dropIfVoid() }
    }
  }

  private func pop(_ index: Int) -> UInt {
    let list = lists[index].pointer
    if list.pointee.now.jobs == 0 { return 0 }
    return list.pointee.jobs.withLock {
      let job = list.pointee.jobs.state.popFirst()
      if job != 0 { list.pointee.show() }
      return job
    }
  }
}

/// Random numbers for threads outside of the pool, which have no state of their own.
enum OutsideRandom {
  /// A number below `bound`: the time and the thread, mixed (the finaliser of SplitMix64).
  static func number(below bound: Int) -> Int {
    var x = cplatform_now_ns() &+ UInt64(UInt32(bitPattern: cplatform_thread_id())) &* 0x9E37_79B9_7F4A_7C15
    x = (x ^ (x >> 30)) &* 0xBF58_476D_1CE4_E5B9
    x = (x ^ (x >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((x ^ (x >> 31)) % UInt64(bound))
  }
}
