/// A cache line that several CPUs want: a lock, the end of a list, a counter.
///
/// One CPU has the line at a time. A CPU that wants the line waits until the CPUs before it have had their turn. Then
/// the line comes over from the CPU that had it last, which takes the longer the farther that CPU is.
struct SharedLine {
  /// The worker that had the line last; -1 for a thread outside, nil for nobody.
  private(set) var last: Int32?
  /// The times that are promised to CPUs, in order. Times that touch each other are one. An access may be promised for
  /// later than the present, because a thread pays for its steps in turn, so others fit in before it.
  private var promised: [Turn] = []

  private struct Turn {
    var start: Int64
    var end: Int64
  }

  /// Promises the line to a worker.
  /// - Parameters:
  ///   - worker: the worker; -1 for a thread outside.
  ///   - time: when the worker wants the line.
  ///   - duration: how long the line is the worker's alone.
  ///   - now: the present. What ended before that is forgotten.
  /// - Returns: when the worker is done with the line. O(t) for t times that are promised, mostly one.
  mutating func promise(to worker: Int, from time: Int64, for duration: Int64, now: Int64) -> Int64 {
    last = Int32(truncatingIfNeeded: worker)
    forget(before: now)
    var index = 0
    var start = time
    // An access that holds the line for no time waits all the same.
    while index < promised.count, promised[index].start < start + max(1, duration) {
      start = max(start, promised[index].end)
      index += 1
    }
    let end = start + duration
    if duration == 0 { return end }
    // `index` is the first turn behind the new one.
    let touchesBefore = index > 0 && promised[index - 1].end == start
    let touchesBehind = index < promised.count && promised[index].start == end
    switch (touchesBefore, touchesBehind) {
    case (true, true):
      promised[index - 1].end = promised[index].end
      promised.remove(at: index)
    case (true, false): promised[index - 1].end = end
    case (false, true): promised[index].start = start
    case (false, false): promised.insert(Turn(start: start, end: end), at: index)
    }
    return end
  }

  private mutating func forget(before now: Int64) {
    let over = promised.prefix { $0.end <= now }.count
    if over > 0 { promised.removeFirst(over) }
  }
}

/// A word that every worker reads and some write, such as the counts of threads. A worker that has read the word since
/// the last change has a copy, and reads the word for nothing.
struct SharedWord {
  var line = SharedLine()
  private var changes: UInt32 = 1
  /// What each worker has seen, the thread outside first.
  private var seen: [UInt32] = [0]

  /// Notes that a worker reads the word.
  /// - Returns: whether the line has to come over.
  mutating func isRead(by worker: Int) -> Bool {
    while seen.count < worker + 2 { seen.append(0) }
    defer { seen[worker + 1] = changes }
    return seen[worker + 1] != changes
  }

  /// Notes that a worker changes the word.
  mutating func isWritten(by worker: Int) {
    while seen.count < worker + 2 { seen.append(0) }
    changes &+= 1
    seen[worker + 1] = changes
  }
}
