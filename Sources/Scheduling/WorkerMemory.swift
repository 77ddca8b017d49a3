/// What a worker remembers from one look for a job to the next. Only the worker's own thread touches it.
@usableFromInline package struct WorkerMemory: Sendable {
  /// One bit for each level: the worker's own list may have a job of that level.
  @usableFromInline package var ownLevels: UInt32 = 0
  /// The number of jobs until the next turn of `turns`.
  @usableFromInline var tick: Int
  @usableFromInline var turns: Turns
  @usableFromInline let outsideInterval: Int
  /// The number of jobs that the worker has added since it last looked outside on their account.
  @usableFromInline var added = 0
  /// The number of jobs that the worker has added beyond those for which it looked outside: a batch counts as one look.
  @usableFromInline var unlooked = 0
  /// A worker with jobs, and how many jobs that worker had begun, at the last others' turn.
  @usableFromInline var seen = (worker: -1, jobs: 0)
  /// The number of jobs that the worker took from its own lists, unless it takes the oldest.
  @usableFromInline var ownTurn: UInt32 = 0
  /// What the worker remembers of the workers that it robbed.
  @usableFromInline var victim: Int
  /// How often the worker has looked into places for jobs from outside, when there are several.
  @usableFromInline var placeTurn = 0

  package init(index: Int, fairnessInterval: Int, outsideInterval: Int) {
    turns = Turns(fairnessInterval: fairnessInterval, outsideInterval: outsideInterval)
    tick = turns.step
    self.outsideInterval = outsideInterval
    victim = index
  }

  /// Notes that the worker has added a job itself.
  @inlinable @inline(__always)
  package mutating func countAdded() { added &+= 1 }

  /// Says whether a turn of `turns` has come: `nextTurn` says which.
  @inlinable @inline(__always)
  mutating func isTimeForTurn() -> Bool {
    tick -= 1
    return tick == 0
  }

  @usableFromInline
  mutating func nextTurn() -> (isLowests: Bool, isOthers: Bool) {
    let due = turns.next()
    tick = turns.step
    return due
  }

  /// Is true once for every `outsideInterval` jobs that the worker added itself. Work that feeds itself would otherwise
  /// keep the jobs outside waiting for `fairnessInterval` jobs, or for ever.
  @inlinable @inline(__always)
  var isTimeForOutside: Bool { added >= outsideInterval }

  /// Notes that the worker looks outside because it is time.
  @usableFromInline
  mutating func looksOutside() {
    unlooked += added - outsideInterval
    added = 0
  }

  /// Notes that the worker has taken one job from outside and looks again as soon as it has added another job.
  @usableFromInline
  mutating func looksOutsideSoon() { added = outsideInterval - 1 }

  /// Says whether the worker runs jobs that it added and for which it did not look outside. The call covers as many of
  /// them as an others' turn does.
  @usableFromInline
  mutating func hasUnlooked() -> Bool {
    defer { unlooked = max(0, unlooked - Turns.usualOthersInterval) }
    return unlooked + added > 0
  }

  /// Says, at the lowest level's turn, whether jobs from outside go before the worker's own. The worker's own jobs came
  /// from outside earlier, unless the worker added them.
  @usableFromInline
  mutating func outsideGoesFirst() -> Bool {
    defer { added = 0 }
    return (added > 0 || unlooked > 0) && !turns.ownGoFirst
  }

  /// Says whether the worker takes the newest of its own jobs this time.
  package mutating func takesNewest(_ end: StealingStrategy.OwnEnd) -> Bool {
    ownTurn &+= 1
    return end.takesNewest(turn: ownTurn)
  }

  /// Gives the place at which a look for a job from outside begins: the worker's own. Every eighth look begins at
  /// another place, so that no place waits for its worker, which may be blocked.
  package mutating func firstPlace(worker: Int, of places: Int) -> Int {
    placeTurn = (placeTurn + 1) & Int(Int32.max)
    return (placeTurn.isMultiple(of: 8) ? worker + placeTurn / 8 : worker) % places
  }
}
