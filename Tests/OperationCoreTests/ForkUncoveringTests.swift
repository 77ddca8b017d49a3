import Glibc
import OperationCore
import OperationForks
import OperationJobs
import Operations
import Synchronization
import TestSupport
import Testing

/// Forks that their owner keeps private: an idle thread shows them in the owner's place.
@Suite(.serialized) struct ForkUncoveringTests {
  private static let backends: [TestBackend] = [.stealing, .threadPool, .dispatch]

  /// Makes `depth` forks, and then runs `innermost` with all of them under way.
  @Sendable private static func nest(_ depth: Int, _ fork: @escaping @Sendable () -> Void, _ innermost: () -> Void) {
    if depth == 0 { return innermost() }
    join({ nest(depth - 1, fork, innermost) }, { fork() })
  }

  /// With two workers only the first fork is shown. The body waits in a way that the library does not know until all
  /// forks have run, so that nobody but an idle thread can have shown the others.
  @Test(arguments: backends) func aBodyThatBlocksKeepsNoFork(_ backend: TestBackend) throws {
    try backend.withQueue(workers: 2) { queue in
      for _ in 0..<20 {
        let forks = Monitor(0)
        queue.addOperation {
          Self.nest(5, { forks.with { $0 += 1 } }) { #expect(forks.wait(until: { $0 == 5 })) }
        }
        try queue.drainInTime()
        #expect(forks.value == 5)
      }
    }
  }

  @Test(arguments: backends) func aBodyThatComputesKeepsNoFork(_ backend: TestBackend) throws {
    try backend.withQueue(workers: 2) { queue in
      for _ in 0..<20 {
        let forks = Counter()
        queue.addOperation {
          Self.nest(5, { forks.increment() }) {
            let deadline = ContinuousClock.now + .seconds(patience)
            while forks.value < 5, ContinuousClock.now < deadline {}
          }
          #expect(forks.value == 5)
        }
        try queue.drainInTime()
      }
    }
  }

  /// A thread outside that joins is none of the pool's, and the pool helps it all the same.
  @Test(arguments: backends) func aGuestKeepsNoFork(_ backend: TestBackend) throws {
    try backend.withBackend(workers: 2) { backend in
      let forks = Monitor(0)
      backend.run { join({ Self.nest(5, { forks.with { $0 += 1 } }) { #expect(forks.wait(until: { $0 == 5 })) } }, {}) }
      #expect(forks.value == 5)
    }
  }

  /// The only worker has its place taken by the thread that joins.
  @Test(arguments: backends) func aGuestOfOneWorkerRunsItsForksItself(_ backend: TestBackend) throws {
    try backend.withBackend(workers: 1) { backend in
      let here = pthread_self()
      let elsewhere = Counter()
      for _ in 0..<200 {
        backend.run {
          join(
            { Self.nest(5, { if pthread_equal(pthread_self(), here) == 0 { elsewhere.increment() } }) {} },
            { if pthread_equal(pthread_self(), here) == 0 { elsewhere.increment() } })
        }
      }
      #expect(elsewhere.value == 0)
    }
  }

  /// A join on another backend hides the forks around it, while idle threads show them: each fork runs once.
  @Test(arguments: backends) func aJoinOnAnotherBackendLeavesTheForksAroundIt(_ backend: TestBackend) throws {
    try TestBackend.stealing.withBackend(workers: 2) { other in
      try backend.withQueue(workers: 4) { queue in
        let ran = Counter()
        let scopes = 2_000
        queue.addOperation {
          for _ in 0..<scopes {
            Self.nest(5, { ran.increment() }) {
              other.run { join({ Self.nest(2, { ran.increment() }) {} }, { ran.increment() }) }
            }
          }
        }
        try queue.drainInTime()
        #expect(ran.value == scopes * 8)
      }
    }
  }

  /// A join on another backend begins while a fork is private, and the only other thread becomes free afterwards.
  @Test(arguments: backends) func aJoinOnAnotherBackendKeepsNoFork(_ backend: TestBackend) throws {
    try TestBackend.stealing.withBackend(workers: 2) { other in
      try backend.withQueue(workers: 2) { queue in
        let (inside, forked) = (Gate(), Gate())
        let busy = BlockOperation { #expect(inside.pass()) }
        busy.queuePriority = .veryHigh
        queue.addOperation(busy)
        queue.addOperation {
          join(
            {
              join(
                {
                  other.run {
                    join(
                      {
                        inside.open()
                        #expect(forked.pass())
                      }, {})
                  }
                }, { forked.open() })
            }, {})
        }
        try queue.drainInTime()
      }
    }
  }

  /// Behind a look that found all places taken, the owner makes its next forks without one. A thread gives its place up
  /// meanwhile.
  @Test(arguments: backends) func aForkBehindALookInVainIsNotKept(_ backend: TestBackend) throws {
    try backend.withQueue(workers: 2) { queue in
      for _ in 0..<300 {
        let (mayEnd, ran) = (Counter(), Counter())
        queue.addOperation {
          let deadline = ContinuousClock.now + .seconds(patience)
          while mayEnd.value == 0, ContinuousClock.now < deadline {}
        }
        queue.addOperation {
          join({}, {})
          join(
            {},
            {
              mayEnd.increment()
              let end = ContinuousClock.now + .microseconds(200)
              while ContinuousClock.now < end {}
            })
          join(
            {
              let deadline = ContinuousClock.now + .seconds(patience)
              while ran.value == 0, ContinuousClock.now < deadline {}
              #expect(ran.value == 1)
            }, { ran.increment() })
        }
        try queue.drainInTime()
      }
    }
  }

  /// Owners take forks back while idle threads show them: each fork runs once.
  @Test(arguments: backends) func aForkRunsOnceWhoeverShowsIt(_ backend: TestBackend) throws {
    @Sendable func count(_ depth: Int, _ ran: Counter) -> Int {
      if depth == 0 { return 1 }
      let (left, right) = join(
        { count(depth - 1, ran) },
        {
          ran.increment()
          return count(depth - 1, ran)
        })
      return left + right
    }
    try backend.withQueue(workers: 4) { queue in
      for _ in 0..<200 {
        let ran = Counter()
        queue.addOperation { #expect(count(9, ran) == 512) }
        try queue.drainInTime()
        #expect(ran.value == 511)
      }
    }
  }

  /// A backend of this library that runs nothing, and whose lists outlive it.
  private final class Hoarder: SupervisedBackend, ForkHost {
    let name = "hoarder"
    let workerCount = 2
    let lists: Mutex<[Job]>
    nonisolated(unsafe) private(set) var home: BackendHome!

    init() {
      lists = Mutex([])
      home = BackendHome(self, host: self)
    }

    func submit(_ job: Job) { lists.withLock { $0.append(job) } }
    func whileBlocked(_ body: () -> Void) { body() }
    let lacksThreads = false
    var report: BackendReport { BackendReport() }
    func beginForks() -> Bool { true }
    func countGuest(_ change: Int) {}
    let idlePlaces = 1
    func show(_ ticket: Job, wakes: Bool) -> Bool {
      submit(ticket)
      return true
    }
    func wakeForForks() {}
  }

  /// The lists of a backend may outlive the backend, and then drop its tickets. Another backend at the same address has
  /// got none of them.
  @Test func aBackendAtTheAddressOfAnotherGetsATicketOfItsOwn() {
    var left: [Job] = []
    var addresses: Set<ObjectIdentifier> = []
    var reused = 0
    for _ in 0..<1_000 where reused < 10 {
      let backend = Hoarder()
      backend.run { join({}, {}) }
      if !addresses.insert(ObjectIdentifier(backend)).inserted { reused += 1 }
      let taken = backend.lists.withLock { jobs in
        defer { jobs = [] }
        return jobs
      }
      #expect(taken.count == 1)
      left += taken
    }
    #expect(reused > 0, "no address came again: the test shows nothing")
    for job in left { #expect(job.dropIfVoid()) }
  }
}
