import TestSupport

/// What one round does: a pure function of its seed.
struct StressProfile: Sendable, CustomStringConvertible {
  struct QueueProfile: Sendable {
    /// Its `maxConcurrentOperationCount` changes between 0 and 4; otherwise there is no limit.
    var isLimited: Bool
    var hasBarriers: Bool
    var isSuspendedNowAndThen: Bool
    /// `cancelAllOperations`, and `cancel` on single operations.
    var isCancelled: Bool
  }

  var workers: Int
  var producers: Int
  var operationsPerProducer: Int
  var queues: [QueueProfile]
  /// Percent of the bodies that add an operation to a queue of its own and wait for it.
  var nesting: Int
  /// Percent of the bodies that wait for an operation that was added earlier. 0 where a limit could make them wait for
  /// the place that they hold themselves.
  var waiting: Int
  /// The last queue, and the one of the nested operations, are on the default backend: dependencies and waits cross.
  var usesTwoBackends: Bool
  /// The queues are released while operations are pending, instead of waited for.
  var releasesQueuesEarly: Bool

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    workers = random.pick(1...4)
    producers = random.pick(1...4)
    operationsPerProducer = random.pick(20...250)
    queues = []
    for _ in 0..<random.pick(1...2) {
      queues.append(
        QueueProfile(
          isLimited: random.chance(40), hasBarriers: random.chance(50), isSuspendedNowAndThen: random.chance(60),
          isCancelled: random.chance(60)))
    }
    nesting = random.chance(50) ? random.pick(1...10) : 0
    waiting = random.chance(50) ? random.pick(1...5) : 0
    if queues.contains(where: \.isLimited) { waiting = 0 }
    releasesQueuesEarly = random.chance(25)
    usesTwoBackends = random.chance(30)
  }

  var description: String {
    let parts = queues.map { queue in
      let traits = [
        queue.isLimited ? "limited" : nil, queue.hasBarriers ? "barriers" : nil,
        queue.isSuspendedNowAndThen ? "suspended" : nil, queue.isCancelled ? "cancelled" : nil,
      ]
      return "[" + traits.compactMap { $0 }.joined(separator: ", ") + "]"
    }
    return "\(workers) workers, \(producers) x \(operationsPerProducer) operations, queues "
      + parts.joined(separator: " ") + ", nesting \(nesting) %, waiting \(waiting) %"
      + (releasesQueuesEarly ? ", released early" : "") + (usesTwoBackends ? ", two backends" : "")
  }
}
