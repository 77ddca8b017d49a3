import CPlatform
import OperationJobs
import Primitives
import Synchronization

/// The forks of one thread. `README.md` here is the protocol.
///
/// A list is never freed, since a thread that looks at it late may be about to read it. A thread keeps its list for its
/// next join, and gives it to others when the thread ends.
///
/// The files beside this one hold what happens to a list: `Showing`, `Joining`, `Running`, `Pace`.
final class ForkList: @unchecked Sendable {
  // Sendable: the memory follows the protocol. What says as what a fork of the list is shown is written by the owner
  // under `lock`, and read under `lock` or by the owner. The owner alone touches the other fields.

  typealias Memory = UnsafeMutablePointer<cplatform_forks>
  typealias Fork = UnsafeMutablePointer<cplatform_fork>

  /// For whom and as what the owner forks.
  struct Task {
    /// The backend whose threads help; nil while the thread has no scope.
    var home: Unmanaged<BackendHome>?
    var level = Job.middleLevel
    /// The thread is none of the backend's, and counts there as one that runs.
    var isGuest = false
    /// The backend whose job the thread runs, when the job is a ticket.
    var host: Unmanaged<BackendHome>?
    /// The home was made for the scope, and ends with it.
    var ownsHome = false
    /// The task of Swift's in which the scope began; nil for none.
    var maker: Unmanaged<ForkMaker>?

    /// Gives back what the scope of the task has taken. Called by the thread that began the scope.
    func end() {
      countGuest(-1)
      maker?.takeRetainedValue().end()
      if ownsHome { home?.release() }
    }

    /// Counts the thread as a guest that runs, or as one that does not.
    func countGuest(_ change: Int) {
      if isGuest { home?._withUnsafeGuaranteedRef { $0.host?.countGuest(change) } }
    }

    /// The backend of the task, when that backend decides which of its threads goes on.
    var driven: (any DrivenBackend)? { home?._withUnsafeGuaranteedRef { $0.driven } }

    var workerCount: Int { home?._withUnsafeGuaranteedRef { $0.workerCount } ?? 1 }

    /// The thread takes the place of the pool's only worker: nobody is left to help.
    var isAlone: Bool { isGuest && workerCount == 1 }
  }

  /// What a scope, or a fork of another list, finds and leaves as it was.
  struct Surroundings {
    let task: Task
    let firstPrivate: Fork
    let launch: UnsafeMutableRawPointer?
    let scope: UInt64
    let values: cplatform_values
  }

  let memory: Memory
  /// Held by the owner outside of the way of a private fork, and by a thread that shows forks in the owner's place.
  let lock = FutexLock()
  /// The list that was made before this one.
  private var older: ForkList?

  // Under `lock`.
  @exclusivity(unchecked) var tickets: ContiguousArray<ForkTicket>
  @exclusivity(unchecked) var task = Task()
  /// The pool whose threads may show forks of the list; nil when nobody may.
  @exclusivity(unchecked) private(set) var pool: ObjectIdentifier?
  /// What is told of levels, the innermost last.
  @exclusivity(unchecked) var told: [Crew.Told] = []

  // The owner's.
  /// What the scopes under way found, the innermost last; nil for a scope that changed nothing.
  @exclusivity(unchecked) private var outers: [Surroundings?] = []
  @exclusivity(unchecked) var pace = Pace()
  @exclusivity(unchecked) private var scopesBegun: UInt64 = 0
  /// Whether the end of the thread will be seen.
  @exclusivity(unchecked) private var isWatched = false

  private init(_ memory: Memory) {
    self.memory = memory
    tickets = ContiguousArray((0..<ForkSlot.count).map { ForkTicket(memory, slot: $0) })
  }

  /// The list of this memory, without a reference of its own: a list is never freed.
  @inline(__always)
  static func unmanaged(_ memory: Memory) -> Unmanaged<ForkList> {
    Unmanaged.fromOpaque(memory.pointee.owner.unsafelyUnwrapped)
  }

  @inline(__always)
  static func of(_ memory: Memory) -> ForkList { unmanaged(memory)._withUnsafeGuaranteedRef { $0 } }

  // MARK: - Lists and threads

  private struct Lists: ~Copyable {
    /// The first list that no thread has.
    var free: Memory?
    /// The list that was made last, free or not.
    var newest: ForkList?
  }

  private static let lists = Locked(Lists())
  /// `newest`, as a word for threads without the lock; 0 before the first list.
  private static let newestWord = Atomic<UInt>(0)

  /// The list that the thread has in use, or one for its next join; nil when there is no memory for one.
  static func take() -> Unmanaged<ForkList>? {
    if let list = cplatform_forks_here() ?? cplatform_kept_forks() { return unmanaged(list) }
    guard let list = takeFree() ?? make() else { return nil }
    list.isWatched = cplatform_at_thread_exit(cplatform_forks_owner, threadEnds)
    return .passUnretained(list)
  }

  private static func takeFree() -> ForkList? {
    let list: Memory? = lists.withLock {
      guard let first = lists.state.free else { return nil }
      lists.state.free = first.pointee.following?.assumingMemoryBound(to: cplatform_forks.self)
      return first
    }
    return list.map(of)
  }

  private static func make() -> ForkList? {
    _ = valuesAreFound
    guard let memory = cplatform_forks_make() else { return nil }
    let new = ForkList(memory)
    memory.pointee.owner = Unmanaged.passRetained(new).toOpaque()
    _ = cplatform_has_barrier_on_all_threads()
    lists.withLock {
      new.older = lists.state.newest
      lists.state.newest = new
      newestWord.store(UInt(bitPattern: Unmanaged.passUnretained(new).toOpaque()), ordering: .releasing)
    }
    return new
  }

  /// Calls the body for one list after the other until it returns true.
  static func any(_ body: (ForkList) -> Bool) -> Bool {
    guard case let word = newestWord.load(ordering: .acquiring), word != 0 else { return false }
    var list: ForkList? = Unmanaged<ForkList>.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
      .takeUnretainedValue()
    while let here = list {
      if body(here) { return true }
      list = here.older
    }
    return false
  }

  /// `take` gave the list to this thread, which has no use for the list now.
  func keepUnlessUsed() {
    if cplatform_forks_here() != memory { keep() }
  }

  /// Keeps the list for the thread's next join, if the thread can give it away when it ends.
  private func keep() {
    if cplatform_kept_forks() == memory { return }
    if isWatched, cplatform_kept_forks() == nil { cplatform_keep_forks(memory) } else { giveAway() }
  }

  /// Called when a thread ends that has, or had, a list.
  private static let threadEnds: @convention(c) () -> Void = {
    if let list = cplatform_forks_here() {
      // What the forks captured lay on the part of the stack that is gone: nobody begins one any more.
      for slot in 0..<ForkSlot.count { ForkSlot(list, slot).clear() }
      fatalError(
        "Operations: a body of a join, a loop or a scope ended its thread with pthread_exit, Thread.exit() or pthread_cancel; a body must return"
      )
    }
    guard let list = cplatform_kept_forks() else { return }
    cplatform_keep_forks(nil)
    ForkList.of(list).giveAway()
  }

  /// Looks for the places in which the runtime keeps task-local values: before the first list is made, and before the
  /// values of a thread without a list are asked for.
  static let valuesAreFound: Void = {
    if !cplatform_values_find(unsafeBitCast(Int.self as Any.Type, to: UnsafeRawPointer.self)) {
      cplatform_print_error(
        "Operations: forks that another thread runs see no task-local values: this version of Swift keeps the values in an unknown way"
      )
    }
  }()

  private func giveAway() {
    Self.lists.withLock {
      memory.pointee.following = UnsafeMutableRawPointer(Self.lists.state.free)
      Self.lists.state.free = memory
    }
  }

  // MARK: - Scopes

  /// Begins a scope inside of one of the same launch and backend: nothing changes.
  func beginInside() { outers.append(nil) }

  /// Begins an outermost join.
  func begin(_ task: Task, launch: UnsafeMutablePointer<LaunchFrame>?) {
    scopesBegun += 1
    // The address tells lists apart, and the count the scopes of a list.
    let scope = UInt64(UInt(bitPattern: memory)) &<< 16 | scopesBegun & 0xFFFF_FFFF
    let isScope = self.task.home == nil
    if isScope { pace.beginScope(isDriven: task.driven != nil) }
    let values = cplatform_values_keep(memory)
    outers.append(enter(task, launch: launch, scope: scope, values: values, isScope: isScope))
  }

  /// Ends the scope that began last: its own forks have ended.
  func end() {
    guard let outer = outers.removeLast() else { return }
    if outer.task.home == nil { pace.endScope() }
    let task = self.task
    leave(outer)
    cplatform_values_end(memory, outer.values)
    task.end()
  }

  /// The thread forks for another task from now on. The forks under way wait until `leave`.
  /// - Parameters:
  ///   - values: what the caller has changed of the thread's task-local values, and will put back behind `leave`.
  ///   - isScope: whether the pace knows already that a scope begins.
  /// - Returns: what `leave` puts back. It is read under the same lock: until then another thread may show forks.
  func enter(
    _ task: Task, launch: UnsafeMutablePointer<LaunchFrame>?, scope: UInt64, values: cplatform_values,
    isScope: Bool = false
  ) -> Surroundings {
    pace.beginTask(isDriven: task.driven != nil, isScope: isScope)
    let outer = lock.withLock {
      let outer = Surroundings(
        task: self.task, firstPrivate: memory.pointee.private_, launch: memory.pointee.launch,
        scope: memory.pointee.scope, values: values)
      self.task = task
      // Under the lock: a thread that changes the level changes it before it looks at the lists.
      self.task.level = Self.level(of: launch, in: task)
      pool = task.isAlone ? nil : task.home?._withUnsafeGuaranteedRef { $0.host?.identity }
      cplatform_forks_set_private(memory, memory.pointee.next)
      memory.pointee.launch = UnsafeMutableRawPointer(launch)
      memory.pointee.scope = scope
      return outer
    }
    cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_more.rawValue)
    cplatform_set_forks(memory)
    return outer
  }

  func leave(_ outer: Surroundings) {
    lock.withLock {
      task = outer.task
      pool = task.isAlone ? nil : task.home?._withUnsafeGuaranteedRef { $0.host?.identity }
      cplatform_forks_set_private(memory, outer.firstPrivate)
      memory.pointee.launch = outer.launch
      memory.pointee.scope = outer.scope
    }
    pace.goOn(isDriven: outer.task.driven != nil)
    cplatform_state_store_relaxed(&memory.pointee.wanted, cplatform_forks_more.rawValue)
    if outer.task.home != nil { return cplatform_set_forks(memory) }
    cplatform_set_forks(nil)
    keep()
  }
}
