/// How many CPUs a pool lends to the running threads of other pools of the process. Pure.
///
/// A pool lends as many as others have used lately, but keeps its fair share: the CPUs by the number of pools that
/// run. The numbers of the others come and go with each of their jobs. So a mean counts, in which a look weighs as much
/// as the time since the last one.
///
/// A pool lends nothing while one of its bodies computes for `patience` or longer. Bodies may wait for each other
/// without blocking: each then needs a thread of its own.
package struct CPUShare: Sendable {
  /// Over what time the numbers of the others are taken together, in nanoseconds.
  package static let memory: UInt64 = 60_000_000
  package static let patience: UInt64 = 100_000_000

  private var threads = 0.0
  private var pools = 0.0
  private var lastLook: UInt64 = 0

  package init() {}

  /// - Parameters:
  ///   - time: by the monotonic clock, in nanoseconds.
  ///   - others: the running threads of other pools.
  ///   - cpus: how many the process may use.
  ///   - longestJob: for how long looks have seen one of the pool's threads compute in the same job, in nanoseconds.
  /// - Returns: how many CPUs are lent.
  package mutating func look(at time: UInt64, others: RunningThreads.Sums, cpus: Int, longestJob: UInt64) -> Int {
    let passed = time &- lastLook
    let weight = lastLook == 0 ? 1 : min(1, Double(passed) / Double(Self.memory))
    lastLook = time
    threads += (Double(others.threads) - threads) * weight
    pools += (Double(others.pools) - pools) * weight
    guard longestJob < Self.patience else { return 0 }
    let fair = max(1, cpus / (1 + max(1, Int(pools.rounded()))))
    return max(0, min(Int(threads.rounded()), cpus - fair))
  }
}
