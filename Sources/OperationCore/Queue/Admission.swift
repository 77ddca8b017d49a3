import OperationJobs
import Primitives

/// Decides which operation may start next in a queue that has a limit, has a barrier, or is suspended: pure
/// bookkeeping, no threads.
///
/// Barriers cut the sequence numbers into phases. An operation belongs to the phase that its number falls into. Only
/// the first phase may start operations. The phase's barrier may start when all of the phase's operations have
/// finished. The barrier's finish opens the next phase. Numbers are dense, so a phase knows how many of its
/// operations are unfinished without having heard of each.
struct Admission: ~Copyable {
  /// One stretch between barriers.
  struct Phase: ~Copyable {
    /// First sequence number. The number is moved back when operations from before the controller's engagement are
    /// still unfinished.
    var start: Int
    /// The barrier's number, `Int.max` while there is none.
    var end = Int.max
    var finished = 0
    var ready = Job.PerLevel<JobFIFO> { _ in JobFIFO() }
    var readyCount = 0
    /// The barrier's entries, from when the barrier is ready. There is more than one entry when the barrier's
    /// priority changed; all but one of them are void.
    var barrierEntries = JobFIFO()

    init(start: Int) { self.start = start }

    /// Whether the barrier at the end may start.
    var isComplete: Bool { end != Int.max && finished == end - start }
  }

  /// The most operations that run at a time; `Int.max` for no limit.
  var limit = Int.max
  /// The most operations below each level that run at a time; `Int.max` for no limit.
  var limitsBelow = Job.PerLevel<Int>(repeating: .max) {
    didSet { hasLimitsBelow = limitsBelow.indices.contains { limitsBelow[$0] != .max } }
  }
  private(set) var hasLimitsBelow = false
  var isSuspended = false
  /// Places that are taken: the places of operations that run, and the places of `held`.
  private(set) var running = 0
  /// `running`, by the level at which each operation counts.
  private(set) var runningAt = Job.PerLevel<Int>(repeating: 0)
  /// Places of operations that have finished, kept until the operations that their finishes release are ready here; by
  /// the level at which each operation counted.
  private(set) var heldAt = Job.PerLevel<Int>(repeating: 0)
  /// Tickets on their way to a worker, by the level that they have in the backend. Each ticket will start one
  /// operation, the most urgent one then, or nothing: a ticket that is less urgent than what became ready later is
  /// left to run out.
  private(set) var tickets = Job.PerLevel<Int>(repeating: 0)
  /// The phases in order; at least one from `head` on. The phase at `head` is the first that is not over.
  private var phases: [UnsafeMutablePointer<Phase>]
  private var head = 0

  init() {
    phases = [.holding(Phase(start: 0))]
  }

  deinit {
    for phase in phases[head...] { phase.free() }
  }

  var first: UnsafeMutablePointer<Phase> { phases[head] }
  var hasBarrier: Bool { phases.count - head > 1 }

  /// The barriers' sequence numbers, in order.
  var barriers: [Int] { phases[head...].map { $0.pointee.end }.filter { $0 != Int.max } }

  /// Whether anything needs the controller: without it every ready operation goes straight to the backend.
  var isNeeded: Bool { limit != Int.max || isSuspended || hasBarrier || hasLimitsBelow }

  /// The controller was engaged when `bound` numbers had been taken. `unfinished` of those operations will report
  /// their finish. Some of them have started: `running` has their number for each level.
  mutating func engage(bound: Int, unfinished: Int, running: Job.PerLevel<Int>) {
    first.pointee.start = bound - unfinished
    first.pointee.finished = 0
    runningAt = running
    heldAt = Job.PerLevel(repeating: 0)
    self.running = Self.sum(running, from: 0, below: Job.levels)
  }

  private static func sum(_ counts: borrowing Job.PerLevel<Int>, from lowest: Int, below highest: Int) -> Int {
    var sum = 0
    var level = lowest
    while level < highest {
      sum += counts[level]
      level += 1
    }
    return sum
  }

  /// - Parameter barrier: the barrier's sequence number; later numbers belong to the next phase.
  mutating func addBarrier(sequence barrier: Int) {
    phases[phases.count - 1].pointee.end = barrier
    phases.append(.holding(Phase(start: barrier + 1)))
  }

  /// An operation is ready to start, or its entry changed level. O(log phases).
  mutating func insert(entry: UInt, level: Int, sequence: Int) {
    let phase = phase(of: sequence)
    if phase.pointee.end == sequence {
      phase.pointee.barrierEntries.append(entry)
    } else {
      phase.pointee.ready[level].append(entry)
      phase.pointee.readyCount += 1
    }
  }

  /// The level of one more ticket that the backend should get, the most urgent level first. Nil when there are enough
  /// tickets: for every level, as many tickets are on their way at that level or above as there are operations at
  /// that level or above that could start.
  /// - Parameter most: the most tickets on their way at the same time; tickets that are overtaken are not counted.
  mutating func takeTicket(atMost most: Int) -> Int? {
    guard !isSuspended, running < limit else { return nil }
    let phase = first
    let count = phase.pointee.readyCount
    if count == 0 { return takeBarriersTicket(phase) }
    let wanted = min(count, limit - running, most)
    let isHeldBelow = isHeldBelow(phase)
    var ready = 0
    var onTheirWay = 0
    var level = Job.highestLevel
    // What counts as running at each level once the ready operations of the higher levels have started.
    var runningThen = runningAt
    while true {
      ready +=
        isHeldBelow
        ? startableCount(phase, level: level, running: &runningThen) : phase.pointee.ready[level].count
      onTheirWay += tickets[level]
      if ready > onTheirWay, wanted > onTheirWay {
        tickets[level] += 1
        return level
      }
      if ready >= wanted || level == 0 { return nil }
      level -= 1
    }
  }

  /// Whether the limits below the levels decide what the phase may start. When all of a phase has finished, its ready
  /// entries are void: they are taken out whatever the limits say, and then the barrier may start.
  private mutating func isHeldBelow(_ phase: UnsafeMutablePointer<Phase>) -> Bool {
    hasLimitsBelow && !phase.pointee.isComplete
  }

  /// How many ready operations of a level may start, as the limits below the higher levels allow.
  /// - Parameter running: what counts as running at each level. The result is added at `level`.
  @inline(never)
  private mutating func startableCount(
    _ phase: UnsafeMutablePointer<Phase>, level: Int, running: inout Job.PerLevel<Int>
  ) -> Int {
    let count = max(0, min(phase.pointee.ready[level].count, placesBelow(above: level, running: running)))
    running[level] += count
    return count
  }

  /// The free places that the limits below the levels above `level` leave; `Int.max` where there is no such limit, and
  /// negative after a limit has been lowered.
  @inline(never)
  private mutating func placesBelow(above level: Int, running: Job.PerLevel<Int>) -> Int {
    var places = Int.max
    var bound = level + 1
    while bound < Job.levels {
      if limitsBelow[bound] != .max {
        places = min(places, limitsBelow[bound] - Self.sum(running, from: 0, below: bound))
      }
      bound += 1
    }
    return places
  }

  /// The highest level at which one more ready operation gets no ticket now, because all places are taken, or as many
  /// tickets as there are free places are on their way at that level or above; -1 when there is no such level. Whoever
  /// gives up a place, or brings such a ticket, visits the controller.
  var quietLevel: Int {
    // Mutating, as all that many calls need: else the compiler copies the whole structure for each call.
    mutating get { findQuietLevel() }
  }

  private mutating func findQuietLevel() -> Int {
    guard isNeeded else { return -1 }
    if isSuspended || running >= limit { return Job.highestLevel }
    // The limits below a level do not hold up a barrier. So the thread that brings a barrier has to visit.
    let asksBelow = hasLimitsBelow && !hasBarrier
    var onTheirWay = 0
    var level = Job.highestLevel
    while level >= 0 {
      onTheirWay += tickets[level]
      if onTheirWay >= limit - running || asksBelow && isQuietBelow(level) { return level }
      level -= 1
    }
    return -1
  }

  /// Whether some limit below a higher level leaves no place, but for the tickets that are on their way at `level` or
  /// above, and below that limit's own level.
  @inline(never)
  private mutating func isQuietBelow(_ level: Int) -> Bool {
    var bound = level + 1
    while bound < Job.levels {
      if limitsBelow[bound] != .max {
        let places = limitsBelow[bound] - Self.sum(runningAt, from: 0, below: bound)
        if Self.sum(tickets, from: level, below: bound) >= places { return true }
      }
      bound += 1
    }
    return false
  }

  private mutating func takeBarriersTicket(_ phase: UnsafeMutablePointer<Phase>) -> Int? {
    guard phase.pointee.isComplete, !phase.pointee.barrierEntries.isEmpty else { return nil }
    for level in Self.barrierLevel...Job.highestLevel where tickets[level] > 0 { return nil }
    tickets[Self.barrierLevel] += 1
    return Self.barrierLevel
  }

  /// How urgent a barrier's ticket is.
  private static var barrierLevel: Int { 2 }

  /// A ticket arrived at a worker.
  mutating func useTicket(level: Int) { tickets[level] -= 1 }

  /// The next entry to try: the highest level first, first in first out within a level; nil when nothing may start.
  /// The caller confirms with `start`, or forgets a void entry.
  /// The limits below a level do not hold up a barrier, which runs alone.
  /// - Parameter lowest: no entry of a lower level is returned, because the backend may have something more urgent.
  mutating func next(atLeast lowest: Int = 0) -> UInt? {
    guard !isSuspended, running < limit else { return nil }
    let phase = first
    if phase.pointee.readyCount > 0 {
      var level = Job.highestLevel
      while level >= lowest, phase.pointee.ready[level].isEmpty { level -= 1 }
      // Below this level are the same limits and more.
      if level < lowest || isHeldBelow(phase) && placesBelow(above: level, running: runningAt) <= 0 { return nil }
      phase.pointee.readyCount -= 1
      return phase.pointee.ready[level].popFirst()
    }
    guard Self.barrierLevel >= lowest, phase.pointee.isComplete, !phase.pointee.barrierEntries.isEmpty else {
      return nil
    }
    return phase.pointee.barrierEntries.popFirst()
  }

  /// Takes out the most urgent entry of the first phase, whatever the limit says; nil when there is none. For a
  /// controller that nothing needs any more: there is one phase, without a barrier.
  mutating func takeReady() -> UInt? {
    let phase = first
    guard phase.pointee.readyCount > 0 else { return nil }
    var level = Job.highestLevel
    while phase.pointee.ready[level].isEmpty { level -= 1 }
    phase.pointee.readyCount -= 1
    return phase.pointee.ready[level].popFirst()
  }

  mutating func start(level: Int) {
    running += 1
    runningAt[level] += 1
  }

  /// The priority of an operation that runs has changed.
  mutating func moveRunning(from old: Int, to new: Int) {
    runningAt[old] -= 1
    runningAt[new] += 1
  }

  /// - Parameters:
  ///   - level: where the operation counts as running; nil when the operation was not started while the controller was
  ///     engaged, and not counted at the engagement.
  ///   - holdsPlace: the operation's place stays taken until `freeHeldPlace`; no effect when the operation had no
  ///     place.
  mutating func finish(sequence: Int, level: Int?, holdsPlace: Bool = false) {
    if let level {
      if holdsPlace { heldAt[level] += 1 } else { endRunning(level) }
    }
    let phase = phase(of: sequence)
    if phase.pointee.end == sequence {
      removeFirstPhase()
    } else {
      phase.pointee.finished += 1
    }
  }

  /// Does nothing for a place that was held before the latest engagement: `engage` has counted anew what runs.
  mutating func freeHeldPlace(level: Int) {
    guard heldAt[level] > 0 else { return }
    heldAt[level] -= 1
    endRunning(level)
  }

  private mutating func endRunning(_ level: Int) {
    running -= 1
    runningAt[level] -= 1
  }

  private mutating func removeFirstPhase() {
    phases[head].free()
    head += 1
    if head > 32, head * 2 > phases.count {
      phases.removeFirst(head)
      head = 0
    }
  }

  private mutating func phase(of sequence: Int) -> UnsafeMutablePointer<Phase> {
    var low = head
    var high = phases.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sequence <= phases[middle].pointee.end { high = middle } else { low = middle + 1 }
    }
    return phases[low]
  }
}
