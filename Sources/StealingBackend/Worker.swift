import CPlatform
import OperationCore
import Primitives
import Scheduling
import Synchronization

/// One worker: its deques, and what others may know about the worker. A worker stays for the life of the pool;
/// threads come and go.
final class Worker: PoolMember, @unchecked Sendable {
  // Sendable: `parker`, the deques and the memory that `shown` points to are for everybody. The memory that `owned`
  // points to is touched only by the thread that is this worker at the time.

  let index: Int
  private let outsideInterval: UInt32
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
    /// One bit for each level: the owner's deque may have a job of that level.
    var ownLevels: UInt32 = 0
    /// The number of jobs until the next turn of `turns`.
    var tick: Int
    var turns: Turns
    /// The number of jobs that this worker has added since it last looked outside on their account.
    var added: UInt32 = 0
    /// The number of jobs that this worker has added beyond those for which it looked outside: a batch counts as one look.
    var unlooked = 0
    /// A worker with jobs, and how many jobs that worker had begun, at the last others' turn.
    var seen = (worker: -1, jobs: 0)
    /// The number of jobs that this worker took from its own deques, unless it takes the oldest.
    var turn: UInt32 = 0
    var random: UInt64
    /// What the worker remembers of the workers that it robbed.
    var victim: Int
    /// How often the worker has looked into places for work from outside, when there are several.
    var placeTurn = 0
    /// The lists of a multi-queue that the worker has chosen.
    var lists = MultiQueue.Choice()
    /// What the worker has done. Others may read these.
    let counts = WorkerCounts()
  }

  init(index: Int, fairnessInterval: Int, strategy: StealingStrategy) {
    self.index = index
    outsideInterval = UInt32(strategy.outsideInterval)
    ownEnd = strategy.ownEnd
    takesOldest = strategy.ownEnd == .fifo
    deques = .allocate(capacity: Job.levels)
    for level in 0..<Job.levels { (deques + level).initialize(to: Atomic(0)) }
    let turns = Turns(fairnessInterval: fairnessInterval, outsideInterval: strategy.outsideInterval)
    owned = PaddedPointer(
      Owned(tick: turns.step, turns: turns, random: 0x9E37_79B9_7F4A_7C15 &* UInt64(index + 1), victim: index))
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
    owned.pointer.pointee.ownLevels |= 1 << UInt32(level)
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
    owned.pointer.pointee.added &+= 1
  }

  /// One bit for each level that may have a job here.
  var ownLevels: UInt32 { owned.pointer.pointee.ownLevels }

  /// The next job of a level, by default the oldest; 0 when there is none. If there is none, the level's bit is cleared.
  @inline(__always)
  func take(level: Int) -> UInt {
    assert(isOwnThread, "a thread takes from a deque that another thread owns")
    let job = takesOldest ? box(level)?.pointee.takeFirst() ?? 0 : takeByTurn(level)
    if job == 0 { owned.pointer.pointee.ownLevels &= ~(1 << UInt32(level)) }
    return job
  }

  @inline(never)
  private func takeByTurn(_ level: Int) -> UInt {
    guard let box = box(level) else { return 0 }
    owned.pointer.pointee.turn &+= 1
    return ownEnd.takesNewest(turn: owned.pointer.pointee.turn) ? box.pointee.pop() : box.pointee.takeFirst()
  }

  /// Whether a turn of `turns` has come: `nextTurn` says which.
  @inline(__always)
  func isTimeForTurn() -> Bool {
    owned.pointer.pointee.tick -= 1
    return owned.pointer.pointee.tick == 0
  }

  func nextTurn() -> (isLowests: Bool, isOthers: Bool) {
    let due = owned.pointer.pointee.turns.next()
    owned.pointer.pointee.tick = owned.pointer.pointee.turns.step
    return due
  }

  /// True once for every `outsideInterval` jobs that the worker added itself. Work that feeds itself would otherwise keep the
  /// jobs outside waiting for `fairnessInterval` jobs, or for ever.
  @inline(__always)
  func isTimeForOutside() -> Bool { owned.pointer.pointee.added >= outsideInterval }

  /// The worker looks outside because it is time.
  func looksOutside() {
    owned.pointer.pointee.unlooked += Int(owned.pointer.pointee.added - outsideInterval)
    owned.pointer.pointee.added = 0
  }

  /// The worker has taken one job from outside and looks again as soon as it has added another job.
  func looksOutsideSoon() { owned.pointer.pointee.added = outsideInterval - 1 }

  /// Whether the worker runs jobs that it added and for which it did not look outside. The call covers as many of them as
  /// an others' turn does.
  func hasUnlooked() -> Bool {
    let unlooked = owned.pointer.pointee.unlooked + Int(owned.pointer.pointee.added)
    owned.pointer.pointee.unlooked = max(0, owned.pointer.pointee.unlooked - Turns.usualOthersInterval)
    return unlooked > 0
  }

  /// At the lowest level's turn: whether jobs from outside go before the worker's own. The worker's own jobs came from
  /// outside earlier, unless the worker added them.
  func outsideGoesFirst() -> Bool {
    defer { owned.pointer.pointee.added = 0 }
    let hasAdded = owned.pointer.pointee.added > 0 || owned.pointer.pointee.unlooked > 0
    return hasAdded && !owned.pointer.pointee.turns.ownGoFirst
  }

  /// A worker with jobs, and how many jobs that worker had begun, as this worker saw it last.
  var seen: (worker: Int, jobs: Int) {
    get { owned.pointer.pointee.seen }
    set { owned.pointer.pointee.seen = newValue }
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

  func nextPlaceTurn() -> Int {
    owned.pointer.pointee.placeTurn = (owned.pointer.pointee.placeTurn + 1) & Int(Int32.max)
    return owned.pointer.pointee.placeTurn
  }

  /// The index of the worker to rob first.
  func firstVictim(_ victim: StealingStrategy.Victim, of count: Int, length: (Int) -> Int) -> Int {
    var memory = owned.pointer.pointee.victim
    defer { owned.pointer.pointee.victim = memory }
    return victim.first(
      thief: index, count: count, memory: &memory, random: { random(below: $0) }, length: length)
  }

  func robbed(_ worker: Int, by victim: StealingStrategy.Victim) {
    victim.succeeded(at: worker, memory: &owned.pointer.pointee.victim)
  }

  /// Calls `body` with the lists of a multi-queue that the worker has chosen.
  func withLists<Result>(_ body: (inout MultiQueue.Choice) -> Result) -> Result {
    body(&owned.pointer.pointee.lists)
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
