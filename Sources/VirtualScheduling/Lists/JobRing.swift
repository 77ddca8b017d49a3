/// Jobs in order, taken from both ends; each call O(1), growing amortised.
struct JobRing {
  private var slots: [QueuedJob?] = []
  private var first = 0
  private(set) var count = 0
  /// When a job was taken last: a thief at the same instant may lose a race.
  var lastTaken = Int64.min
  /// The end at which thieves, and takers of jobs from outside, meet.
  var line = SharedLine()

  var isEmpty: Bool { count == 0 }

  mutating func append(_ job: QueuedJob) {
    if count == slots.count { grow() }
    slots[(first + count) & (slots.count - 1)] = job
    count += 1
  }

  /// Puts a job before all others.
  mutating func prepend(_ job: QueuedJob) {
    if count == slots.count { grow() }
    first = (first - 1) & (slots.count - 1)
    slots[first] = job
    count += 1
  }

  /// The oldest job.
  mutating func popFirst() -> QueuedJob? {
    if count == 0 { return nil }
    defer {
      first = (first + 1) & (slots.count - 1)
      count -= 1
    }
    return slots[first]
  }

  /// The newest job.
  mutating func popLast() -> QueuedJob? {
    if count == 0 { return nil }
    count -= 1
    return slots[(first + count) & (slots.count - 1)]
  }

  private mutating func grow() {
    var larger = [QueuedJob?](repeating: nil, count: max(4, 2 * slots.count))
    for index in 0..<count { larger[index] = slots[(first + index) & (slots.count - 1)] }
    slots = larger
    first = 0
  }
}
