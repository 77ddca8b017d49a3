import Primitives

/// Who may start next in a queue that has a limit, a barrier, or is suspended: pure bookkeeping, no threads.
///
/// Barriers cut the sequence numbers into phases. An operation belongs to the phase that its number falls into; only the
/// first phase may start operations, and its barrier when all of it has finished; the barrier's finish opens the next.
/// Numbers are dense, so a phase knows how many of its operations are unfinished without having heard of each.
struct Admission: ~Copyable {
  /// One stretch between barriers.
  struct Phase: ~Copyable {
    /// First sequence number; moved back when operations from before the controller's engagement are still unfinished.
    var start: Int
    /// The barrier's number, `Int.max` while there is none.
    var end = Int.max
    var finished = 0
    var ready = InlineArray<5, JobFIFO> { _ in JobFIFO() }
    var readyCount = 0
    /// The barrier's entries from when it is ready: more than one, of which all but one are void, when its priority
    /// changed.
    var barrierEntries = JobFIFO()

    init(start: Int) { self.start = start }

    /// Whether the barrier at the end may start.
    var isComplete: Bool { end != Int.max && finished == end - start }
  }

  /// Most operations at a time; `Int.max` for no limit.
  var limit = Int.max
  var isSuspended = false
  private(set) var running = 0
  /// Tickets on their way to a worker, each of which will start one operation.
  private(set) var tickets = 0
  /// In order; at least one. Index 0 is the first that is not over.
  private var phases: [UnsafeMutablePointer<Phase>]
  private var head = 0

  init() {
    phases = [Self.makePhase(start: 0)]
  }

  deinit {
    for phase in phases[head...] { Self.free(phase) }
  }

  private static func makePhase(start: Int) -> UnsafeMutablePointer<Phase> {
    let phase = UnsafeMutablePointer<Phase>.allocate(capacity: 1)
    phase.initialize(to: Phase(start: start))
    return phase
  }

  private static func free(_ phase: UnsafeMutablePointer<Phase>) {
    phase.deinitialize(count: 1)
    phase.deallocate()
  }

  var first: UnsafeMutablePointer<Phase> { phases[head] }
  var hasBarrier: Bool { phases.count - head > 1 }

  /// Whether anything needs the controller: without it every ready operation goes straight to the backend.
  var isNeeded: Bool { limit != Int.max || isSuspended || hasBarrier }

  /// The controller was engaged when `bound` numbers had been taken: `unfinished` of those will report their finish,
  /// `running` of them have started.
  mutating func engage(bound: Int, unfinished: Int, running: Int) {
    first.pointee.start = bound - unfinished
    first.pointee.finished = 0
    self.running = running
  }

  /// - Parameter barrier: its sequence number; later numbers belong to the next phase.
  mutating func addBarrier(sequence barrier: Int) {
    phases[phases.count - 1].pointee.end = barrier
    phases.append(Self.makePhase(start: barrier + 1))
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

  /// How many more tickets the backend should get, and how urgent the first is.
  /// - Parameter most: on their way at the same time.
  mutating func takeTickets(atMost most: Int) -> (count: Int, level: Int) {
    let places = limit == Int.max ? Int.max : limit - running
    let count = max(0, min(startable, places, most) - tickets)
    tickets += count
    return (count, count == 0 ? 2 : firstLevel)
  }

  /// A ticket arrived at a worker.
  mutating func useTicket() { tickets -= 1 }

  /// The next entry to try: highest level first, first in first out within; nil when nothing may start. The caller
  /// confirms with `start` or forgets a void entry.
  mutating func next() -> UInt? {
    guard !isSuspended, running < limit else { return nil }
    let phase = first
    if phase.pointee.readyCount > 0 {
      phase.pointee.readyCount -= 1
      for level in stride(from: 4, through: 0, by: -1) where !phase.pointee.ready[level].isEmpty {
        return phase.pointee.ready[level].popFirst()
      }
    }
    guard phase.pointee.isComplete, !phase.pointee.barrierEntries.isEmpty else { return nil }
    return phase.pointee.barrierEntries.popFirst()
  }

  mutating func start() { running += 1 }

  /// - Parameter wasRunning: it was started while the controller was engaged, or counted at the engagement.
  mutating func finish(sequence: Int, wasRunning: Bool) {
    if wasRunning { running -= 1 }
    let phase = phase(of: sequence)
    if phase.pointee.end == sequence {
      removeFirstPhase()
    } else {
      phase.pointee.finished += 1
    }
  }

  private mutating func removeFirstPhase() {
    Self.free(phases[head])
    head += 1
    if head > 32, head * 2 > phases.count {
      phases.removeFirst(head)
      head = 0
    }
  }

  /// Entries that could start now if the limit allowed.
  private var startable: Int {
    if isSuspended { return 0 }
    let phase = first
    if phase.pointee.readyCount > 0 { return phase.pointee.readyCount }
    return phase.pointee.isComplete && !phase.pointee.barrierEntries.isEmpty ? 1 : 0
  }

  private var firstLevel: Int {
    for level in stride(from: 4, through: 0, by: -1) where !first.pointee.ready[level].isEmpty { return level }
    return 2
  }

  private func phase(of sequence: Int) -> UnsafeMutablePointer<Phase> {
    var low = head
    var high = phases.count - 1
    while low < high {
      let middle = (low + high) / 2
      if sequence <= phases[middle].pointee.end { high = middle } else { low = middle + 1 }
    }
    return phases[low]
  }
}
