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
  private let laneCount: Int
  /// Nothing is to be done for a node but to run it and to count.
  private let isSimple: Bool
  private let isTimed: Bool
  private let steps: UnsafeMutablePointer<GraphStep>
  private let successors: UnsafeMutablePointer<UInt32>

  /// What each node waits for still: a count, and whether the node will be skipped. Between two runs: all.
  private let pending: UnsafeMutablePointer<Atomic<UInt32>>
  let values: GraphValues
  /// Which of the plan's drops have a value.
  private let hasValue: UnsafeMutablePointer<Bool>
  /// Where ready nodes lie: a deque for each thread that works.
  private let lanes: UnsafeMutablePointer<WorkStealingDeque>
  /// The node that the thread of each lane runs: for diagnosis.
  private let running: UnsafeMutablePointer<PaddedPointer<Atomic<UInt32>>>
  /// The thread that had each lane last.
  private let threads: UnsafeMutablePointer<Atomic<UInt>>
  /// Where runs are in order: whether each node has ended, or the next run waits for that.
  let passed: UnsafeMutablePointer<Atomic<UInt8>>?
  /// A bit for each lane that no thread has.
  private let freeLanes: Atomic<UInt64>
  /// Ready nodes of threads without a lane, and all of them where the order is one of ranks.
  private let pool = Locked(ReadyNodes())
  /// How many nodes the pool has. Written under its lock.
  private let poolCount = Atomic<Int>(0)
  private let ranks: UnsafeMutablePointer<Float>?
  /// What each node took in earlier runs, in ticks: a moving average.
  private let measured: UnsafeMutablePointer<Float>?

  /// Changed rarely while nodes run, and read by each thread that has found nodes for others.
  let attention = PaddedPointer(Attention())
  /// How many nodes without successors have not ended, and how many threads help: those see what the owner has on its
  /// stack.
  private let left = PaddedPointer(Atomic<Int>(0))
  private let failure = Locked(Failure())

  // Written when a run begins.
  @exclusivity(unchecked) private(set) var crew = Crew()
  @exclusivity(unchecked) private var mode = GraphFailureMode.skipOthers
  /// Where runs are in order: the next one. Written before a node of this one is awaited.
  @exclusivity(unchecked) private var next: GraphRun?
  /// `begun` in each other run of this object, and 0 in the others.
  @exclusivity(unchecked) private var begunNow: UInt32 = 0
  /// The task that waits for the run; nil when a thread does.
  @exclusivity(unchecked) private(set) var waiter: FinishWaiter?
  @exclusivity(unchecked) private var executor: BackendTaskExecutor?
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

  private struct Failure: ~Copyable {
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

  private static let skips: UInt32 = 1 << 31
  /// The node has begun, if this bit is as in `begunNow`.
  private static let begun: UInt32 = 1 << 30
  private static let counts: UInt32 = begun - 1
  /// No node, and no lane, where a node or a lane is asked for in the way of each node.
  static let noNode = UInt32.max
  static let noLane = -1

  private enum Passed {
    static let no: UInt8 = 0
    static let ended: UInt8 = 1
    static let isAwaited: UInt8 = 2
  }

  init(_ plan: GraphPlan, home: BackendHome) {
    self.plan = plan
    (homeNumber, isDriven, isOwn) = (home.number, home.driven != nil, home.host != nil)
    (steps, successors) = (plan.steps, plan.successors)
    isTimed = plan.order == .measured
    isSimple = plan.order == .added && plan.line == nil && plan.drops.isEmpty && !isDriven
    kept = isOwn ? nil : (home, home.backend)
    laneCount = min(64, home.workerCount + 1)
    pending = .allocate(capacity: max(1, plan.count))
    for node in 0..<plan.count { (pending + node).initialize(to: Atomic(plan.steps[node].predecessors)) }
    values = GraphValues(
      .allocate(byteCount: max(16, plan.valueBytes), alignment: plan.valueAlignment))
    hasValue = .allocate(capacity: max(1, plan.drops.count))
    hasValue.initialize(repeating: false, count: plan.drops.count)
    lanes = .allocate(capacity: laneCount)
    running = .allocate(capacity: laneCount)
    threads = .allocate(capacity: laneCount)
    for lane in 0..<laneCount {
      (lanes + lane).initialize(to: WorkStealingDeque())
      (threads + lane).initialize(to: Atomic(0))
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
    hasValue.deallocate()
    for lane in 0..<laneCount {
      lanes[lane].deallocate()
      running[lane].deallocate()
    }
    lanes.deallocate()
    running.deallocate()
    threads.deallocate()
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
    workAsOwner(lane)
    giveBack(lane)
    crew.endTelling()
  }

  /// The owner is a task, which goes on when all nodes have ended. The caller holds the backend.
  nonisolated(nonsending) func run(for crew: Crew, waiter: FinishWaiter) async {
    begin(crew, waiter: waiter)
    crew.beginTellingTask(self)
    addRoots(Self.noLane)
    _ = await withUnsafeContinuation { waiter.wait($0) }
    crew.endTellingTask(self)
  }

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
    if let line = plan.line { return line.withLock { begin(in: line, lane) } }
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

  /// Called with the line's lock: the run begins behind the last one. A node that has not ended there counts as one
  /// that comes before.
  private func begin(in line: GraphLine, _ lane: Int) {
    guard let passed else { return }
    for run in line.runs where run.isOfThisThread {
      forkMisuse("a node of a graph waits for a run of that graph, and its runs are in order: it waits for itself")
    }
    let before = line.runs.last
    line.runs.append(self)
    next = nil
    for node in 0..<plan.count {
      passed[node].store(Passed.no, ordering: .relaxed)
      if before != nil { pending[node].wrappingAdd(1, ordering: .relaxed) }
    }
    guard let before, let others = before.passed else {
      for root in plan.roots.reversed() { add(root, lane) }
      return offer()
    }
    before.next = self
    for node in (0..<plan.count).reversed()
    where others[node].exchange(Passed.isAwaited, ordering: .acquiringAndReleasing) == Passed.ended {
      letGo(UInt32(node), lane)
    }
    offer()
  }

  /// What was before a node in the run before has ended.
  private func letGo(_ node: UInt32, _ lane: Int) {
    if pending[Int(node)].subtract(1, ordering: .acquiringAndReleasing).newValue & Self.counts == 0 { add(node, lane) }
  }

  /// Whether the calling thread runs a node of this run.
  private var isOfThisThread: Bool {
    (0..<laneCount).contains { lane in
      threads[lane].load(ordering: .relaxed) == Self.thisThread
        && running[lane].pointer.pointee.load(ordering: .relaxed) != Self.noNode
    }
  }

  /// Changes when a thread of another lane begins a node.
  func whatOthersRun(beside own: Int) -> UInt64 {
    var sum: UInt64 = 0
    for lane in 0..<laneCount where lane != own {
      sum = sum &* 31 &+ UInt64(running[lane].pointer.pointee.load(ordering: .relaxed))
    }
    return sum
  }

  private static var thisThread: UInt { UInt(bitPattern: cplatform_thread_words_address()) }

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
    for (index, drop) in plan.drops.enumerated() where hasValue[index] {
      hasValue[index] = false
      drop.drop(in: values)
    }
  }

  // MARK: - Nodes

  /// Runs a node on the calling thread.
  /// - Parameters:
  ///   - lane: of the calling thread, or `noLane`.
  ///   - pace: of a thread that helps: it is told how long the body took.
  /// - Returns: the node that this thread runs next, or `noNode`.
  @inline(__always)
  func run(_ node: UInt32, _ lane: Int, _ pace: UnsafeMutablePointer<HelpingPace>?) -> UInt32 {
    let step = steps + Int(node)
    let place = pending + Int(node)
    let word = place.pointee.load(ordering: .relaxed)
    place.pointee.store(step.pointee.predecessors | begunNow, ordering: .relaxed)
    if lane >= 0 { (running + lane).pointee.pointer.pointee.store(node, ordering: .relaxed) }
    if word & Self.skips != 0 || attention.pointer.pointee.stop.load(ordering: .relaxed) != 0 {
      return skip(node, lane, isBehindFailure: word & Self.skips != 0)
    }
    if isTimed || step.pointee.isTask || cplatform_is_tracing() { return runSlowly(node, lane) }
    let start = pace == nil ? 0 : cplatform_ticks()
    let error = cplatform_call(step, values.memory)
    pace?.pointee.ran(for: cplatform_ticks() &- start)
    if let error { return fail(node, Self.error(error), lane) }
    return settle(node, lane)
  }

  /// Takes over an error of Swift's.
  private static func error(_ word: UnsafeMutableRawPointer) -> any Error {
    var word = word
    return withUnsafeMutableBytes(of: &word) { $0.assumingMemoryBound(to: (any Error).self).moveElement(from: 0) }
  }

  /// A node whose body is asynchronous, timed or traced.
  @inline(never)
  private func runSlowly(_ node: UInt32, _ lane: Int) -> UInt32 {
    if let body = plan.tasks[node] {
      begin(body, of: node)
      return Self.noNode
    }
    let body = steps[Int(node)].body
    let start = cplatform_ticks()
    do {
      if cplatform_is_tracing() { try trace(body, node) } else { try body(values) }
    } catch {
      return fail(node, error, lane)
    }
    if let measured { measured[Int(node)] += (Float(cplatform_ticks() &- start) - measured[Int(node)]) / 4 }
    return settle(node, lane)
  }

  private func trace(_ body: GraphBody, _ node: UInt32) throws {
    var failure: (any Error)?
    TraceProbe.node(plan.name(of: node), of: LaunchFrame.operation(at: crew.launch)) {
      do { try body(values) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  @inline(never)
  private func skip(_ node: UInt32, _ lane: Int, isBehindFailure: Bool) -> UInt32 {
    if !isBehindFailure { failure.withLock { failure.state.hasSkipped = true } }
    return settleAny(node, lane, hasFailed: true)
  }

  @inline(never)
  private func fail(_ node: UInt32, _ error: any Error, _ lane: Int) -> UInt32 {
    note(error, of: node)
    return settleAny(node, lane, hasFailed: true)
  }

  /// A node has ended, and its value is there.
  @inline(__always)
  private func settle(_ node: UInt32, _ lane: Int) -> UInt32 {
    let first = node == 0 ? 0 : Int(steps[Int(node) - 1].end)
    if isSimple, lane >= 0, Int(steps[Int(node)].end) == first + 1 {
      let next = successors[first]
      return isLast(before: next) ? next : Self.noNode
    }
    return settleAny(node, lane, hasFailed: false)
  }

  /// Whether the node that has ended was the last one before another.
  @inline(__always)
  private func isLast(before next: UInt32) -> Bool {
    let word = pending + Int(next)
    return passed == nil && steps[Int(next)].predecessors == 1
      || word.pointee.subtract(1, ordering: .acquiringAndReleasing).newValue & Self.counts == 0
  }

  /// A node has ended: what came behind it alone is ready.
  @inline(never)
  private func settleAny(_ node: UInt32, _ lane: Int, hasFailed: Bool) -> UInt32 {
    if !hasFailed, !plan.drops.isEmpty { noteValue(of: node) }
    if let passed, passed[Int(node)].exchange(Passed.ended, ordering: .acquiringAndReleasing) == Passed.isAwaited {
      // The node there has not begun, so that run goes on.
      next?.whileItGoesOn {
        next?.letGo(node, Self.noLane)
        next?.offer()
      }
    }
    let (first, end) = plan.successors(of: Int(node))
    guard first < end else {
      endOne()
      return Self.noNode
    }
    var kept = Self.noNode
    var hasOthers = false
    var place = end
    while place > first {
      place -= 1
      let next = successors[place]
      if hasFailed { pending[Int(next)].bitwiseOr(Self.skips, ordering: .relaxed) }
      guard isLast(before: next) else { continue }
      if kept != Self.noNode {
        add(kept, lane)
        hasOthers = true
      }
      kept = next
    }
    if kept != Self.noNode, lane < 0 || isDriven || ranks != nil {
      add(kept, lane)
      hasOthers = hasOthers || lane < 0 || isDriven
      kept = Self.noNode
    }
    if hasOthers { offer() }
    return kept
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

  private func noteValue(of node: UInt32) {
    // The drops are in the order of the nodes.
    var (low, high) = (0, plan.drops.count)
    while low < high {
      let middle = (low + high) / 2
      if plan.drops[middle].node < node { low = middle + 1 } else { high = middle }
    }
    if low < plan.drops.count, plan.drops[low].node == node { hasValue[low] = true }
  }

  private func note(_ error: any Error, of node: UInt32) {
    // The other error is released without the lock: its class is a user's.
    var error: (any Error)? = error
    failure.withLock {
      guard node < failure.state.node else { return }
      failure.state.node = node
      swap(&failure.state.error, &error)
    }
    if mode == .skipOthers { attention.pointer.pointee.stop.store(1, ordering: .sequentiallyConsistent) }
  }

  // MARK: - Diagnosis

  /// How many nodes have begun, which ones run, and the first ones that wait for those. O(nodes).
  func explain() -> [String] {
    let parity = begunNow
    func hasBegun(_ node: UInt32) -> Bool {
      pending[Int(node)].load(ordering: .relaxed) & Self.begun == parity
    }
    var running = Set((0..<laneCount).map { self.running[$0].pointer.pointee.load(ordering: .relaxed) })
    running.remove(Self.noNode)
    running.formUnion(failure.withLock { Array(failure.state.tasks.keys) })
    let begun = (0..<UInt32(plan.count)).count { hasBegun($0) }
    var lines = ["runs a graph: \(begun) of \(plan.count) nodes have begun"]
    for node in running.sorted().prefix(Self.explained) {
      let (first, end) = plan.successors(of: Int(node))
      let waiting = (first..<end).lazy.map { self.plan.successors[$0] }.filter { !hasBegun($0) }
      let names = waiting.prefix(3).map(plan.name).joined(separator: ", ")
      lines.append("  \(plan.name(of: node)) runs" + (names.isEmpty ? "" : "; \(names) waits for it"))
    }
    return lines
  }

  private static let explained = 8

  // MARK: - Asynchronous bodies

  private func begin(_ body: @escaping GraphTaskBody, of node: UInt32) {
    let values = values
    let task = Task(executorPreference: executor, priority: Job.taskPriority(ofLevel: crew.level)) {
      var failure: (any Error)?
      do { try await body(values) } catch { failure = error }
      self.taskEnds(node, failure)
    }
    failure.withLock {
      if failure.state.endedEarly.remove(node) == nil { failure.state.tasks[node] = task }
    }
    if attention.pointer.pointee.stop.load(ordering: .sequentiallyConsistent) != 0 { task.cancel() }
  }

  private func taskEnds(_ node: UInt32, _ error: (any Error)?) {
    let task = failure.withLock {
      let task = failure.state.tasks.removeValue(forKey: node)
      if task == nil { failure.state.endedEarly.insert(node) }
      return task
    }
    withExtendedLifetime(task) {}
    if let error { note(error, of: node) }
    whileItGoesOn { _ = settleAny(node, Self.noLane, hasFailed: error != nil) }
  }

  // MARK: - Ready nodes

  /// A node is ready. Who calls this calls `offer` when others should take it.
  func add(_ node: UInt32, _ lane: Int) {
    if lane >= 0, ranks == nil { lanes[lane].push(UInt(node) + 1) } else { pool.withLock { addToPool(node) } }
  }

  /// Called with the lock of the pool. Where the order is one of ranks the pool is a heap.
  private func addToPool(_ node: UInt32) {
    if ranks == nil { pool.state.append(node) } else { pool.state.insert(node, isBefore) }
    poolCount.store(pool.state.nodes.count, ordering: .sequentiallyConsistent)
  }

  /// The longer way hangs on `one`, or `one` was added first.
  private func isBefore(_ one: UInt32, _ other: UInt32) -> Bool {
    guard let ranks else { return one < other }
    let (first, second) = (ranks[Int(one)], ranks[Int(other)])
    return first > second || first == second && one < other
  }

  func takeOwn(_ lane: Int) -> UInt32 {
    // Nothing is 0, which becomes `noNode`.
    lane < 0 ? Self.noNode : UInt32(truncatingIfNeeded: lanes[lane].pop() &- 1)
  }

  /// Takes a node of another thread's.
  func steal(beside own: Int) -> UInt32 {
    for lane in 0..<laneCount where lane != own {
      while true {
        switch lanes[lane].steal() {
        case .element(let word): return UInt32(truncatingIfNeeded: word - 1)
        case .lost: continue
        case .empty: break
        }
        break
      }
    }
    if poolCount.load(ordering: .sequentiallyConsistent) == 0 { return Self.noNode }
    return pool.withLock {
      let node = ranks == nil ? pool.state.nodes.popLast() : pool.state.takeFirst(isBefore)
      poolCount.store(pool.state.nodes.count, ordering: .relaxed)
      return node ?? Self.noNode
    }
  }

  /// Whether a node waits for a thread.
  var hasReady: Bool {
    for lane in 0..<laneCount where !lanes[lane].isEmpty { return true }
    return poolCount.load(ordering: .sequentiallyConsistent) > 0
  }

  func claimLane() -> Int {
    while true {
      let free = freeLanes.load(ordering: .relaxed)
      if free == 0 { return Self.noLane }
      let lane = free.trailingZeroBitCount
      if freeLanes.bitwiseAnd(~(1 << UInt64(lane)), ordering: .acquiring).oldValue & (1 << UInt64(lane)) != 0 {
        threads[lane].store(Self.thisThread, ordering: .relaxed)
        return lane
      }
    }
  }

  func giveBack(_ lane: Int) {
    if lane < 0 { return }
    running[lane].pointer.pointee.store(Self.noNode, ordering: .relaxed)
    freeLanes.bitwiseOr(1 << UInt64(lane), ordering: .releasing)
  }
}
