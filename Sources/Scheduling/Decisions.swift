extension StealingStrategy: PoolStrategy {
  /// All decisions, with the words for them.
  package static let decisions: [Decision<StealingStrategy>] = [
    Decision(
      name: "own", summary: "which of its own jobs a worker runs next",
      choices: [
        .init("fifo", "the oldest") { strategy, _ in strategy.ownEnd = .fifo },
        .init("lifo", "the newest; under work that feeds itself an older one may wait for ever", givesUp: [20]) {
          strategy, _ in strategy.ownEnd = .lifo
        },
        .init("lifo:N", "the newest, but the oldest every Nth time", givesUp: [20], range: 2...1_000, tried: [8]) {
          $0.ownEnd = .lifoWithTurn(every: $1)
        },
      ],
      read: {
        switch $0.ownEnd {
        case .fifo: "fifo"
        case .lifo: "lifo"
        case .lifoWithTurn(let every): "lifo:\(every)"
        }
      }),
    Decision(
      name: "successor", summary: "what happens to an operation that the end of another one made ready",
      choices: Successor.choices { $0.successor = $1 }, read: { $0.successor.text }),
    .runLength(set: { $0.runLength = $1 }, read: { $0.runLength }),
    Decision(
      name: "steal", summary: "how many jobs a worker takes from another one at once",
      choices: [
        .init("one", "one") { strategy, _ in strategy.stealAmount = .one },
        .init("half", "half of what the other one has, at most 128") { strategy, _ in strategy.stealAmount = .half },
        .init("upto:N", "at most N", range: 1...256, tried: [8]) { $0.stealAmount = .upTo($1) },
      ],
      read: {
        switch $0.stealAmount {
        case .one: "one"
        case .half: "half"
        case .upTo(let most): "upto:\(most)"
        }
      }),
    Decision(
      name: "victim", summary: "which worker is robbed first",
      choices: [
        .init("random", "a random one") { strategy, _ in strategy.victim = .random },
        .init("roundrobin", "the worker behind the one visited first in the last search") { strategy, _ in
          strategy.victim = .roundRobin
        },
        .init("last", "the one at which the last theft succeeded") { strategy, _ in strategy.victim = .lastSuccess },
        .init("neighbour", "the one with the next number") { strategy, _ in strategy.victim = .neighbour },
        .init("longest:N", "of N random ones the one with the most jobs", range: 2...64, tried: [2]) {
          $0.victim = .longest(of: $1)
        },
        .init("near:N", "a random one of N with numbers near the thief's", range: 2...1_024, tried: [8]) {
          $0.victim = .near(group: $1)
        },
      ],
      read: {
        switch $0.victim {
        case .random: "random"
        case .roundRobin: "roundrobin"
        case .lastSuccess: "last"
        case .neighbour: "neighbour"
        case .longest(let tries): "longest:\(tries)"
        case .near(let group): "near:\(group)"
        }
      }),
    Decision(
      name: "least", summary: "the fewest jobs for which a worker is robbed, until the thief would otherwise sleep",
      choices: [.init("N", "N jobs", givesUp: [20], range: 1...1_000, tried: [4]) { $0.leastJobs = $1 }],
      read: { "\($0.leastJobs)" }),
    Decision(
      name: "lost", summary: "what a thief does when another thread took the job that it wanted",
      choices: [
        .init("again", "it tries the same worker again") { strategy, _ in strategy.lostRace = .again },
        .init("next", "it goes on to the next worker") { strategy, _ in strategy.lostRace = .next },
      ],
      read: { $0.lostRace == .again ? "again" : "next" }),
    Decision(
      name: "priorities", summary: "whether the jobs of urgent operations go first, and where jobs wait",
      choices: [
        .init("perworker", "yes, in lists of each worker; a hint names the levels that have jobs") { strategy, _ in
          strategy.priorities = .perWorker
        },
        .init("strict", "yes, in lists that all workers share; nothing is stolen") { strategy, _ in
          strategy.priorities = .strict
        },
        .init("ignored", "no", givesUp: [20]) { strategy, _ in strategy.priorities = .ignored },
        .init(
          "multi:N", "nearly, by the better of two random lists out of N for each worker", givesUp: [20], range: 1...64,
          tried: [2]
        ) { $0.priorities = .multiQueue(listsPerWorker: $1) },
        .init(
          "sticky:N", "as multi:2, but a worker keeps its choice of lists for N jobs", givesUp: [20],
          range: 1...1_000, tried: [8]
        ) { $0.priorities = .stickyMultiQueue(jobs: $1) },
      ],
      read: {
        switch $0.priorities {
        case .perWorker: "perworker"
        case .strict: "strict"
        case .ignored: "ignored"
        case .multiQueue(let lists): "multi:\(lists)"
        case .stickyMultiQueue(let jobs): "sticky:\(jobs)"
        }
      }),
    Decision(
      name: "place", summary: "where a job goes that comes from outside",
      choices: [
        .init("injector", "to one list that all workers share") { strategy, _ in strategy.outsidePlace = .injector },
        .init("roundrobin", "to the lists of the workers in turn", givesUp: [20]) { strategy, _ in
          strategy.outsidePlace = .roundRobin
        },
        .init(
          "least:N", "to the worker with the fewest jobs, out of N random ones", givesUp: [20], range: 1...64,
          tried: [2]
        ) {
          $0.outsidePlace = .leastLoaded(of: $1)
        },
      ],
      read: {
        switch $0.outsidePlace {
        case .injector: "injector"
        case .roundRobin: "roundrobin"
        case .leastLoaded(let tries): "least:\(tries)"
        }
      }),
    Decision(
      name: "outside", summary: "after how many jobs that it added itself a worker looks outside",
      choices: [.init("N", "after N jobs", range: 1...1_000_000, tried: [1, 16, 64]) { $0.outsideInterval = $1 }],
      read: { "\($0.outsideInterval)" }),
    Decision(
      name: "batch", summary: "how many jobs a worker without work takes from outside at once",
      choices: [.init("N", "at most N", range: 1...4_096, tried: [1, 16]) { $0.outsideBatch = $1 }],
      read: { "\($0.outsideBatch)" }),
    Decision(
      name: "waking", summary: "how many threads are to search when jobs come in",
      choices: [
        .init("one", "one, and for jobs that come together one more for every 8, up to 4 in all") { strategy, _ in
          strategy.waking = .oneSearcher
        },
        .init("only", "one, however many jobs come") { strategy, _ in strategy.waking = .onlyOne },
        .init("every:N", "one for every N jobs that come together", range: 1...1_000, tried: [1, 3]) {
          $0.waking = .every(jobs: $1)
        },
        .init(
          "share:N", "as with one, and one more for every N that sleep; a job wakes one", range: 1...1_024, tried: [8]
        ) {
          $0.waking = .share(sleeping: $1)
        },
        .init("all", "as many as there are workers") { strategy, _ in strategy.waking = .all },
      ],
      read: {
        switch $0.waking {
        case .share(let sleeping): "share:\(sleeping)"
        case .oneSearcher: "one"
        case .onlyOne: "only"
        case .every(let jobs): "every:\(jobs)"
        case .all: "all"
        }
      }),
    Decision(
      name: "passing", summary: "how a search is passed on that has found a job, while other jobs are left",
      choices: [
        .init(
          "upto:N", "each thread that found a job wakes at most N, while four places are free", range: 1...64,
          tried: [1, 4]
        ) {
          $0.passing = .upTo(threads: $1)
        },
        .init("last", "the last searching thread wakes one other") { strategy, _ in strategy.passing = .lastSearcher },
      ],
      read: {
        switch $0.passing {
        case .lastSearcher: "last"
        case .upTo(let threads): "upto:\(threads)"
        }
      }),
    Decision(
      name: "sleeper", summary: "which of the sleeping threads is woken",
      choices: Sleeper.choices { $0.sleeper = $1 }, read: { $0.sleeper.text }),
    Decision(
      name: "searchers", summary: "how many threads may search at the same time",
      choices: [
        .init("half", "half of the workers, rounded up") { strategy, _ in strategy.searchers = .half },
        .init("one", "one") { strategy, _ in strategy.searchers = .one },
        .init("all", "all") { strategy, _ in strategy.searchers = .all },
        .init("adaptive", "one more after a search that found a job, one less after one that found none") {
          strategy, _ in strategy.searchers = .adaptive
        },
      ],
      read: {
        switch $0.searchers {
        case .half: "half"
        case .one: "one"
        case .all: "all"
        case .adaptive: "adaptive"
        }
      }),
    Decision(
      name: "search", summary: "how long a thread without a job looks for one before it sleeps",
      choices: Search.choices { $0.search = $1 }, read: { $0.search.text }),
    Decision(
      name: "waiting", summary: "what a thread does that waits for an operation inside of another one",
      choices: Waiting.choices { $0.waiting = $1 }, read: { $0.waiting.text }),
    Decision(
      name: "forks", summary: "when a fork of a join becomes visible to other threads",
      choices: Forks.choices { $0.forks = $1 }, read: { $0.forks.text }),
  ]
}

extension ThreadPoolStrategy: PoolStrategy {
  /// All decisions, with the words for them.
  package static let decisions: [Decision<ThreadPoolStrategy>] = [
    Decision(
      name: "order", summary: "which of the queued jobs goes first",
      choices: [
        .init("priority", "the most urgent, and the oldest among equals") { strategy, _ in strategy.order = .priority },
        .init("fifo", "the oldest", givesUp: [20]) { strategy, _ in strategy.order = .fifo },
        .init("lifo", "the newest; under work that feeds itself an older one may wait for ever", givesUp: [20]) {
          strategy, _ in strategy.order = .lifo
        },
      ],
      read: {
        switch $0.order {
        case .priority: "priority"
        case .fifo: "fifo"
        case .lifo: "lifo"
        }
      }),
    Decision(
      name: "locks", summary: "what guards the queued jobs",
      choices: [
        .init("one", "one lock, which guards the counts of threads too") { strategy, _ in strategy.locks = .one },
        .init("perlevel", "a lock for each level") { strategy, _ in strategy.locks = .perLevel },
      ],
      read: { $0.locks == .one ? "one" : "perlevel" }),
    Decision(
      name: "successor", summary: "what happens to an operation that the end of another one made ready",
      choices: StealingStrategy.Successor.choices { $0.successor = $1 }, read: { $0.successor.text }),
    .runLength(set: { $0.runLength = $1 }, read: { $0.runLength }),
    Decision(
      name: "waking", summary: "how many sleeping threads are woken when jobs come in",
      choices: [
        .init("perjob", "one for each job") { strategy, _ in strategy.waking = .onePerJob },
        .init("passed", "one; a thread that takes a job while others are left wakes the next") { strategy, _ in
          strategy.waking = .passedOn
        },
        .init("all", "as many as there are free places") { strategy, _ in strategy.waking = .all },
      ],
      read: {
        switch $0.waking {
        case .onePerJob: "perjob"
        case .passedOn: "passed"
        case .all: "all"
        }
      }),
    Decision(
      name: "sleeper", summary: "which of the sleeping threads is woken",
      choices: StealingStrategy.Sleeper.choices { $0.sleeper = $1 }, read: { $0.sleeper.text }),
    Decision(
      name: "search", summary: "how long a thread without a job looks for one before it sleeps",
      choices: StealingStrategy.Search.choices { $0.search = $1 }, read: { $0.search.text }),
    Decision(
      name: "waiting", summary: "what a thread does that waits for an operation inside of another one",
      choices: StealingStrategy.Waiting.choices { $0.waiting = $1 }, read: { $0.waiting.text }),
    Decision(
      name: "forks", summary: "when a fork of a join becomes visible to other threads",
      choices: StealingStrategy.Forks.choices { $0.forks = $1 }, read: { $0.forks.text }),
  ]
}

// The decisions and choices that both pools have.

extension Decision {
  fileprivate static func runLength(
    set: @escaping @Sendable (inout Strategy, Int) -> Void, read: @escaping @Sendable (Strategy) -> Int
  ) -> Self {
    Decision(
      name: "run", summary: "how many operations a thread runs in a row, each the successor of the one before",
      choices: [.init("N", "N operations", range: 1...1_000_000, tried: [1, 8, 62], set)], read: { "\(read($0))" })
  }
}

extension StealingStrategy.Waiting {
  fileprivate static func choices<Strategy>(
    _ set: @escaping @Sendable (inout Strategy, Self) -> Void
  ) -> [Decision<Strategy>.Choice] {
    [
      .init("yields", "another thread takes the place of the waiting one") { strategy, _ in
        set(&strategy, .givesPlace)
      },
      .init("helps", "the thread runs the awaited operation, or one on which that one depends", givesUp: [28]) {
        strategy, _ in set(&strategy, .helps)
      },
    ]
  }

  fileprivate var text: String { self == .helps ? "helps" : "yields" }
}

extension StealingStrategy.Forks {
  fileprivate static func choices<Strategy>(
    _ set: @escaping @Sendable (inout Strategy, Self) -> Void
  ) -> [Decision<Strategy>.Choice] {
    [
      .init("idle", "as many as threads have nothing to do, and at least one") { strategy, _ in set(&strategy, .idle) },
      .init("upto:N", "at most N at a time", range: 1...8, tried: [1, 2, 4, 8]) { set(&$0, .upTo(count: $1)) },
      .init("request", "as many as threads have nothing to do") { strategy, _ in set(&strategy, .onRequest) },
    ]
  }

  fileprivate var text: String {
    switch self {
    case .idle: "idle"
    case .upTo(let count): "upto:\(count)"
    case .onRequest: "request"
    }
  }
}

extension StealingStrategy.Successor {
  fileprivate static func choices<Strategy>(
    _ set: @escaping @Sendable (inout Strategy, Self) -> Void
  ) -> [Decision<Strategy>.Choice] {
    [
      .init("runs", "the same thread runs it at once") { strategy, _ in set(&strategy, .runs) },
      .init("queued", "it is queued, and nobody is woken at once") { strategy, _ in set(&strategy, .queued) },
      .init("wakes", "it is queued, and a sleeping thread is woken") { strategy, _ in set(&strategy, .queuedAndWakes) },
    ]
  }

  fileprivate var text: String {
    switch self {
    case .runs: "runs"
    case .queued: "queued"
    case .queuedAndWakes: "wakes"
    }
  }
}

extension StealingStrategy.Sleeper {
  fileprivate static func choices<Strategy>(
    _ set: @escaping @Sendable (inout Strategy, Self) -> Void
  ) -> [Decision<Strategy>.Choice] {
    [
      .init("last", "the one that fell asleep last") { strategy, _ in set(&strategy, .lastAsleep) },
      .init("first", "the one that has slept longest") { strategy, _ in set(&strategy, .firstAsleep) },
    ]
  }

  fileprivate var text: String { self == .lastAsleep ? "last" : "first" }
}

extension StealingStrategy.Search {
  fileprivate static func choices<Strategy>(
    _ set: @escaping @Sendable (inout Strategy, Self) -> Void
  ) -> [Decision<Strategy>.Choice] {
    [
      .init("patient", "5 microseconds, and 50 now and then as long as that helps") { strategy, _ in
        set(&strategy, .patient)
      },
      .init("every:N", "5 microseconds, and 50 at every Nth search", range: 1...1_000, tried: [1]) {
        set(&$0, .long(every: $1))
      },
      .init("us:N", "N microseconds", range: 0...10_000, tried: [0, 50]) { set(&$0, .microseconds($1)) },
      .init("yield:N", "N microseconds, and others may have the CPU between two looks", range: 0...10_000, tried: [5]) {
        set(&$0, .yielding(microseconds: $1))
      },
    ]
  }

  fileprivate var text: String {
    switch self {
    case .patient: "patient"
    case .long(let every): "every:\(every)"
    case .microseconds(let count): "us:\(count)"
    case .yielding(let microseconds): "yield:\(microseconds)"
    }
  }
}
