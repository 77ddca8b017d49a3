import Subjects

/// What one operation of a priority benchmark did.
struct PriorityEvent: Sendable, Hashable {
  let level: PriorityLevel
  /// The time from which on the operation could have been started. Never later than `started`.
  let ready: UInt64
  let started: UInt64
  /// The time when the body returned. Never earlier than `started`.
  let ended: UInt64
}

/// Replays the merged logs of a run in the order of time, and counts how far each start was from strict priority.
///
/// Rank error of a start: the number of operations of strictly higher priority that were ready and not started at that
/// instant. Delay of an operation: the number of operations of strictly lower priority that were started while the
/// operation was ready.
struct PriorityReplay {
  /// One rank error per operation, in the order of starting.
  private(set) var rankErrors: [Int] = []
  private(set) var delays: [Int] = []

  init(_ events: [PriorityEvent]) {
    let levels = PriorityLevel.allCases.count
    let byReadiness = events.indices.sorted { events[$0].ready < events[$1].ready }
    let byStart = events.indices.sorted { events[$0].started < events[$1].started }
    var waiting = [Int](repeating: 0, count: levels)
    var startedAtReadiness = [Int](repeating: 0, count: events.count)
    var startedByLevel = [Int](repeating: 0, count: levels)
    var next = 0
    rankErrors.reserveCapacity(events.count)
    delays.reserveCapacity(events.count)
    for index in byStart {
      let event = events[index]
      // Adds every operation that became ready up to this instant, including this operation.
      while next < byReadiness.count, events[byReadiness[next]].ready <= event.started {
        let ready = byReadiness[next]
        waiting[events[ready].level.rawValue] += 1
        startedAtReadiness[ready] = startedByLevel[..<events[ready].level.rawValue].reduce(0, +)
        next += 1
      }
      let level = event.level.rawValue
      waiting[level] -= 1
      rankErrors.append(waiting[(level + 1)...].reduce(0, +))
      delays.append(startedByLevel[..<level].reduce(0, +) - startedAtReadiness[index])
      startedByLevel[level] += 1
    }
  }
}
