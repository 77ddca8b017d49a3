import CPlatform
import Primitives
import Synchronization

/// Waits for all children that a body spawns, however many these are.
///
/// ```swift
/// import Operations
///
/// func visit(_ folder: Int, _ scope: SpawnScope<Never>) {
///   guard folder < 100 else { return }
///   for child in [2 * folder + 1, 2 * folder + 2] {
///     scope.spawn { visit(child, scope) }
///   }
/// }
/// withForkScope { scope in visit(0, scope) }
/// ```
///
/// `withForkScope(_:)` makes a scope, and returns when all children have ended. Children may spawn further children.
///
/// *Shape*: threads of the pool take children, the newest first. So the children that wait stay few while children spawn. The thread
/// that waits runs children as well, and nothing else.
///
/// *Cost*: children escape, so each costs an allocation for its closure, a lock for a moment, and a job of the pool now and then.
/// `join(_:_:)` and the loops cost none of these. They are better wherever the number of pieces is known.
public struct SpawnScope<Failure: Error>: Sendable {
  let core: SpawnCore

  /// Adds a child, which runs on any thread: on a thread of the pool, or on the thread that waits for the scope.
  ///
  /// In the child `OperationQueue.current` is that of the code around `withForkScope`. Cancelling stops no child.
  /// Any thread may spawn until the scope has ended, also one that runs no child of the scope.
  ///
  /// *Cost*: O(1), with an allocation.
  ///
  /// Traps when the scope has ended.
  ///
  /// - Parameter child: runs once. When it throws, children that were spawned later and have not begun are dropped.
  public func spawn(_ child: @escaping @Sendable () throws(Failure) -> Void) {
    core.spawn {
      do throws(Failure) {
        try child()
        return nil
      } catch { return error }
    }
  }
}

/// Runs a body that spawns children, and returns when the body and all children have ended.
///
/// ```swift
/// import Operations
///
/// let count = withForkScope { scope in
///   for name in ["a", "b"] { scope.spawn { print(name) } }
///   return 2
/// }
/// print(count)
/// ```
///
/// The body runs on the calling thread. Threads of the pool take children at once: those of the present operation's backend, or
/// else of the default one. `withForkScope(throwing:_:)` takes a body and children that throw.
///
/// *Cost*: O(number of children), with an allocation for the scope and one or two for each child.
///
/// Traps when the pool has been shut down.
///
/// - Parameter body: gets the scope.
/// - Returns: what the body returned.
@available(*, noasync, message: "blocks the thread; await the asynchronous function of this name")
public func withForkScope<Result>(_ body: (SpawnScope<Never>) -> Result) -> Result { spawnAndWait(on: nil, body) }

/// Runs a body that spawns children and may throw, as they may, and returns when the body and all children have ended.
///
/// ```swift
/// import Operations
///
/// struct TooLong: Error {}
/// do throws(TooLong) {
///   try withForkScope(throwing: TooLong.self) { scope throws(TooLong) in
///     scope.spawn { () throws(TooLong) in throw TooLong() }
///   }
/// } catch { print(error) }
/// ```
///
/// When the body throws, children that have not begun are dropped, and the body's error is thrown. Otherwise the error that is thrown
/// is that of the child that was spawned first among those that threw. Either way all that has begun has ended.
///
/// Everything else is as for `withForkScope(_:)`.
///
/// - Parameters:
///   - failure: the type of the errors that the body and the children throw.
///   - body: gets the scope.
/// - Returns: what the body returned.
@available(*, noasync, message: "blocks the thread; await the asynchronous function of this name")
public func withForkScope<Result, Failure: Error>(
  throwing failure: Failure.Type, _ body: (SpawnScope<Failure>) throws(Failure) -> Result
) throws(Failure) -> Result {
  try spawnAndWait(on: nil, body)
}

extension Backend {
  /// Runs a body that spawns children, with this backend's threads to help, and returns when the body and all children have ended.
  ///
  /// ```swift
  /// import Operations
  ///
  /// ThreadPoolBackend(workers: 2).withForkScope { scope in
  ///   scope.spawn { print("child") }
  /// }
  /// ```
  ///
  /// Everything else is as for the free function `withForkScope(_:)`.
  @available(*, noasync, message: "blocks the thread; await the asynchronous function of this name")
  public func withForkScope<Result>(_ body: (SpawnScope<Never>) -> Result) -> Result { spawnAndWait(on: self, body) }

  /// Runs a body that spawns children and may throw, as they may, with this backend's threads to help.
  ///
  /// Everything else is as for the free function `withForkScope(throwing:_:)`.
  @available(*, noasync, message: "blocks the thread; await the asynchronous function of this name")
  public func withForkScope<Result, Failure: Error>(
    throwing failure: Failure.Type, _ body: (SpawnScope<Failure>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try spawnAndWait(on: self, body)
  }
}

func spawnAndWait<Result, Failure: Error>(
  on backend: (any Backend)?, _ body: (SpawnScope<Failure>) throws(Failure) -> Result
) throws(Failure) -> Result {
  let forks = ForkScope(on: backend)
  defer { forks?.end() }
  let core = SpawnCore()
  let result: Result
  do throws(Failure) {
    result = try body(SpawnScope(core: core))
  } catch {
    core.dropChildren()
    _ = core.waitForChildren()
    throw error
  }
  if let error = core.waitForChildren() { throw error as! Failure }
  return result
}

/// The children of a scope. `README.md` here has the protocol, in "Scopes that spawn".
final class SpawnCore: Sendable {
  typealias Child = @Sendable () -> (any Error)?

  private struct State: ~Copyable {
    var waiting: [(number: Int, child: Child)] = []
    var spawned = 0
    /// Children that threads run now, and threads that spawn one and still use the backend.
    var running = 0
    /// Jobs that the backend has, and that have not begun.
    var jobs = 0
    var hasEnded = false
    var ownerSleeps = false
    /// Children with this number, or a higher one, are dropped.
    var firstDropped = Int.max
    /// The error of the child that was spawned first among those that threw.
    var error: (any Error)?

    /// Takes out the children that are to be dropped. They are released without the lock: what they captured is a user's.
    mutating func drop(from number: Int) -> [(number: Int, child: Child)] {
      firstDropped = min(firstDropped, number)
      // They wait in the order of their numbers. O(dropped).
      var dropped: [(number: Int, child: Child)] = []
      while let last = waiting.last, last.number >= number { dropped.append(waiting.removeLast()) }
      return dropped
    }
  }

  private let locked = Locked(State())
  /// Changes when the owner has something to look at.
  private let news = Atomic<UInt32>(0)
  /// The backend whose threads help; nil when there is no memory for a list of forks: then nobody helps. The queue of the operation
  /// holds the backend until the scope has ended, or else the caller of `Backend.withForkScope` does. So the home is used only
  /// while children wait or run.
  private let home: Unmanaged<ForkHome>?
  private let level: Int
  private let launch: Launch
  private let scope: UInt64

  /// The launch frame of the owner. It lies on the owner's stack until the scope has ended.
  private struct Launch: @unchecked Sendable {
    // Sendable: threads that run children read the frame, and the owner waits for these threads.
    let frame: UnsafeMutableRawPointer?
  }

  /// Called by the owner, in a scope of forks.
  init() {
    launch = Launch(frame: UnsafeMutableRawPointer(LaunchFrame.current))
    let list = cplatform_forks_here().map(ForkList.of)
    home = list?.task.home
    level = list?.task.level ?? Job.middleLevel
    scope = list?.memory.pointee.scope ?? 0
  }

  // MARK: - Spawning

  func spawn(_ child: @escaping Child) {
    locked.lock()
    if locked.state.hasEnded {
      locked.unlock()
      forkMisuse("spawn was called on a scope that has ended")
    }
    let number = locked.state.spawned
    locked.state.spawned += 1
    if number >= locked.state.firstDropped { return locked.unlock() }
    locked.state.waiting.append((number, child))
    let needsJob = takeNeedOfJob()
    // Until it has used the backend the thread counts as one that runs a child: it may be none of the scope's, and the child may
    // end meanwhile.
    let usesBackend = needsJob || DrivenBackends.exist
    if usesBackend { locked.state.running += 1 }
    tellOwnerAndUnlock()
    guard usesBackend else { return }
    if needsJob { submitJob() }
    passTurn()
    childEnded()
  }

  /// Whether the backend is to get one more job; counts the job. While children wait, the backend has at least one. Called with
  /// the lock.
  private func takeNeedOfJob() -> Bool {
    guard let home, !locked.state.waiting.isEmpty,
      locked.state.jobs < min(locked.state.waiting.count, home._withUnsafeGuaranteedRef { $0.workerCount })
    else { return false }
    locked.state.jobs += 1
    return true
  }

  private func submitJob() {
    guard let home else { return }
    let job = Unmanaged<JobObject>.passRetained(SpawnJob(self, level: level))
    if home._withUnsafeGuaranteedRef({ $0.show(Job(owning: job), wakes: true) }) { return }
    // The backend takes nothing from outside any more. The owner runs what is left.
    job.release()
    locked.withLock { locked.state.jobs -= 1 }
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
  func runChildForJob() {
    locked.lock()
    locked.state.jobs -= 1
    var next = takeChild()
    let needsJob = takeNeedOfJob()
    locked.unlock()
    // First, since the child may block: then another thread takes the next one.
    if needsJob { submitJob() }
    if next == nil { return }
    guard let list = ForkList.take() else { fatalError("Operations: there is no memory to run a child of a scope") }
    // The child and what it has captured are released before the owner may go on.
    run(on: list) { if let next = next.take() { self.run(next) } }
    childEnded()
  }

  /// Runs a body as the list runs a fork that the owner made.
  private func run(on list: ForkList, _ body: () -> Void) {
    withUnsafeTemporaryAllocation(of: cplatform_fork.self, capacity: 1) { memory in
      guard let fork = memory.baseAddress else { return }
      fillFork(fork, body)
      fork.pointee.launch = launch.frame
      fork.pointee.scope = scope
      list.run(
        fork, as: ForkList.Task(home: home, level: level, host: home),
        identity: home?._withUnsafeGuaranteedRef { $0.identity } ?? 0)
    }
  }

  /// Takes the newest child. Called with the lock.
  private func takeChild() -> (number: Int, child: Child)? {
    guard let next = locked.state.waiting.popLast() else { return nil }
    locked.state.running += 1
    return next
  }

  private func run(_ next: (number: Int, child: Child)) {
    guard var error = next.child() as (any Error)? else { return }
    locked.lock()
    // Numbers from here on are dropped already when a child that was spawned before has thrown.
    var dropped: [(number: Int, child: Child)] = []
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
        run(next)
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

  /// How long the owner looks before it sleeps, in ticks.
  private static let spinTime = 50 * cplatform_ticks_per_microsecond()

  private func waitForNews(_ seen: UInt32) {
    let isNews = { self.news.load(ordering: .acquiring) != seen }
    if let driven = DrivenBackends.here ?? driven {
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
private final class SpawnJob: JobObject {
  private let core: SpawnCore

  init(_ core: SpawnCore, level: Int) {
    self.core = core
    super.init(levelWord: UInt32(level))
  }

  override var stepLabel: String { "child" }
  override var isVoid: Bool { core.hasEnded }

  override func runJob() -> JobOutcome {
    OwedReferences.settle()
    core.runChildForJob()
    return JobOutcome(isReleased: true)
  }
}

/// Writes the two words of a closure that does not escape into a fork. The definition is in C, as that of `pushFork`.
@_silgen_name("cplatform_fork_fill")
private func fillFork(_ fork: UnsafeMutablePointer<cplatform_fork>, _ body: () -> Void)
