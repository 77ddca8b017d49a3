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
  /// The number of jobs until the next one that is taken for fairness.
  var tick: Int
  /// How many jobs the worker added since it last looked outside on their account.
  var added = 0
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

  init(index: Int, fairnessInterval: Int, search: Search) {
    patience = Patience(Patience.Times(search.times))
    tick = fairnessInterval
    victim = index
  }

  /// True once every `interval` times.
  mutating func isTimeForOthers(_ interval: Int) -> Bool {
    tick -= 1
    if tick != 0 { return false }
    tick = interval
    return true
  }

  /// True once for every `interval` jobs that the worker added itself.
  mutating func isTimeForOutside(_ interval: Int) -> Bool {
    if added < interval { return false }
    added = 0
    return true
  }

  mutating func hasAdded() -> Bool {
    defer { added = 0 }
    return added > 0
  }
}
