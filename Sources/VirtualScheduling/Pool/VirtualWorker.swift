import Scheduling

import struct Primitives.Patience

/// One worker and its thread.
struct VirtualWorker {
  enum State {
    /// The thread sleeps.
    case sleeping
    /// An event is due at which the thread looks for a job.
    case looking
    /// The thread has no job and watches the lists.
    case watching
    /// An event is due at which the thread begins a job that it has taken.
    case beginning
    /// The thread runs a body.
    case running
    /// The thread runs a body that waits; another thread may have its place.
    case blocked
  }

  var state = State.looking
  /// Whether the thread is counted as searching.
  var isSearching = false
  var epoch: UInt32 = 0
  /// The job that the thread begins or runs.
  var job = QueuedJob(word: 0, level: 0, maker: -1, number: 0)
  /// How many jobs the thread may still run in a row, each the successor of the one before.
  var runLeft = 0
  /// What the thread has to pay for before it goes on: time in which it added jobs and woke others.
  var owed: Int64 = 0

  /// The place among those that watch; -1 for none.
  var watchIndex = -1
  /// When the search is over.
  var searchEnd: Int64 = 0
  var isLongSearch = false
  var patience: Patience
  /// Since when the worker has no job; nil while it has one.
  var idleSince: Int64?

  /// One bit for each level: the worker's list may have a job of that level.
  var ownLevels: UInt32 = 0
  /// The number of jobs until the next turn of `turns`.
  var tick: Int
  var turns: Turns
  /// How many jobs the worker added since it last looked outside on their account.
  var added = 0
  /// How many jobs the worker added beyond those for which it looked outside.
  var unlooked = 0
  /// A worker with jobs, and how many jobs that worker had begun, at the last others' turn.
  var seen = (worker: -1, jobs: 0)
  /// How many jobs the worker took from its own lists.
  var turn: UInt32 = 0
  /// What the worker remembers of the workers that it robbed.
  var victim: Int
  var placeTurn = 0
  /// The lists of a multi-queue that the worker has chosen.
  var listToAdd = 0
  var addsLeft = 0
  var listsToTake = (first: 0, second: 0)
  var takesLeft = 0

  var counts = VirtualStatistics.Worker()

  init(index: Int, turns: Turns, search: StealingStrategy.Search) {
    patience = Patience(Patience.Times(search.times))
    self.turns = turns
    tick = turns.step
    victim = index
  }

  /// Whether a turn of `turns` has come.
  mutating func isTimeForTurn() -> Bool {
    tick -= 1
    return tick == 0
  }

  mutating func nextTurn() -> (isLowests: Bool, isOthers: Bool) {
    let due = turns.next()
    tick = turns.step
    return due
  }

  /// True once for every `interval` jobs that the worker added itself.
  func isTimeForOutside(_ interval: Int) -> Bool { added >= interval }

  mutating func looksOutside(_ interval: Int) {
    unlooked += added - interval
    added = 0
  }

  mutating func hasUnlooked() -> Bool {
    defer { unlooked = max(0, unlooked - Turns.usualOthersInterval) }
    return unlooked + added > 0
  }

  mutating func outsideGoesFirst() -> Bool {
    defer { added = 0 }
    return (added > 0 || unlooked > 0) && !turns.ownGoFirst
  }
}
