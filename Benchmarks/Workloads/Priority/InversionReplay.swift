import Subjects

/// Replays the merged logs of a run, and finds for each operation how long it stayed ready while a lower one ran that
/// had started later: one of strictly lower priority that was started when this one was ready already.
///
/// Time in which several such lower ones ran at once counts once. A lower one that was running before this one became
/// ready is no inversion, since nothing here is pre-empted.
///
/// At each instant only the latest start among the lower ones that are running matters: it lies after this one became
/// ready, or none does. That start is constant between two events, so the answer is the length of those stretches
/// before this one's start whose latest start is not before it became ready: a sum over a prefix, of stretches that
/// are let in in descending order of that start. O(n log n) for each of the five levels.
struct InversionReplay {
  /// In nanoseconds, one per event, in the order of the events.
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

  /// For each stretch between two neighbouring times the latest start among the operations that run in it.
  private static func latestStarts(_ operations: [PriorityEvent], _ times: [UInt64]) -> [UInt64?] {
    let byStart = operations.sorted { $0.started < $1.started }
    var running: [PriorityEvent] = []
    var next = 0
    return times.dropLast().map { time in
      while next < byStart.count, byStart[next].started <= time {
        running.append(byStart[next])
        next += 1
      }
      // Those below the top started earlier, so one that has ended there is in nobody's way.
      while let top = running.last, top.ended <= time { running.removeLast() }
      return running.last?.started
    }
  }

  private static func ascending(_ times: [UInt64]) -> [UInt64] {
    var result: [UInt64] = []
    for time in times.sorted() where time != result.last { result.append(time) }
    return result
  }

  /// The index of a time that is among them.
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
