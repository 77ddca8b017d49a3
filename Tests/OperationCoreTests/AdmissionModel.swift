import Primitives

@testable import OperationCore

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
  var isSuspended = false
  private var arrivals = 0

  var running: Int { members.count { $0.stage == .running } }

  mutating func add(isBarrier: Bool, level: Int) {
    members.append(Member(sequence: members.count, isBarrier: isBarrier, level: level))
  }

  mutating func becomeReady(_ sequence: Int) {
    arrivals += 1
    members[sequence].arrival = arrivals
    members[sequence].stage = .ready
  }

  /// Those that may start now, the limit aside: what is ready before the first unfinished barrier; when everything there
  /// has finished, the barrier.
  var startable: [Member] {
    if isSuspended { return [] }
    let barrier = members.first { $0.isBarrier && $0.stage != .finished }
    let phase = members.filter { $0.sequence < barrier?.sequence ?? .max }
    let ready = phase.filter { $0.stage == .ready }
    if !ready.isEmpty { return ready }
    guard let barrier, barrier.stage == .ready, phase.allSatisfy({ $0.stage == .finished }) else { return [] }
    return [barrier]
  }

  /// The one that must start next.
  var next: Int? {
    guard running < limit else { return nil }
    return startable.min { ($1.level, $0.arrival) < ($0.level, $1.arrival) }?.sequence
  }
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
    for entry in entries { JobObject.unmanaged(entry).release() }
  }
}
