import Scheduling
import Testing

/// The decisions of the pools: pure functions, without threads.
struct DecisionTests {
  @Test func whichOfItsOwnJobsAWorkerTakes() {
    typealias End = StealingStrategy.OwnEnd
    for turn in 1...20 as ClosedRange<UInt32> {
      #expect(!End.fifo.takesNewest(turn: turn) && End.lifo.takesNewest(turn: turn))
      #expect(End.lifoWithTurn(every: 4).takesNewest(turn: turn) == (turn % 4 != 0))
    }
  }

  @Test func howManyJobsAThiefTakes() {
    typealias Amount = StealingStrategy.StealAmount
    for available in 1...300 {
      #expect(Amount.one.count(of: available) == 1)
      #expect(Amount.half.count(of: available) == min((available + 1) / 2, 128))
      #expect(Amount.upTo(8).count(of: available) == min(8, available))
    }
    // Another thread may have emptied the deque after the look.
    for amount in [Amount.one, .half, .upTo(8)] { #expect(amount.count(of: 0) == 1) }
  }

  /// The first visits of a thief, by what the thief remembers.
  func visits(
    _ victim: StealingStrategy.Victim, thief: Int = 1, count: Int = 4, lengths: [Int] = [0, 0, 0, 0],
    random: [Int] = [2]
  ) -> [Int] {
    var memory = 0
    var drawn = 0
    return (0..<5).map { _ in
      victim.first(
        thief: thief, count: count, memory: &memory,
        random: { bound in
          defer { drawn += 1 }
          return random[drawn % random.count] % bound
        }, length: { lengths[$0] })
    }
  }

  @Test func whomAThiefRobsFirst() {
    #expect(visits(.random, random: [2, 0, 3]) == [2, 0, 3, 2, 0])
    #expect(visits(.roundRobin) == [1, 2, 3, 0, 1])
    #expect(visits(.neighbour) == [2, 2, 2, 2, 2] && visits(.neighbour, thief: 3) == [0, 0, 0, 0, 0])
    // Of two random ones the longer; the thief's own jobs do not count.
    #expect(visits(.longest(of: 2), lengths: [5, 9, 7, 6], random: [0, 2]) == [2, 2, 2, 2, 2])
    #expect(visits(.longest(of: 2), lengths: [5, 9, 7, 6], random: [1, 3]) == [3, 3, 3, 3, 3])
    #expect(visits(.near(group: 2), random: [2, 0, 3]) == [2, 0, 3, 2, 0])
    var memory = 0
    let last = StealingStrategy.Victim.lastSuccess
    last.succeeded(at: 3, memory: &memory)
    #expect(last.first(thief: 1, count: 4, memory: &memory, random: { _ in 0 }, length: { _ in 0 }) == 3)
    // The worker that was robbed has a number that there is no more.
    #expect(last.first(thief: 0, count: 2, memory: &memory, random: { _ in 0 }, length: { _ in 0 }) == 1)
    for victim in [StealingStrategy.Victim.random, .roundRobin, .neighbour, .longest(of: 2), .near(group: 8)] {
      var other = 7
      victim.succeeded(at: 2, memory: &other)
      #expect(other == 7)
    }
  }

  /// The workers of the thief's group come first. A group of one, and a group of all, are none.
  @Test func whoseGroupIsRobbedFirst() {
    let near = StealingStrategy.Victim.near(group: 4)
    #expect((0..<4).allSatisfy { near.neighbours(of: $0, count: 11) == 0..<4 })
    #expect(near.neighbours(of: 6, count: 11) == 4..<8 && near.neighbours(of: 10, count: 11) == 8..<11)
    #expect(near.neighbours(of: 8, count: 9) == nil && near.neighbours(of: 2, count: 4) == nil)
    for other in [StealingStrategy.Victim.random, .roundRobin, .lastSuccess, .neighbour, .longest(of: 2)] {
      #expect(other.neighbours(of: 1, count: 64) == nil)
    }
  }

  /// A round visits each worker once, from the first on, and begins again at the lowest.
  @Test func aRoundVisitsEachWorkerOfItsGroup() {
    for (first, base, count, expected) in [(2, 0, 4, [2, 3, 0, 1]), (10, 8, 4, [10, 11, 8, 9]), (5, 5, 1, [5])] {
      var round = ThiefRound(first: first, base: base, count: count)
      var visits: [Int] = []
      while let next = round.next {
        visits.append(next)
        round.visited += 1
      }
      #expect(visits == expected)
    }
  }

  /// Nobody while few places are free, and no more searching threads than jobs.
  @Test func howFarASearchIsPassedOn() {
    typealias Passing = StealingStrategy.Passing
    for (places, threads) in [(-1, 0), (0, 0), (3, 0), (4, 3), (12, 3), (900, 3)] {
      #expect(Passing.upTo(threads: 3).threads(places: places) == threads)
      #expect(Passing.lastSearcher.threads(places: places) == 0)
    }
    #expect(Passing.upTo(threads: 9).threads(places: 5) == 5)
    let cases = [
      (9, 0, 9, 2), (9, 5, 9, 2), (1, 0, 9, 1), (6, 5, 9, 1), (5, 5, 9, 0), (9, 0, 4, 2), (9, 0, 3, 0), (0, 0, 9, 0),
    ]
    for (jobs, searching, places, expected) in cases {
      let pool = CountingPool(jobs: jobs, searching: searching, places: places, passing: .upTo(threads: 2))
      pool.passSearchOn(searching: searching, places: places)
      #expect(pool.activated == expected, "\(jobs) jobs, \(searching) search, \(places) places")
    }
    let last = CountingPool(jobs: 9, searching: 0, places: 9, passing: .lastSearcher)
    last.passSearchOn(searching: 0, places: 9)
    #expect(last.activated == 0)
  }

  @Test func howManyThreadsSearch() {
    typealias Waking = StealingStrategy.Waking
    let expected: [(Waking, [Int: Int])] = [
      (.oneSearcher, [1: 1, 7: 1, 8: 2, 16: 3, 24: 4, 1_000: 4]), (.onlyOne, [1: 1, 8: 1, 1_000: 1]),
      (.every(jobs: 1), [1: 1, 2: 2, 6: 6, 1_000: 6]), (.every(jobs: 3), [1: 1, 3: 1, 4: 2, 9: 3, 1_000: 6]),
      (.all, [1: 6, 100: 6]), (.share(sleeping: 8), [1: 1, 7: 1, 8: 2, 1_000: 4]),
    ]
    for (waking, counts) in expected {
      for (jobs, searchers) in counts {
        #expect(waking.searchersWanted(jobs: jobs, workers: 6, sleeping: 0) == searchers)
      }
    }
    for (sleeping, searchers) in [(0, 1), (7, 1), (8, 2), (255, 32)] {
      #expect(Waking.share(sleeping: 8).searchersWanted(jobs: 1, workers: 256, sleeping: sleeping) == searchers)
    }
    typealias Searchers = StealingStrategy.Searchers
    for searching in 0...8 {
      #expect(Searchers.half.allows(searching: searching, workers: 8) == (searching < 4))
      #expect(Searchers.one.allows(searching: searching, workers: 8) == (searching == 0))
      #expect(Searchers.all.allows(searching: searching, workers: 8))
    }
    // The number of an adaptive pool follows the searches.
    for searching in 0...8 {
      #expect(Searchers.adaptive.allows(searching: searching, workers: 8, adapted: 3) == (searching < 3))
    }
    var adapted = 1
    for _ in 1...10 { adapted = Searchers.adapted(adapted, found: true, workers: 4) }
    #expect(adapted == 4)
    for _ in 1...10 { adapted = Searchers.adapted(adapted, found: false, workers: 4) }
    #expect(adapted == 1)
    #expect(Searchers.adaptive.allows(searching: 0, workers: 1, adapted: 0))
    // One always may.
    for searchers in [Searchers.half, .one, .all, .adaptive] { #expect(searchers.allows(searching: 0, workers: 1)) }
  }

  @Test func whichForksBecomeVisible() {
    typealias Forks = StealingStrategy.Forks
    for idle in 0...20 {
      #expect(Forks.idle.wanted(idle: idle) == max(1, idle))
      #expect(Forks.upTo(count: 3).wanted(idle: idle) == 3)
      #expect(Forks.onRequest.wanted(idle: idle) == idle)
      #expect(Forks.idle.interval(idle: idle) == (idle > 0 ? 0 : 4))
      #expect(Forks.upTo(count: 3).interval(idle: idle) == 0)
      #expect(Forks.onRequest.interval(idle: idle) == 0)
    }
  }

  @Test func whereAJobFromOutsideGoes() {
    typealias Place = StealingStrategy.OutsidePlace
    func lists(_ place: Place, random: [Int] = [0], lengths: [Int] = [0, 0, 0, 0]) -> [Int] {
      var drawn = 0
      return (0..<5).map { turn in
        place.list(
          of: 4, turn: turn,
          random: { bound in
            defer { drawn += 1 }
            return random[drawn % random.count] % bound
          }, length: { lengths[$0] })
      }
    }
    #expect(lists(.injector) == [0, 0, 0, 0, 0])
    #expect(lists(.roundRobin) == [0, 1, 2, 3, 0])
    #expect(lists(.leastLoaded(of: 1), random: [3, 1]) == [3, 1, 3, 1, 3])
    #expect(lists(.leastLoaded(of: 2), random: [0, 2], lengths: [5, 9, 4, 6]) == [2, 2, 2, 2, 2])
    #expect(lists(.leastLoaded(of: 2), random: [1, 3], lengths: [5, 6, 4, 6]) == [1, 1, 1, 1, 1])
  }

  @Test func whichListOfAMultiQueueIsTakenFrom() {
    typealias Priorities = StealingStrategy.Priorities
    #expect(Priorities.takesFirst((level: 3, jobs: 1), (level: 2, jobs: 9)))
    #expect(!Priorities.takesFirst((level: -1, jobs: 0), (level: 0, jobs: 1)))
    #expect(Priorities.takesFirst((level: 2, jobs: 5), (level: 2, jobs: 4)))
    #expect(!Priorities.takesFirst((level: 2, jobs: 4), (level: 2, jobs: 5)))
    #expect(Priorities.multiQueue(listsPerWorker: 4).listsPerWorker == 4)
    #expect(Priorities.stickyMultiQueue(jobs: 8).listsPerWorker == 2)
    #expect(Priorities.stickyMultiQueue(jobs: 8).stickiness == 8 && Priorities.strict.stickiness == 1)
    for other in [Priorities.perWorker, .strict, .ignored] { #expect(other.listsPerWorker == 0) }
  }

  @Test func howLongASearchTakes() {
    typealias Search = StealingStrategy.Search
    #expect(Search.patient.times == (5_000, 50_000, nil, false))
    #expect(Search.long(every: 3).times == (5_000, 50_000, 3, false))
    #expect(Search.microseconds(7).times == (7_000, 0, 0, false))
    #expect(Search.yielding(microseconds: 0).times == (0, 0, 0, true))
  }

  @Test func howManyThreadsOfAThreadPoolAreWoken() {
    typealias Waking = ThreadPoolStrategy.Waking
    for (jobs, places) in [(1, 4), (3, 2), (5, 0), (1, -1)] {
      #expect(Waking.onePerJob.count(jobs: jobs, places: places) == jobs)
      #expect(Waking.passedOn.count(jobs: jobs, places: places) == 1)
      #expect(Waking.all.count(jobs: jobs, places: places) == max(jobs, places))
    }
  }
}
