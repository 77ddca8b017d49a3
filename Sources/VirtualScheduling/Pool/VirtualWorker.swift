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
  /// The run of successors to which the job belongs.
  var run = SuccessorRun(length: 1)
  /// What the thread has to pay for before it goes on: time in which it added jobs and woke others.
  var owed: Int64 = 0

  /// Forks that the worker keeps to itself, the newest last.
  var forks: [QueuedJob] = []
  /// How many forks of the worker stand in lists.
  var shownForks = 0
  /// When the worker showed a fork last in the job that it took from a list; nil before the first time.
  var lastShow: Int64?

  /// The place among those that watch; -1 for none.
  var watchIndex = -1
  /// When the search is over.
  var searchEnd: Int64 = 0
  var isLongSearch = false
  var patience: Patience
  /// Since when the worker has no job; nil while it has one.
  var idleSince: Int64?
  /// How long the worker had no job before that, in nanoseconds.
  var idle: Int64 = 0

  /// What the worker remembers from one look to the next.
  var memory: WorkerMemory
  /// The lists of a multi-queue that the worker has chosen.
  var chosenLists = ListChoice()

  var counts = PoolStatistics.Worker()

  init(memory: WorkerMemory, search: StealingStrategy.Search) {
    self.memory = memory
    patience = Patience(Patience.Times(search.times))
  }
}
