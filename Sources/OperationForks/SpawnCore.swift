import CPlatform
@_spi(Jobs) import OperationJobs
import Primitives
import Synchronization

/// The children of a scope. `README.md` here has the protocol, in "Scopes that spawn".
final class SpawnCore: CrewWork, Sendable {
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
  private let crew = Crew()

  /// The backend whose threads help; nil when there is no memory for a list of forks: then nobody helps.
  private var home: Unmanaged<BackendHome>? { crew.home }

  /// Called by the owner: from now on, or no longer, the scope is told when the level of its operation changes.
  func list(_ isListed: Bool) { isListed ? crew.beginTelling(self) : crew.endTelling() }

  // MARK: - Spawning

  func spawn(_ body: @escaping Body) {
    let here = cplatform_values_here()
    let bound = here == crew.newestValue ? nil : here.map(BoundValues.init(copying:)) ?? BoundValues.none
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
    crew.passTurn()
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
    let job = Unmanaged<JobObject>.passRetained(SpawnJob(self, level: crew.level, levels: levels))
    if crew.show(Job(owning: job)) { return }
    // The backend takes nothing from outside any more. The owner runs what is left.
    job.release()
    locked.withLock { jobIsGone(levels) }
  }

  /// Called with the lock, for a job that was counted when the level had changed this number of times.
  private func jobIsGone(_ levels: Int) { if levels == locked.state.levels { locked.state.jobs -= 1 } }

  /// The jobs of the level before stay where they are, and count no longer.
  func levelChanged() {
    guard home?._withUnsafeGuaranteedRef({ $0.host }) != nil else { return }
    locked.withLock {
      locked.state.levels += 1
      locked.state.jobs = 0
    }
    while let job = locked.withLock({ takeNeedOfJob() }) { submitJob(job) }
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
    // The child and what it has captured are released before the owner may go on.
    withExtendedLifetime(next?.values) { bound in
      guard crew.help(bound.map(\.newest) ?? crew.newestValue, { if let next = next.take() { self.run(next) } }) else {
        fatalError("Operations: there is no memory to run a child of a scope")
      }
    }
    childEnded()
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
      crew.passTurn()
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

  private func waitForNews(_ seen: UInt32) {
    let isNews = { self.news.load(ordering: .acquiring) != seen }
    crew.wait(until: isNews) {
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
