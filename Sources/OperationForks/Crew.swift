import CPlatform
@_spi(Jobs) import OperationJobs
import Primitives
import Synchronization

/// What has pieces of work for several threads: a scope that spawns, a run of a graph.
package protocol CrewWork: AnyObject {
  /// The level of the operation has changed around whose work this is. Called without locks of the work's.
  func levelChanged()
  /// What the work waits for, a line for each; empty where there is nothing to tell. For diagnosis: without locks of a
  /// user's.
  func explain() -> [String]
}

extension CrewWork {
  package func explain() -> [String] { [] }
}

/// Lends threads of a backend to work that several threads do together. A thread that helps sees what the owner of the
/// work sees: its operation and queue, its task-local values, and of its task what a body can ask for.
///
/// The owner is a thread that waits for the work, or a task that is suspended meanwhile.
package struct Crew: @unchecked Sendable {
  // Sendable: nothing changes, and what the pointers point to stays as it is until the work has ended.

  /// Whose threads help; nil when nobody can. The queue of the operation holds the backend until the work has ended, or
  /// else the owner does. So the home is used only while there is work.
  package var home: Unmanaged<BackendHome>? { task.home }
  private let task: ForkList.Task
  /// The launch frame of the owner. It stays until the work has ended.
  package let launch: UnsafeMutablePointer<LaunchFrame>?
  private let scope: UInt64
  /// The newest task-local value of the owner, which stays until the work has ended.
  package let newestValue: UnsafeMutableRawPointer?

  /// Called by a thread that waits for the work itself, in a scope of forks.
  package init() {
    launch = LaunchFrame.current
    let list = cplatform_forks_here().map(ForkList.of)
    task = list?.task ?? ForkList.Task()
    scope = list?.memory.pointee.scope ?? 0
    newestValue = cplatform_values_here()
  }

  /// Called in a task that will be suspended until the work has ended, and that calls `endTask` then. Traps when the
  /// backend has been shut down.
  /// - Parameters:
  ///   - home: the caller holds the home and its backend.
  ///   - level: of the task.
  ///   - launch: a copy of the task's frame, which the caller keeps.
  package init(ofTaskOn home: BackendHome, level: Int, launch: UnsafeMutablePointer<LaunchFrame>?) {
    // The task's thread runs nothing of the work: it is no guest.
    if home.host?.beginForks() == true { home.host?.countGuest(-1) }
    let home = Unmanaged.passUnretained(home)
    task = ForkList.Task(home: home, level: level, maker: .passRetained(ForkMaker(home: home)))
    self.launch = launch
    scope = 0
    _ = ForkList.valuesAreFound
    newestValue = cplatform_values_here()
  }

  /// The task goes on.
  package func endTask() { task.end() }

  /// The level of the operation around the work, or else of the owner.
  package var level: Int { ForkList.level(of: launch, in: task) }

  /// The backend, when it decides which of its threads goes on.
  package var driven: (any DrivenBackend)? { home?._withUnsafeGuaranteedRef { $0.driven } }

  /// On the deterministic backend the seed says who goes on.
  package func passTurn() { driven?.passTurn() }

  /// Gives the backend a job of the work's.
  /// - Returns: false when the backend takes nothing from outside any more: the job was not taken.
  package func show(_ job: Job) -> Bool {
    home?._withUnsafeGuaranteedRef { $0.show(job, wakes: true) } ?? false
  }

  // MARK: - Levels

  /// Called by the thread that owns the work: from now on the work is told when the level of its operation changes.
  package func beginTelling(_ work: any CrewWork) {
    guard let list = cplatform_forks_here().map(ForkList.of) else { return }
    list.lock.withLock { list.told.append(Told(launch: launch, work: work)) }
  }

  /// The work that was told last is told no more. A thread that tells it is waited for.
  package func endTelling() {
    guard let list = cplatform_forks_here().map(ForkList.of) else { return }
    list.lock.withLock { _ = list.told.removeLast() }
  }

  /// Called in a task that will be suspended: from now on the work is told when the level of its operation changes.
  /// O(1).
  package func beginTellingTask(_ work: any CrewWork) {
    let operation = LaunchFrame.operation(at: launch)
    if operation == 0 { return }
    Self.tasks.withLock {
      Self.tasks.state[operation, default: []].append(Told(launch: launch, work: work))
      Self.taskCount.store(Self.tasks.state.count, ordering: .sequentiallyConsistent)
    }
  }

  /// Called when the task goes on. O(runs of its operation that are under way).
  package func endTellingTask(_ work: any CrewWork) {
    let operation = LaunchFrame.operation(at: launch)
    if operation == 0 { return }
    Self.tasks.withLock {
      Self.tasks.state[operation]?.removeAll { $0.work === work }
      if Self.tasks.state[operation]?.isEmpty == true { Self.tasks.state[operation] = nil }
      Self.taskCount.store(Self.tasks.state.count, ordering: .relaxed)
    }
  }

  /// The work of tasks that are suspended, by the operations of the tasks.
  private static let tasks = Locked<[UInt: [Told]]>([:])
  private static let taskCount = Atomic<Int>(0)

  /// Tells the work of suspended tasks. One load when there is none.
  static func levelChanged(of operation: UInt) {
    if taskCount.load(ordering: .sequentiallyConsistent) == 0 { return }
    tasks.withLock { for told in tasks.state[operation] ?? [] { told.work.levelChanged() } }
  }

  /// What the work inside of an operation waits for. O(threads that have joined).
  package static func explain(_ operation: UInt) -> [String] {
    var lines = tasks.withLock { (tasks.state[operation] ?? []).flatMap { $0.work.explain() } }
    _ = ForkList.any { list in
      list.lock.withLock {
        for told in list.told where told.isOf(operation) { lines += told.work.explain() }
      }
      return false
    }
    return lines
  }

  /// Work that is told of levels.
  struct Told {
    let launch: UnsafeMutablePointer<LaunchFrame>?
    unowned(unsafe) let work: any CrewWork

    /// Called with a lock that the owner takes before it ends the work.
    func isOf(_ operation: UInt) -> Bool { LaunchFrame.operation(at: launch) == operation }
  }

  // MARK: - Helping

  /// Runs a body on the calling thread as the list of the thread runs a fork that the owner made.
  /// - Parameters:
  ///   - values: the newest task-local value that the body sees.
  ///   - body: runs once.
  /// - Returns: false when there is no memory for a list of forks: the body was not run.
  package func help(_ values: UnsafeMutableRawPointer?, _ body: () -> Void) -> Bool {
    guard let list = ForkList.take()?.takeUnretainedValue() else { return false }
    withUnsafeTemporaryAllocation(of: cplatform_fork.self, capacity: 1) { memory in
      guard let fork = memory.baseAddress else { return }
      fillFork(fork, body)
      fork.pointee.launch = UnsafeMutableRawPointer(launch)
      fork.pointee.values = values
      fork.pointee.scope = scope
      list.run(
        fork, as: ForkList.Task(home: home, level: level, host: home, maker: task.maker),
        number: home?._withUnsafeGuaranteedRef { $0.number } ?? 0)
    }
    return true
  }

  // MARK: - Waiting

  /// How long an owner looks before it sleeps, in ticks.
  private static let spinTime = 50 * cplatform_ticks_per_microsecond()

  /// Called by the thread that owns the work: returns when `isNews` holds.
  /// - Parameters:
  ///   - isNews: must not block.
  ///   - sleep: says that the owner sleeps, and sleeps until `isNews` holds, or returns at once.
  package func wait(until isNews: () -> Bool, sleep: () -> Void) {
    if let driven = DrivenBackends.here ?? driven {
      cplatform_pay_debts()
      return driven.wait(until: isNews)
    }
    let start = cplatform_ticks()
    while cplatform_ticks() &- start < Self.spinTime {
      if isNews() { return }
      cplatform_yield()
    }
    LaunchFrame.whileBlocked(sleep)
  }
}

/// Writes the two words of a closure that does not escape into a fork. The definition is in C, as that of `pushFork`.
@_silgen_name("cplatform_fork_fill")
private func fillFork(_ fork: UnsafeMutablePointer<cplatform_fork>, _ body: () -> Void)
