import Subjects

/// Replays the merged logs of a run, and finds for each operation how long it stayed ready during an inversion. An
/// inversion is time in which an operation of strictly lower priority ran that was started when this operation was
/// already ready.
///
/// Time in which several such lower operations ran at once counts once. A lower operation that was running before this
/// operation became ready is no inversion, because nothing is pre-empted.
///
/// At each instant only the latest start among the running lower operations matters. Either that start is after this
/// operation became ready, or no such start is. The latest start is constant between two events. So the inversion is
/// the total length of the stretches before this operation's start whose latest start is not before this operation
/// became ready. The total is a sum over a prefix of stretches, and stretches are added to the sum in descending order
/// of their latest start. O(n log n) for each of the five levels.
struct InversionReplay {
  /// The inversion of each event in nanoseconds, in the order of the events.
  private(set) var nanoseconds: [UInt64]

  init(_ events: [PriorityEvent]) {
    nanoseconds = [UInt64](repeating: 0, count: events.count)
    for level in PriorityLevel.allCases.dropFirst() {
      let waiting = events.indices.filter { events[$0].level == level && events[$0].ready < events[$0].started }
      let lower = events.filter { $0.level.rawValue < level.rawValue && $0.started < $0.ended }
      if !waiting.isEmpty, !lower.isEmpty { replay(events, waiting, lower) }
    }
  }

  private mutating func replay(_ events: [PriorityEvent], _ waiting: [Int], _ lower: [PriorityEvent]) {
    let times = Self.ascending(lower.flatMap { [$0.started, $0.ended] } + waiting.map { events[$0].started })
    let stretches = Self.latestStarts(lower, times)
    let byStart = stretches.indices.filter { stretches[$0] != nil }.sorted { stretches[$0]! > stretches[$1]! }
    var sums = PrefixSums(count: stretches.count)
    var next = 0
    for index in waiting.sorted(by: { events[$0].ready > events[$1].ready }) {
      while next < byStart.count, stretches[byStart[next]]! >= events[index].ready {
        let stretch = byStart[next]
        sums.add(times[stretch + 1] - times[stretch], at: stretch)
        next += 1
      }
      nanoseconds[index] = sums.sum(before: Self.position(of: events[index].started, in: times))
    }
  }

  /// For each stretch between two neighbouring times, the latest start among the operations that run in the stretch.
  private static func latestStarts(_ operations: [PriorityEvent], _ times: [UInt64]) -> [UInt64?] {
    let byStart = operations.sorted { $0.started < $1.started }
    var running: [PriorityEvent] = []
    var next = 0
    return times.dropLast().map { time in
      while next < byStart.count, byStart[next].started <= time {
        running.append(byStart[next])
        next += 1
      }
      // The operations below the top of the stack started earlier, so an operation below the top that has ended does no
      // harm.
      while let top = running.last, top.ended <= time { running.removeLast() }
      return running.last?.started
    }
  }

  private static func ascending(_ times: [UInt64]) -> [UInt64] {
    var result: [UInt64] = []
    for time in times.sorted() where time != result.last { result.append(time) }
    return result
  }

  /// The index of `time`, which is one of `times`.
  private static func position(of time: UInt64, in times: [UInt64]) -> Int {
    var range = 0..<times.count
    while !range.isEmpty {
      let middle = range.lowerBound + range.count / 2
      if times[middle] < time { range = middle + 1..<range.upperBound } else { range = range.lowerBound..<middle }
    }
    return range.lowerBound
  }
}

/// Sums of prefixes under additions at single places, both in O(log n) (Fenwick 1994).
struct PrefixSums {
  private var tree: [UInt64]

  init(count: Int) { tree = [UInt64](repeating: 0, count: count + 1) }

  mutating func add(_ value: UInt64, at index: Int) {
    var place = index + 1
    while place < tree.count {
      tree[place] += value
      place += place & -place
    }
  }

  func sum(before index: Int) -> UInt64 {
    var place = index
    var total: UInt64 = 0
    while place > 0 {
      total += tree[place]
      place -= place & -place
    }
    return total
  }
}
