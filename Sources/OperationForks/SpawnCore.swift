import CPlatform
@_spi(Jobs) import OperationJobs
import Primitives
import Synchronization

/// The children of a scope. `README.md` here has the protocol, in "Scopes that spawn".
final class SpawnCore: Sendable {
  typealias Body = @Sendable () -> (any Error)?

  private struct Child {
    let number: Int
    let body: Body
    /// The task-local values of where the child was spawned; nil for those of the scope.
    let values: BoundValues?
  }

  private struct State: ~Copyable {
    var waiting: [Child] = []
    var spawned = 0
    /// Children that threads run now, and threads that spawn one and still use the backend.
    var running = 0
    /// Jobs that the backend has at the present level, and that have not begun.
    var jobs = 0
    /// How often the level has changed.
    var levels = 0
    var hasEnded = false
    var ownerSleeps = false
    /// Children with this number, or a higher one, are dropped.
    var firstDropped = Int.max
    /// The error of the child that was spawned first among those that threw.
    var error: (any Error)?

    /// Takes out the children that are to be dropped. They are released without the lock: what they captured is a
    /// user's.
    mutating func drop(from number: Int) -> [Child] {
      firstDropped = min(firstDropped, number)
      // They wait in the order of their numbers. O(dropped).
      var dropped: [Child] = []
      while let last = waiting.last, last.number >= number { dropped.append(waiting.removeLast()) }
      return dropped
    }
  }

  private let locked = Locked(State())
  /// Changes when the owner has something to look at.
  private let news = Atomic<UInt32>(0)
  /// The backend whose threads help; nil when there is no memory for a list of forks: then nobody helps. The queue of
  /// the operation holds the backend until the scope has ended, or else the caller of `Backend.run` does. So the home
  /// is used only while children wait or run.
  private var home: Unmanaged<BackendHome>? { task.home }
  private let task: ForkList.Task
  private let launch: Launch
  private let scope: UInt64
  /// The newest task-local value of the owner, which stays until the scope has ended.
  private let values: Values

  /// The launch frame of the owner. It lies on the owner's stack until the scope has ended.
  private struct Launch: @unchecked Sendable {
    // Sendable: threads that run children read the frame, and the owner waits for these threads.
    let frame: UnsafeMutablePointer<LaunchFrame>?
  }

  private struct Values: @unchecked Sendable {
    // Sendable: what a value stands in changes no more, and a bound value is `Sendable`.
    let newest: UnsafeMutableRawPointer?
  }

  /// Called by the owner, in a scope of forks.
  init() {
    launch = Launch(frame: LaunchFrame.current)
    let list = cplatform_forks_here().map(ForkList.of)
    task = list?.task ?? ForkList.Task()
    scope = list?.memory.pointee.scope ?? 0
    values = Values(newest: cplatform_values_here())
  }

  /// Called by the owner: from now on, or no longer, the scope is told when the level of its operation changes.
  func list(_ isListed: Bool) {
    guard let list = cplatform_forks_here().map(ForkList.of) else { return }
    list.lock.withLock {
      if isListed { list.cores.append(.passUnretained(self)) } else { list.cores.removeLast() }
    }
  }

  private var level: Int { ForkList.level(of: launch.frame, in: task) }

  // MARK: - Spawning

  func spawn(_ body: @escaping Body) {
    let here = cplatform_values_here()
    let bound = here == values.newest ? nil : here.map(BoundValues.init(copying:)) ?? BoundValues.none
    locked.lock()
    if locked.state.hasEnded {
      locked.unlock()
      forkMisuse("spawn was called on a scope that has ended")
    }
    let number = locked.state.spawned
    locked.state.spawned += 1
    if number >= locked.state.firstDropped { return locked.unlock() }
    locked.state.waiting.append(Child(number: number, body: body, values: bound))
    let job = takeNeedOfJob()
    // Until it has used the backend the thread counts as one that runs a child: it may be none of the scope's, and the
    // child may end meanwhile.
    let usesBackend = job != nil || DrivenBackends.exist
    if usesBackend { locked.state.running += 1 }
    tellOwnerAndUnlock()
    guard usesBackend else { return }
    if let job { submitJob(job) }
    passTurn()
    childEnded()
  }

  /// Whether the backend is to get one more job; counts the job. While children wait, the backend has at least one.
  /// Called with the lock.
  /// - Returns: how often the level had changed when the job was counted; nil when the backend has enough.
  private func takeNeedOfJob() -> Int? {
    guard let home, !locked.state.waiting.isEmpty,
      locked.state.jobs < min(locked.state.waiting.count, home._withUnsafeGuaranteedRef { $0.workerCount })
    else { return nil }
    locked.state.jobs += 1
    return locked.state.levels
  }

  private func submitJob(_ levels: Int) {
    guard let home else { return }
    let job = Unmanaged<JobObject>.passRetained(SpawnJob(self, level: level, levels: levels))
    if home._withUnsafeGuaranteedRef({ $0.show(Job(owning: job), wakes: true) }) { return }
    // The backend takes nothing from outside any more. The owner runs what is left.
    job.release()
    locked.withLock { jobIsGone(levels) }
  }

  /// Called with the lock, for a job that was counted when the level had changed this number of times.
  private func jobIsGone(_ levels: Int) { if levels == locked.state.levels { locked.state.jobs -= 1 } }

  /// The level of an operation has changed. The jobs of the level before stay where they are, and count no longer.
  /// Called with the lock of the owner's list: the owner is held up before it ends the scope.
  func levelChanged(of operation: UInt) {
    guard LaunchFrame.operation(at: launch.frame) == operation,
      home?._withUnsafeGuaranteedRef({ $0.host }) != nil
    else { return }
    locked.withLock {
      locked.state.levels += 1
      locked.state.jobs = 0
    }
    while let job = locked.withLock({ takeNeedOfJob() }) { submitJob(job) }
  }

  private var driven: (any DrivenBackend)? { home?._withUnsafeGuaranteedRef { $0.driven } }

  /// On the deterministic backend the seed says who goes on.
  private func passTurn() {
    driven?.passTurn()
  }

  /// Called when the owner has something to look at, with the lock.
  private func tellOwnerAndUnlock() {
    news.wrappingAdd(1, ordering: .releasing)
    let wakes = locked.state.ownerSleeps
    locked.state.ownerSleeps = false
    locked.unlock()
    if wakes { news.futexWake(1) }
  }

  // MARK: - Running children

  /// Called by a job of the backend: runs a child, if one waits.
  /// - Parameter levels: how often the level had changed when the job was made.
  func runChildForJob(_ levels: Int) {
    locked.lock()
    jobIsGone(levels)
    var next = takeChild()
    let job = takeNeedOfJob()
    locked.unlock()
    // First, since the child may block: then another thread takes the next one.
    if let job { submitJob(job) }
    if next == nil { return }
    guard let list = ForkList.take() else { fatalError("Operations: there is no memory to run a child of a scope") }
    // The child and what it has captured are released before the owner may go on.
    withExtendedLifetime(next?.values) { bound in
      run(on: list, bound.map(\.newest) ?? values.newest) { if let next = next.take() { self.run(next) } }
    }
    childEnded()
  }

  /// Runs a body as the list runs a fork that the owner made.
  private func run(on list: ForkList, _ values: UnsafeMutableRawPointer?, _ body: () -> Void) {
    withUnsafeTemporaryAllocation(of: cplatform_fork.self, capacity: 1) { memory in
      guard let fork = memory.baseAddress else { return }
      fillFork(fork, body)
      fork.pointee.launch = UnsafeMutableRawPointer(launch.frame)
      fork.pointee.values = values
      fork.pointee.scope = scope
      list.run(
        fork, as: ForkList.Task(home: home, level: level, host: home, maker: task.maker),
        number: home?._withUnsafeGuaranteedRef { $0.number } ?? 0)
    }
  }

  /// Takes the newest child. Called with the lock.
  private func takeChild() -> Child? {
    guard let next = locked.state.waiting.popLast() else { return nil }
    locked.state.running += 1
    return next
  }

  private func run(_ next: Child) {
    guard var error = next.body() as (any Error)? else { return }
    locked.lock()
    // Numbers from here on are dropped already when a child that was spawned before has thrown.
    var dropped: [Child] = []
    if next.number < locked.state.firstDropped {
      dropped = locked.state.drop(from: next.number)
      if let other = locked.state.error {
        (locked.state.error, error) = (error, other)
      } else {
        locked.state.error = error
      }
    }
    locked.unlock()
    _ = consume dropped
  }

  private func childEnded() {
    locked.lock()
    locked.state.running -= 1
    if locked.state.running == 0 { tellOwnerAndUnlock() } else { locked.unlock() }
  }

  // MARK: - Waiting

  /// The body has thrown: no further child begins.
  func dropChildren() {
    let dropped = locked.withLock { locked.state.drop(from: 0) }
    _ = consume dropped
  }

  /// Called by the owner: runs children, and returns when none is left.
  /// - Returns: the error of the child that was spawned first among those that threw.
  func waitForChildren() -> (any Error)? {
    while true {
      passTurn()
      locked.lock()
      let seen = news.load(ordering: .relaxed)
      if let next = takeChild() {
        locked.unlock()
        runHere(next)
        childEnded()
      } else if locked.state.running == 0 {
        locked.state.hasEnded = true
        let error = locked.state.error
        locked.unlock()
        return error
      } else {
        locked.unlock()
        waitForNews(seen)
      }
    }
  }

  private func runHere(_ next: Child) {
    guard let bound = next.values, let list = cplatform_forks_here() else { return run(next) }
    withExtendedLifetime(bound) {
      let before = cplatform_values_replace(list, bound.newest)
      run(next)
      cplatform_values_end(list, before)
    }
  }

  /// How long the owner looks before it sleeps, in ticks.
  private static let spinTime = 50 * cplatform_ticks_per_microsecond()

  private func waitForNews(_ seen: UInt32) {
    let isNews = { self.news.load(ordering: .acquiring) != seen }
    if let driven = DrivenBackends.here ?? driven {
      cplatform_pay_debts()
      return driven.wait(until: isNews)
    }
    let start = cplatform_ticks()
    while cplatform_ticks() &- start < Self.spinTime {
      if isNews() { return }
      cplatform_yield()
    }
    LaunchFrame.whileBlocked {
      let sleeps = locked.withLock {
        locked.state.ownerSleeps = !isNews()
        return locked.state.ownerSleeps
      }
      while sleeps, !isNews() { news.futexWait(while: seen) }
    }
  }

  /// Whether a job that the backend still has would start nothing.
  var hasEnded: Bool { locked.withLock { locked.state.hasEnded } }
}

/// What a backend gets: a job that runs one child of a scope, if one waits by then.
package final class SpawnJob: JobObject {
  private let core: SpawnCore
  private let levels: Int

  init(_ core: SpawnCore, level: Int, levels: Int) {
    (self.core, self.levels) = (core, levels)
    super.init()
    setLevel(level)
  }

  override package var stepLabel: String { "child" }
  override package var isVoid: Bool { core.hasEnded }

  override package func runJob() -> JobOutcome {
    OwedReferences.settle()
    core.runChildForJob(levels)
    return JobOutcome(isReleased: true)
  }
}

/// Writes the two words of a closure that does not escape into a fork. The definition is in C, as that of `pushFork`.
@_silgen_name("cplatform_fork_fill")
private func fillFork(_ fork: UnsafeMutablePointer<cplatform_fork>, _ body: () -> Void)
