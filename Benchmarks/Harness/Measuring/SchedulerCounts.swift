/// What the threads of a scheduler have done, as far as the scheduler counts it.
package struct SchedulerCounts: Hashable, Sendable {
  /// Jobs that a worker took from another worker.
  package var steals: UInt64
  /// Searches for a job that found none.
  package var failedSteals: UInt64
  /// Sleeping threads that were woken for a job.
  package var wakes: UInt64

  package init(steals: UInt64 = 0, failedSteals: UInt64 = 0, wakes: UInt64 = 0) {
    (self.steals, self.failedSteals, self.wakes) = (steals, failedSteals, wakes)
  }

  /// One reading of each count, for what came since `start`. None when a scheduler that had counted then is gone: its
  /// counts went with it.
  package func readings(since start: SchedulerCounts, operations: Int) -> [Reading] {
    guard operations > 0, steals >= start.steals, failedSteals >= start.failedSteals, wakes >= start.wakes else {
      return []
    }
    func reading(_ metric: Metric, _ now: UInt64, _ before: UInt64) -> Reading {
      Reading(metric, Double(now - before) / Double(operations), count: operations)
    }
    return [
      reading(.stealsPerOp, steals, start.steals), reading(.failedStealsPerOp, failedSteals, start.failedSteals),
      reading(.wakesPerOp, wakes, start.wakes),
    ]
  }
}
