import Scheduling

/// What the virtual threads of a pool have done: what a real pool counts, and what only a model knows.
package struct VirtualStatistics: Hashable, Sendable {
  package var pool: PoolStatistics
  /// How long workers had no job, in nanoseconds, the sum over all of them: they searched, slept, or were on their way
  /// after a wake.
  package var idle: Int64
  /// Looks at a list of another worker that gave no job.
  package var looksInVain: Int
  /// How often another thread took the job that a thief wanted.
  package var lostRaces: Int
  /// The sum over all jobs of the number of queued jobs that by row 20 of the contract should have gone first. 0 when
  /// the pool does not measure it.
  package var rankErrors: Int
  /// The largest of these numbers.
  package var worstRankError: Int
}
