import Primitives

@testable import OperationCore
@testable import OperationJobs

/// What `Admission` promises, as plainly as possible: a list of operations and quadratic searches.
struct AdmissionModel {
  enum Stage { case pending, ready, running, finished }

  struct Member {
    let sequence: Int
    let isBarrier: Bool
    var level: Int
    var stage = Stage.pending
    /// Order of becoming ready.
    var arrival = 0
  }

  var members: [Member] = []
  var limit = Int.max
  /// The most below each level; nothing is below the first.
  var limitsBelow = [Int](repeating: .max, count: 5)
  var isSuspended = false
  private var arrivals = 0

  var running: Int { members.count { $0.stage == .running } }

  /// What runs, by level.
  var runningAt: [Int] {
    members.reduce(into: [0, 0, 0, 0, 0]) { if $1.stage == .running { $0[$1.level] += 1 } }
  }

  mutating func add(isBarrier: Bool, level: Int) {
    members.append(Member(sequence: members.count, isBarrier: isBarrier, level: level))
  }

  mutating func becomeReady(_ sequence: Int) {
    arrivals += 1
    members[sequence].arrival = arrivals
    members[sequence].stage = .ready
  }

  /// Those that may start now, the limit aside: what is ready before the first unfinished barrier; when everything
  /// there has finished, the barrier.
  var startable: [Member] {
    if isSuspended { return [] }
    let barrier = members.first { $0.isBarrier && $0.stage != .finished }
    let phase = members.filter { $0.sequence < barrier?.sequence ?? .max }
    let ready = phase.filter { $0.stage == .ready }
    if !ready.isEmpty { return ready }
    guard let barrier, barrier.stage == .ready, phase.allSatisfy({ $0.stage == .finished }) else { return [] }
    return [barrier]
  }

  /// The ones that would start now, one after the other, if nothing else came: the most urgent first, each where the
  /// limit and the limits below the levels above its own leave a place. A barrier runs alone, whatever its level.
  var startingNow: [Member] {
    var places = limit - running
    var runningAt = runningAt
    return startable.sorted { ($1.level, $0.arrival) < ($0.level, $1.arrival) }.filter { member in
      let fits = (0..<5).allSatisfy { bound in
        bound <= member.level || runningAt[..<bound].reduce(0, +) < limitsBelow[bound]
      }
      guard places > 0, fits || member.isBarrier else { return false }
      places -= 1
      runningAt[member.level] += 1
      return true
    }
  }

  /// The one that must start next.
  var next: Int? { startingNow.first?.sequence }
}

/// Jobs that stand for operations by their sequence numbers.
final class EntryPool {
  private var entries: [UInt] = []
  private var sequences: [UInt: Int] = [:]

  /// The entry of a sequence number, always the same.
  func entry(_ sequence: Int) -> UInt {
    while entries.count <= sequence {
      let word = Job {}.word
      sequences[word] = entries.count
      entries.append(word)
    }
    return entries[sequence]
  }

  func sequence(_ entry: UInt?) -> Int? { entry.flatMap { sequences[$0] } }

  deinit {
    for entry in entries { JobObject.object(entry).release() }
  }
}

/// What tests of `Admission` do again and again.
protocol AdmissionTesting {
  var pool: EntryPool { get }
}

extension AdmissionTesting {
  /// New tickets by level, from very low to very high.
  func takeTickets(_ admission: inout Admission, atMost most: Int = .max) -> [Int] {
    var new = Self.none
    while let level = admission.takeTicket(atMost: most) { new[level] += 1 }
    return new
  }

  static var none: [Int] { [0, 0, 0, 0, 0] }

  /// Starts everything that may start, and gives the sequence numbers.
  func startAll(_ admission: inout Admission, level: Int = 2) -> [Int] {
    var started: [Int] = []
    while let entry = admission.next() {
      admission.start(level: level)
      started.append(pool.sequence(entry) ?? -1)
    }
    return started
  }

  func insert(_ sequences: [Int], level: Int = 2, into admission: inout Admission) {
    for sequence in sequences { admission.insert(entry: pool.entry(sequence), level: level, sequence: sequence) }
  }
}

extension Admission {
  /// An operation of the middle level starts.
  mutating func start() { start(level: 2) }

  /// An operation of the middle level finishes.
  mutating func finish(sequence: Int, wasRunning: Bool, holdsPlace: Bool = false) {
    finish(sequence: sequence, level: wasRunning ? 2 : nil, holdsPlace: holdsPlace)
  }

  /// Of an operation of the middle level.
  mutating func freeHeldPlace() { freeHeldPlace(level: 2) }

  /// Those that have started are of the middle level.
  mutating func engage(bound: Int, unfinished: Int, running: Int) {
    engage(bound: bound, unfinished: unfinished, running: [0, 0, running, 0, 0])
  }
}
