/// What follows from a strategy for a pool of work-stealing workers: worked out once, and read for every job.
@usableFromInline package struct StealingRules: Sendable {
  @usableFromInline package let strategy: StealingStrategy
  /// The number of workers that run jobs at the same time.
  @usableFromInline package let workers: Int
  /// Whether the strategy is the default: then a job asks it nothing else.
  @usableFromInline package let isUsual: Bool
  /// Whether jobs have levels of urgency.
  @usableFromInline package let hasLevels: Bool
  @usableFromInline package let runsSuccessors: Bool
  /// Whether jobs that workers add go to the lists that all share.
  @usableFromInline package let sharesAll: Bool
  /// Whether each job of a batch goes to a list of its own choice.
  @usableFromInline package let showsEach: Bool
  /// Whether a thief may take a worker's only job before it would otherwise sleep.
  @usableFromInline package let robsAll: Bool
  /// The most jobs that a worker without work takes from outside at once.
  @usableFromInline package let outsideBatch: Int
  /// The number of places for jobs from outside: one, or as many as workers.
  @usableFromInline package let placeCount: Int
  /// The number of lists of a multi-queue; 0 when the strategy has none.
  @usableFromInline package let multiQueueLists: Int
  /// The fewest jobs submitted together that call for more than one searching thread.
  @usableFromInline package let batchThatWakes: Int
  /// Whether each search that found a job is passed on.
  @usableFromInline package let passesOn: Bool

  package init(_ strategy: StealingStrategy, workers: Int) {
    self.strategy = strategy
    self.workers = workers
    isUsual = strategy == StealingStrategy()
    hasLevels = strategy.priorities != .ignored
    runsSuccessors = strategy.successor == .runs
    sharesAll = strategy.priorities == .strict
    robsAll = strategy.leastJobs == 1
    passesOn = strategy.passing != .lastSearcher
    outsideBatch = sharesAll ? 1 : strategy.outsideBatch
    placeCount = strategy.outsidePlace == .injector ? 1 : workers
    multiQueueLists = strategy.priorities.listsPerWorker * workers
    showsEach = sharesAll || placeCount > 1 || multiQueueLists > 0
    batchThatWakes =
      (2...Self.largestBatchThatWakes).first {
        strategy.waking.searchersWanted(jobs: $0, workers: workers, sleeping: workers) > 1
      } ?? .max
  }

  /// No waking asks for fewer than one more thread for this number of jobs.
  private static let largestBatchThatWakes = 1_024

  @inlinable package var usesMultiQueue: Bool { multiQueueLists > 0 }
}
