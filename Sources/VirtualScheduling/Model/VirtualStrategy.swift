import Scheduling

/// Which pool is imitated, and how that pool schedules.
package enum VirtualStrategy: Hashable, Sendable {
  /// The pool in which every worker has lists of its own.
  case stealing(StealingStrategy)
  /// The pool in which all threads share one list for each level.
  case threadPool(ThreadPoolStrategy)

  /// What a thread does while the job that it runs waits.
  package var waiting: StealingStrategy.Waiting {
    switch self {
    case .stealing(let strategy): strategy.waiting
    case .threadPool(let strategy): strategy.waiting
    }
  }

  var successor: StealingStrategy.Successor {
    switch self {
    case .stealing(let strategy): strategy.successor
    case .threadPool(let strategy): strategy.successor
    }
  }

  var runLength: Int {
    switch self {
    case .stealing(let strategy): strategy.runLength
    case .threadPool(let strategy): strategy.runLength
    }
  }

  var sleeper: StealingStrategy.Sleeper {
    switch self {
    case .stealing(let strategy): strategy.sleeper
    case .threadPool(let strategy): strategy.sleeper
    }
  }

  var search: StealingStrategy.Search {
    switch self {
    case .stealing(let strategy): strategy.search
    case .threadPool(let strategy): strategy.search
    }
  }

  /// When the forks of a worker become visible to others.
  package var forks: StealingStrategy.Forks {
    switch self {
    case .stealing(let strategy): strategy.forks
    case .threadPool(let strategy): strategy.forks
    }
  }

  /// Whether the levels of jobs count.
  var hasLevels: Bool {
    switch self {
    case .stealing(let strategy): strategy.priorities != .ignored
    case .threadPool(let strategy): strategy.order == .priority
    }
  }
}
