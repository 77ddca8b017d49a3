import CPlatform
import OperationExecutors
import OperationForks
@_spi(Jobs) import OperationJobs
import OperationTraceEvents
import Primitives
import Synchronization

/// One run of a graph: what its nodes wait for, their values, and the threads that run them. A run that has ended is
/// used again for the next one on the same backend. `README.md` here is the protocol.
final class GraphRun: CrewWork, @unchecked Sendable {
  // Sendable: the atomics and the deques follow the protocol; `failure` and `tasks` are touched under their locks. The
  // other variables are written before the roots are visible, and read by threads that have a node of the run.

  let plan: GraphPlan
  /// The backend: its number, and how many threads it has.
  let homeNumber: UInt32
  /// Whether the backend decides which of its threads goes on.
  let isDriven: Bool
  /// Whether the backend is one of this library's. What `submit` does on another one is the user's.
  let isOwn: Bool
  /// Another backend, and its home. The object serves one run there.
  private let kept: (home: BackendHome, backend: any Backend)?
  let laneCount: Int
  /// Nothing is to be done for a node but to run it and to count.
  let isSimple: Bool
  let steps: UnsafeMutablePointer<GraphStep>
  let successors: UnsafeMutablePointer<UInt32>

  /// What each node waits for still: a count, and whether the node will be skipped. Between two runs: all.
  let pending: UnsafeMutablePointer<Atomic<UInt32>>
  let values: GraphValues
  /// Whether each node has given a value, where values have something to release.
  let hasValue: UnsafeMutablePointer<Bool>?
  /// Where ready nodes lie: a deque for each thread that works.
  let lanes: UnsafeMutablePointer<WorkStealingDeque>
  /// The node that the thread of each lane runs: for diagnosis.
  let running: UnsafeMutablePointer<PaddedPointer<Atomic<UInt32>>>
  /// Where runs are in order: whether each node has ended, or the next run waits for that.
  let passed: UnsafeMutablePointer<Atomic<UInt8>>?
  /// A bit for each lane that no thread has.
  let freeLanes: Atomic<UInt64>
  /// Ready nodes of threads without a lane, and all of them where the order is one of ranks.
  let pool = Locked(ReadyNodes())
  /// How many nodes the pool has. Written under its lock.
  let poolCount = Atomic<Int>(0)
  let ranks: UnsafeMutablePointer<Float>?
  /// What each node took in earlier runs, in ticks: a moving average.
  let measured: UnsafeMutablePointer<Float>?

  /// Changed rarely while nodes run, and read by each thread that has found nodes for others.
  let attention = PaddedPointer(Attention())
  /// How many nodes without successors have not ended, and how many threads help: those see what the owner has on its
  /// stack.
  private let left = PaddedPointer(Atomic<Int>(0))
  let failure = Locked(Failure())

  // Written when a run begins.
  @exclusivity(unchecked) private(set) var crew = Crew()
  @exclusivity(unchecked) private(set) var mode = GraphFailureMode.skipOthers
  /// Where runs are in order: the next one. Written before a node of this one is awaited.
  @exclusivity(unchecked) private(set) var next: GraphRun?
  /// `begun` in each other run of this object, and 0 in the others.
  @exclusivity(unchecked) private(set) var begunNow: UInt32 = 0
  /// The task that waits for the run; nil when a thread does.
  @exclusivity(unchecked) private(set) var waiter: FinishWaiter?
  @exclusivity(unchecked) private(set) var executor: BackendTaskExecutor?
  /// What the nodes of a task's run have around them.
  private let frame: UnsafeMutablePointer<LaunchFrame>
  /// The frame; nil when the task belongs to no operation.
  private(set) var launch: UnsafeMutablePointer<LaunchFrame>?

  /// Held by a thread that gives the backend a ticket, and by one that changes the ticket's level.
  let ticketLock = FutexLock()
  @exclusivity(unchecked) var ticket: GraphTicket

  struct Attention: ~Copyable {
    /// Who will look for nodes: see `GraphRun+Looking`.
    let word = Atomic<UInt64>(0)
    /// Changes when the owner that sleeps has something to look at.
    let news = Atomic<UInt32>(0)
    /// Nonzero: no further body begins.
    let stop = Atomic<UInt32>(0)
  }

  struct Failure: ~Copyable {
    /// The error of the node that was added first among those that threw.
    var error: (any Error)?
    var node = UInt32.max
    /// A body was left out because the run was stopped.
    var hasSkipped = false
    /// The asynchronous bodies that run.
    var tasks: [UInt32: Task<Void, Never>] = [:]
    /// Those that ended before they were listed.
    var endedEarly: Set<UInt32> = []
  }

  static let skips: UInt32 = 1 << 31
  /// The node has begun, if this bit is as in `begunNow`.
  static let begun: UInt32 = 1 << 30
  static let counts: UInt32 = begun - 1
  /// No node, and no lane, where a node or a lane is asked for in the way of each node.
  static let noNode = UInt32.max
  static let noLane = -1

  enum Passed {
    static let no: UInt8 = 0
    static let ended: UInt8 = 1
    static let isAwaited: UInt8 = 2
  }

  init(_ plan: GraphPlan, home: BackendHome) {
    self.plan = plan
    (homeNumber, isDriven, isOwn) = (home.number, home.driven != nil, home.host != nil)
    (steps, successors) = (plan.steps, plan.successors)
    isSimple = plan.order == .added && plan.line == nil && plan.drops.isEmpty && !isDriven
    kept = isOwn ? nil : (home, home.backend)
    laneCount = min(64, home.workerCount + 1, max(1, plan.count))
    // A run may be one of very many that are under way.
    var capacity = 8
    while capacity < min(256, plan.count) { capacity *= 2 }
    pending = .allocate(capacity: max(1, plan.count))
    for node in 0..<plan.count { (pending + node).initialize(to: Atomic(plan.steps[node].predecessors)) }
    values = GraphValues(
      .allocate(byteCount: max(16, plan.valueBytes), alignment: plan.valueAlignment))
    hasValue = plan.drops.isEmpty ? nil : .allocate(capacity: plan.count)
    hasValue?.initialize(repeating: false, count: plan.count)
    lanes = .allocate(capacity: laneCount)
    running = .allocate(capacity: laneCount)
    for lane in 0..<laneCount {
      (lanes + lane).initialize(to: WorkStealingDeque(capacity: capacity))
      (running + lane).initialize(to: PaddedPointer(Atomic(Self.noNode)))
    }
    passed = plan.line != nil ? .allocate(capacity: max(1, plan.count)) : nil
    if let passed { for node in 0..<plan.count { (passed + node).initialize(to: Atomic(Passed.no)) } }
    freeLanes = Atomic(laneCount == 64 ? .max : (1 << UInt64(laneCount)) - 1)
    frame = .allocate(capacity: 1)
    ranks = plan.order == .added ? nil : .allocate(capacity: max(1, plan.count))
    measured = plan.order == .measured ? .allocate(capacity: max(1, plan.count)) : nil
    measured?.initialize(repeating: 1, count: plan.count)
    ticket = GraphTicket(epoch: 0)
    if let ranks { plan.rank(ranks, costs: measured) }
    if plan.order != .added { pool.withLock { pool.state.nodes.reserveCapacity(plan.count) } }
    ticket.run = .passUnretained(self)
  }

  deinit {
    pending.deinitialize(count: plan.count)
    pending.deallocate()
    values.memory.deallocate()
    hasValue?.deallocate()
    for lane in 0..<laneCount {
      lanes[lane].deallocate()
      running[lane].deallocate()
    }
    lanes.deallocate()
    running.deallocate()
    passed?.deallocate()
    frame.deallocate()
    ranks?.deallocate()
    measured?.deallocate()
    attention.deallocate()
    left.deallocate()
  }

  // MARK: - From the beginning to the end

  /// Called before anybody may cancel the run.
  func prepare(_ mode: GraphFailureMode) {
    self.mode = mode
    attention.pointer.pointee.stop.store(0, ordering: .relaxed)
  }

  /// The owner is a thread: runs nodes, and returns when all have ended.
  func run(for crew: Crew) {
    begin(crew, waiter: nil)
    crew.beginTelling(self)
    let lane = claimLane()
    addRoots(lane)
    whileWorking { workAsOwner(lane) }
    giveBack(lane)
    crew.endTelling()
  }

  /// The owner is a task, which goes on when all nodes have ended. The caller holds the backend.
  nonisolated(nonsending) func run(for crew: Crew, waiter: FinishWaiter) async {
    begin(crew, waiter: waiter)
    crew.beginTellingTask(self)
    addRoots(Self.noLane)
    _ = await withUnsafeContinuation { waiter.wait($0) }
    // Acquires what all nodes have done. The thread sanitizer does not see how a continuation orders threads.
    assert(hasEnded, "a task goes on before its run has ended")
    crew.endTellingTask(self)
  }

  /// Runs nodes in the body: a graph whose runs are in order knows the thread meanwhile.
  func whileWorking(_ body: () -> Void) { if let line = plan.line { line.whileWorking(body) } else { body() } }

  private func begin(_ crew: Crew, waiter: FinishWaiter?) {
    // Under the lock: a thread of the last run may still read these to look after the nodes of this one.
    ticketLock.withLock { (self.crew, self.waiter) = (crew, waiter) }
    begunNow ^= Self.begun
    if !plan.tasks.isEmpty, executor == nil, let home = crew.home?._withUnsafeGuaranteedRef({ $0 }) {
      executor = home.backend.taskExecutor
    }
    if let measured, let ranks { plan.rank(ranks, costs: measured) }
    left.pointer.pointee.store(plan.sinks, ordering: .relaxed)
    // A ticket of the last run waits still, perhaps at another level.
    if attention.pointer.pointee.word.load(ordering: .relaxed) & Self.queued != 0, ticket.level != crew.level {
      levelChanged()
    }
  }

  /// Called in a task: keeps what is known of its operation and queue, which stay until the run has ended.
  /// - Returns: the operation, as a word; 0 for none.
  func keepFrame() -> UInt {
    let operation = LaunchFrame.operation(at: LaunchFrame.current)
    let queue = LaunchFrame.currentQueueWord
    launch = operation == 0 && queue == 0 ? nil : frame
    frame.initialize(
      to: LaunchFrame(
        operation: operation, queue: queue, home: 0, ownsLink: false, previous: nil, depth: 0, entered: true))
    return operation
  }

  /// The nodes become ready that wait for nothing.
  private func addRoots(_ lane: Int) {
    if let line = plan.line { return begin(in: line, lane) }
    for root in plan.roots.reversed() { add(root, lane) }
    if plan.roots.count > 1 || lane < 0 { offer() }
  }

  /// All nodes have ended, and nobody helps.
  var hasEnded: Bool { left.pointer.pointee.load(ordering: .acquiring) == 0 }

  /// No further body begins, beside those that threads begin in this instant.
  func cancel() {
    attention.pointer.pointee.stop.store(1, ordering: .sequentiallyConsistent)
    let tasks = failure.withLock { Array(failure.state.tasks.values) }
    for task in tasks { task.cancel() }
  }

  /// The run begins behind the last one of the line. A node that has not ended there counts as one that comes before.
  private func begin(in line: GraphLine, _ lane: Int) {
    guard let passed else { return }
    line.append(self) { before in
      next = nil
      for node in 0..<plan.count {
        passed[node].store(Passed.no, ordering: .relaxed)
        if before != nil { pending[node].wrappingAdd(1, ordering: .relaxed) }
      }
      guard let before, let others = before.passed else {
        for root in plan.roots.reversed() { add(root, lane) }
        return
      }
      before.next = self
      for node in (0..<plan.count).reversed()
      where others[node].exchange(Passed.isAwaited, ordering: .acquiringAndReleasing) == Passed.ended {
        letGo(UInt32(node), lane)
      }
    }
    // Without the lock: what a backend of a user's does is its own affair.
    offer()
  }

  /// Calls a body that uses the run and what the owner has around it, on a thread that knows of a node which has not
  /// ended, and may end meanwhile.
  func whileItGoesOn(_ body: () -> Void) {
    left.pointer.pointee.add(1, ordering: .relaxed)
    body()
    endOne()
  }

  /// A node without successors has ended, or a thread helps no more.
  func endOne() {
    let waiter = self.waiter
    if left.pointer.pointee.subtract(1, ordering: .sequentiallyConsistent).newValue > 0 { return }
    // The run may be another one already, for which a wake too many does no harm.
    if let waiter { waiter.end(isFinished: true) } else { wakeOwner() }
  }

  /// Called by the owner when the run has ended: what it gives, and the run as it was before. The values are released.
  func end<Output>(_ output: UInt32, of type: Output.Type) throws -> Output {
    let (error, hasSkipped) = failure.withLock {
      defer { (failure.state.error, failure.state.node, failure.state.hasSkipped) = (nil, .max, false) }
      return (failure.state.error, failure.state.hasSkipped)
    }
    plan.line?.remove(self)
    // The object may wait long for its next run, and the executor holds the backend.
    executor = nil
    ticketLock.withLock { waiter = nil }
    defer { dropValues() }
    if let error { throw error }
    if hasSkipped { throw CancellationError() }
    return values.place(output, of: type).pointee
  }

  private func dropValues() {
    guard let hasValue else { return }
    for drop in plan.drops where hasValue[Int(drop.node)] {
      hasValue[Int(drop.node)] = false
      drop.drop(in: values)
    }
  }
}
