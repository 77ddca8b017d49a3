/// What the virtual threads of a pool have done: the counts of `PoolStatistics`, and times that only a model knows.
package struct VirtualStatistics: Hashable, Sendable {
  /// What one worker has done.
  package struct Worker: Hashable, Sendable {
    /// Jobs that the worker ran.
    package var jobs = 0
    /// Jobs that the worker took from the lists for jobs from outside.
    package var fromOutside = 0
    /// Jobs that the worker took from other workers.
    package var steals = 0
    /// Searches that found nothing.
    package var failedSearches = 0
    /// How often the worker went to sleep.
    package var sleeps = 0
    /// How long the worker had no job, in nanoseconds: it searched, slept, or was on its way after a wake.
    package var idle: Int64 = 0

    package init() {}
  }

  /// The workers, in the order in which they were made.
  package var workers: [Worker] = []
  /// Sleeping threads that were woken.
  package var wakes = 0
  /// Threads that were started.
  package var threadsStarted = 0
  /// How often a blocked thread gave its place up.
  package var replacements = 0
  /// Looks at a list of another worker that gave no job.
  package var looksInVain = 0
  /// How often another thread took the job that a thief wanted.
  package var lostRaces = 0
  /// The sum over all jobs of the number of queued jobs that by row 20 of the contract should have gone first. 0 when the
  /// pool does not measure it.
  package var rankErrors = 0
  /// The largest of these numbers.
  package var worstRankError = 0

  package init() {}

  package var jobs: Int { workers.reduce(0) { $0 + $1.jobs } }
  package var fromOutside: Int { workers.reduce(0) { $0 + $1.fromOutside } }
  package var steals: Int { workers.reduce(0) { $0 + $1.steals } }
  package var failedSearches: Int { workers.reduce(0) { $0 + $1.failedSearches } }
  package var sleeps: Int { workers.reduce(0) { $0 + $1.sleeps } }
  /// The sum over all workers, in nanoseconds.
  package var idle: Int64 { workers.reduce(0) { $0 + $1.idle } }
}
