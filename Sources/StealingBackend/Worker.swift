import CPlatform
import OperationJobs
import Primitives
import Scheduling
import Synchronization

/// One worker: its deques, and what others may know about the worker. A worker stays for the life of the pool;
/// threads come and go.
final class Worker: PoolMember, @unchecked Sendable {
  // Sendable: `parker`, the deques and the memory that `shown` points to are for everybody. The memory that `owned`
  // points to is touched only by the thread that is this worker at the time.

  let index: Int
  private let ownEnd: StealingStrategy.OwnEnd
  /// Whether `ownEnd` is the default, which costs one look.
  private let takesOldest: Bool
  let parker = Parker()
  /// One deque per level. The owner makes a deque on first use and publishes it by a releasing store; 0 until then.
  private let deques: UnsafeMutablePointer<Atomic<UInt>>
  private let owned: PaddedPointer<Owned>
  private let shown: PaddedPointer<WatchedThread>

  /// Only the owner touches these fields.
  private struct Owned: ~Copyable {
    var memory: WorkerMemory
    var random: UInt64
    /// The lists of a multi-queue that the worker has chosen.
    var chosenLists = ListChoice()
    /// What the worker has done. Others may read these.
    let counts = WorkerCounts()
  }

  init(index: Int, fairnessInterval: Int, strategy: StealingStrategy) {
    self.index = index
    ownEnd = strategy.ownEnd
    takesOldest = strategy.ownEnd == .fifo
    deques = .allocate(capacity: Job.levels)
    for level in 0..<Job.levels { (deques + level).initialize(to: Atomic(0)) }
    owned = PaddedPointer(
      Owned(
        memory: WorkerMemory(
          index: index, fairnessInterval: fairnessInterval, outsideInterval: strategy.outsideInterval),
        random: 0x9E37_79B9_7F4A_7C15 &* UInt64(index + 1)))
    shown = PaddedPointer(WatchedThread())
  }

  deinit {
    for level in 0..<Job.levels {
      if let box = box(level) {
        box.pointee.deallocate()
        box.free()
      }
    }
    deques.deinitialize(count: Job.levels)
    deques.deallocate()
    owned.deallocate()
    shown.deallocate()
  }

  private func box(_ level: Int) -> UnsafeMutablePointer<WorkStealingDeque>? {
    UnsafeMutablePointer(bitPattern: deques[level].load(ordering: .acquiring))
  }

  // MARK: - Owner

  /// Whether the calling thread is this worker: for assertions.
  private var isOwnThread: Bool { watched.threadID == cplatform_thread_id() }

  @inline(__always)
  func push(_ job: UInt, level: Int) {
    assert(isOwnThread, "a thread pushes to a deque that another thread owns")
    assert(job != 0, "a job that stands for nothing")
    if let box = box(level) {
      box.pointee.push(job)
    } else {
      makeDeque(level).pointee.push(job)
    }
    owned.pointer.pointee.memory.ownLevels |= 1 << UInt32(level)
  }

  @inline(never)
  private func makeDeque(_ level: Int) -> UnsafeMutablePointer<WorkStealingDeque> {
    let box = UnsafeMutablePointer.holding(WorkStealingDeque())
    deques[level].store(UInt(bitPattern: box), ordering: .releasing)
    return box
  }

  /// Adds a job that the worker's own jobs made. `push` alone is for a job that the worker brings in from outside.
  @inline(__always)
  func add(_ job: UInt, level: Int) {
    push(job, level: level)
    owned.pointer.pointee.memory.countAdded()
  }

  /// Calls a function with what the owner remembers.
  @inline(__always)
  func withMemory<Result>(_ body: (inout WorkerMemory) -> Result) -> Result { body(&owned.pointer.pointee.memory) }

  /// The next job of a level, by default the oldest; 0 when there is none. If there is none, the level's bit is
  /// cleared.
  @inline(__always)
  func take(level: Int) -> UInt {
    assert(isOwnThread, "a thread takes from a deque that another thread owns")
    let job = takesOldest ? box(level)?.pointee.takeFirst() ?? 0 : takeByTurn(level)
    if job == 0 { owned.pointer.pointee.memory.ownLevels &= ~(1 << UInt32(level)) }
    return job
  }

  @inline(never)
  private func takeByTurn(_ level: Int) -> UInt {
    guard let box = box(level) else { return 0 }
    return owned.pointer.pointee.memory.takesNewest(ownEnd) ? box.pointee.pop() : box.pointee.takeFirst()
  }

  /// A pseudo-random number below `bound`: xorshift64*, high bits.
  func random(below bound: Int) -> Int {
    var x = owned.pointer.pointee.random
    x ^= x >> 12
    x ^= x << 25
    x ^= x >> 27
    owned.pointer.pointee.random = x
    return Int(((x &* 0x2545_F491_4F6C_DD1D) >> 32) % UInt64(bound))
  }

  /// The lists of a multi-queue that the owner has chosen.
  var chosenLists: ListChoice {
    _read { yield owned.pointer.pointee.chosenLists }
    _modify { yield &owned.pointer.pointee.chosenLists }
  }

  // MARK: - Everybody

  /// What the worker has done. Only the owner counts.
  @inline(__always)
  var counts: WorkerCounts {
    @inline(__always) _read { yield owned.pointer.pointee.counts }
  }

  var statistics: PoolStatistics.Worker { counts.now(jobs: watched.jobsBegun) }

  /// The thread that is this worker now, or was last.
  @inline(__always)
  var watched: WatchedThread {
    @inline(__always) _read { yield shown.pointer.pointee }
  }

  /// Takes the oldest job of a level from this worker, for another worker; 0 when there is none, and with `.next` also
  /// when another thread took it.
  func steal(level: Int, _ lostRace: StealingStrategy.LostRace) -> UInt {
    guard let box = box(level) else { return 0 }
    while true {
      switch box.pointee.steal() {
      case .element(let job): return job
      case .empty: return 0
      case .lost:
        if lostRace == .next { return 0 }
        cplatform_pause()
      }
    }
  }

  /// The number of jobs of a level at some instant.
  func count(level: Int) -> Int { box(level)?.pointee.count ?? 0 }

  func isEmpty(level: Int) -> Bool { box(level)?.pointee.isEmpty ?? true }

  var hasJobs: Bool { (0..<Job.levels).contains { !isEmpty(level: $0) } }

  /// The number of jobs in all deques at some instant.
  var queuedCount: Int { (0..<Job.levels).reduce(0) { $0 + (box($1)?.pointee.count ?? 0) } }
}
