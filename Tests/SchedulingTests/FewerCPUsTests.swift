import Glibc
import Operations
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import DispatchBackend
@testable import StealingBackend
@testable import ThreadPoolBackend

/// A pool for which no number of workers was chosen, while its CPUs are taken and given back.
struct FewerCPUsTests {
  /// How many CPUs the process may use, as the test says.
  private final class CPUs: Sendable {
    let count: Atomic<Int>
    /// How often a pool has looked.
    private let looks = Atomic<Int>(0)
    init(_ count: Int) { self.count = Atomic(count) }

    func number(of most: Int) -> WorkerNumber {
      // Without the other pools of this process, which run other tests.
      WorkerNumber(
        nil, affinity: most, interval: 0,
        cpus: {
          self.looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
          return self.count.load(ordering: .sequentiallyConsistent)
        }, others: { _ in RunningThreads.Sums(threads: 0, pools: 0) })
    }

    /// Changes the number, and returns when a look that found it is over: the next but one has begun.
    func change(to new: Int, keepingBusy: () -> Void) {
      count.store(new, ordering: .sequentiallyConsistent)
      let seen = looks.load(ordering: .sequentiallyConsistent)
      while looks.load(ordering: .sequentiallyConsistent) < seen + 3 { keepingBusy() }
    }
  }

  private static let makers: [(name: String, make: @Sendable (WorkerNumber) -> any Backend)] = [
    ("stealing", { StealingBackend(workers: $0) }),
    ("stealing(own=lifo)", { StealingBackend(workers: $0, strategy: try! .init("own=lifo")) }),
    ("stealing(priorities=multi:2)", { StealingBackend(workers: $0, strategy: try! .init("priorities=multi:2")) }),
    ("stealing(priorities=strict)", { StealingBackend(workers: $0, strategy: try! .init("priorities=strict")) }),
    ("threadpool", { ThreadPoolBackend(workers: $0) }),
    ("threadpool(locks=perlevel)", { ThreadPoolBackend(workers: $0, strategy: try! .init("locks=perlevel")) }),
    ("dispatch", { DispatchBackend(workers: $0) }),
  ]

  /// The most bodies that ran at once. Each computes until more than `limit` do, but for 20 ms at most.
  private final class Running: Sendable {
    private let now = Atomic<Int>(0)
    private let most = Atomic<Int>(0)
    private let limit: Int
    init(_ limit: Int) { self.limit = limit }

    var isTooMany: Bool { most.load(ordering: .sequentiallyConsistent) > limit }

    func body() {
      most.max(now.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue, ordering: .sequentiallyConsistent)
      let deadline = ContinuousClock.now + .milliseconds(20)
      while !isTooMany, ContinuousClock.now < deadline {}
      now.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Jobs that take all workers for a moment.
  private func addJobs(_ queue: OperationQueue) {
    queue.addOperations((0..<100).map { _ in BlockOperation { useCPU() } }, waitUntilFinished: true)
  }

  @Test(arguments: makers.indices)
  func fewerThreadsRunJobsWhileCPUsAreTaken(maker: Int) throws {
    let cpus = CPUs(3)
    let backend = Self.makers[maker].make(cpus.number(of: 4))
    #expect(backend.workerCount == 3)
    let queue = OperationQueue(backend: backend)
    for (taken, given) in [(1, 4), (2, 3)] {
      try inTime("\(taken) workers of \(backend.name)") { cpus.change(to: taken) { addJobs(queue) } }
      #expect(backend.workerCount == taken)
      // A thread that had its place before the look may run one more job.
      var right = 0
      for _ in 0..<20 where right < 3 {
        let running = Running(taken)
        queue.addOperation { for _ in 0...taken { queue.addOperation { running.body() } } }
        queue.waitUntilAllOperationsAreFinished()
        right = running.isTooMany ? 0 : right + 1
      }
      #expect(right == 3, "more than \(taken) bodies at once, on \(backend.name)")
      try inTime("\(given) workers of \(backend.name)") { cpus.change(to: given) { addJobs(queue) } }
      #expect(backend.workerCount == given)
      // As many bodies as there are workers wait for each other. Dispatch has no more threads than there are CPUs for
      // bodies that compute.
      let atOnce = backend is DispatchBackend ? min(given, CPUCount.available()) : given
      let all = CountdownLatch(atOnce)
      let mayEnd = SpinFlag()
      defer { mayEnd.set() }
      for _ in 0..<atOnce {
        queue.addOperation {
          all.countDown()
          mayEnd.spin()
        }
      }
      try all.wait("\(atOnce) bodies at once, on \(backend.name)")
      mayEnd.set()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// Two workers are busy and have jobs of their own when one CPU is taken. One steps back although it has jobs, and
  /// the other one runs what both had.
  @Test(arguments: makers.indices)
  func oneOfTwoBusyWorkersStepsBack(maker: Int) throws {
    let cpus = CPUs(2)
    let backend = Self.makers[maker].make(cpus.number(of: 2))
    let queue = OperationQueue(backend: backend)
    let ended = Counter()
    let rounds = 3
    for _ in 0..<rounds {
      try inTime("two workers of \(backend.name)") { cpus.change(to: 2) { addJobs(queue) } }
      let begun = CountdownLatch(2)
      let isCut = SharedFlag()
      let mayEnd = SpinFlag()
      defer { mayEnd.set() }
      let running = Running(1)
      for _ in 0..<2 {
        queue.addOperation {
          for _ in 0..<8 {
            queue.addOperation {
              if isCut.value.load(ordering: .sequentiallyConsistent) { running.body() }
              ended.increment()
            }
          }
          begun.countDown()
          mayEnd.spin()
        }
      }
      if !(backend is DispatchBackend) || CPUCount.available() > 1 { try begun.wait("two bodies of \(backend.name)") }
      // A thread that took the place of one which waited for a lock may have run all jobs: the pool looks while there
      // are some.
      try inTime("one worker of \(backend.name)") {
        cpus.change(to: 1) {
          queue.addOperation {}
          usleep(100)
        }
      }
      isCut.value.store(true, ordering: .sequentiallyConsistent)
      mayEnd.set()
      try inTime("the jobs of both workers, on \(backend.name)") { queue.waitUntilAllOperationsAreFinished() }
      #expect(!running.isTooMany, "two bodies at once, on \(backend.name)")
    }
    #expect(ended.value == rounds * 16)
  }

  /// The other pools of the process, as the test says.
  private final class Others: Sendable {
    let threads = Atomic<Int>(0)
    private let looks = Atomic<Int>(0)

    /// For a pool of as many workers as there are CPUs.
    func number(of workers: Int) -> WorkerNumber {
      WorkerNumber(
        nil, affinity: workers, interval: 0, cpus: { workers },
        others: { _ in
          self.looks.wrappingAdd(1, ordering: .sequentiallyConsistent)
          let threads = self.threads.load(ordering: .sequentiallyConsistent)
          return RunningThreads.Sums(threads: threads, pools: threads > 0 ? 1 : 0)
        })
    }

    func waitForLooks(_ count: Int) throws {
      let seen = looks.load(ordering: .sequentiallyConsistent)
      let deadline = ContinuousClock.now + .seconds(patience)
      while looks.load(ordering: .sequentiallyConsistent) < seen + count {
        guard ContinuousClock.now < deadline else {
          throw TimedOut("\(count) looks", seconds: patience, file: #fileID, line: #line)
        }
        usleep(100)
      }
    }
  }

  /// A pool that always has jobs, beside other pools.
  @Test(arguments: makers.indices)
  func aBusyPoolLendsCPUsToOthers(maker: Int) throws {
    let others = Others()
    let backend = Self.makers[maker].make(others.number(of: 4))
    let queue = OperationQueue(backend: backend)
    let isOver = SharedFlag()
    defer { isOver.value.store(true, ordering: .sequentiallyConsistent) }
    let now = Atomic<Int>(0)
    let most = Atomic<Int>(0)
    @Sendable func add() {
      queue.addOperation {
        most.max(now.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue, ordering: .sequentiallyConsistent)
        for _ in 0..<10 { useCPU() }
        now.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        if !isOver.value.load(ordering: .sequentiallyConsistent) { add() }
      }
    }
    for _ in 0..<12 { add() }
    for (threads, left) in [(3, 2), (1, 3), (9, 2)] {
      others.threads.store(threads, ordering: .sequentiallyConsistent)
      // On a busy machine a body may wait for a CPU for so long that the pool lends nothing for a while.
      var right = 0
      for _ in 0..<200 where right < 2 {
        try others.waitForLooks(6)
        most.store(0, ordering: .sequentiallyConsistent)
        try others.waitForLooks(6)
        right = most.load(ordering: .sequentiallyConsistent) <= left ? right + 1 : 0
      }
      #expect(right == 2, "more than \(left) bodies at once beside \(threads) threads of others, on \(backend.name)")
    }
    #expect(backend.workerCount == 4)
    others.threads.store(0, ordering: .sequentiallyConsistent)
    // Dispatch has no more threads than there are CPUs for bodies that compute.
    let all = backend is DispatchBackend ? min(4, CPUCount.available()) : 4
    try inTime("\(all) bodies at once, on \(backend.name)") {
      most.store(0, ordering: .sequentiallyConsistent)
      while most.load(ordering: .sequentiallyConsistent) < all { usleep(100) }
    }
    isOver.value.store(true, ordering: .sequentiallyConsistent)
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Bodies that wait for each other without blocking run at once, whatever other pools do.
  @Test(arguments: makers.indices)
  func bodiesThatComputeForLongGetAllPlaces(maker: Int) throws {
    let others = Others()
    others.threads.store(4, ordering: .sequentiallyConsistent)
    let backend = Self.makers[maker].make(others.number(of: 2))
    let queue = OperationQueue(backend: backend)
    guard !(backend is DispatchBackend) || CPUCount.available() > 1 else { return }
    for _ in 0..<3 {
      let isOver = SharedFlag()
      @Sendable func add() {
        queue.addOperation {
          useCPU()
          if !isOver.value.load(ordering: .sequentiallyConsistent) { add() }
        }
      }
      for _ in 0..<6 { add() }
      // One CPU is lent by now.
      try others.waitForLooks(4)
      let mayEnd = SpinFlag()
      defer { mayEnd.set() }
      let both = CountdownLatch(2)
      for _ in 0..<2 {
        queue.addOperation {
          both.countDown()
          mayEnd.spin()
        }
      }
      // Jobs wait behind the two bodies.
      for _ in 0..<20 { queue.addOperation { useCPU() } }
      isOver.value.store(true, ordering: .sequentiallyConsistent)
      try both.wait("two bodies at once, on \(backend.name)")
      mayEnd.set()
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// Whatever comes and goes, each job runs once: jobs that add jobs, dependencies, forks of guests and of operations,
  /// and bodies that block.
  @Test(arguments: makers.indices)
  func nothingIsLostWhileCPUsComeAndGo(maker: Int) throws {
    let looks = Atomic<Int>(0)
    let number = WorkerNumber(nil, affinity: 4, interval: 0) {
      // Another number at each look.
      [1, 4, 2, 1, 3][looks.wrappingAdd(1, ordering: .relaxed).oldValue % 5]
    }
    let backend = Self.makers[maker].make(number)
    let queue = OperationQueue(backend: backend)
    let ended = Counter()
    try inTime("all jobs, on \(backend.name)") {
      for round in 0..<15 {
        for _ in 0..<6 {
          queue.addOperation {
            for part in 0..<40 {
              let first = BlockOperation { useCPU() }
              let second = BlockOperation { ended.increment() }
              second.addDependency(first)
              queue.addOperations([second, first], waitUntilFinished: false)
              if part % 20 == 0 { first.waitUntilFinished() }
            }
            let (left, right) = join({ 1 }, { join({ 2 }, { 3 }) })
            #expect(left == 1 && right == (2, 3))
            ended.increment()
          }
        }
        // A guest takes a place, too.
        let sum = backend.run { join({ (0..<100).reduce(0, +) }, { round }) }
        #expect(sum == (4_950, round))
      }
      queue.waitUntilAllOperationsAreFinished()
    }
    #expect(ended.value == 15 * 6 * 41)
  }
}

private final class SharedFlag: Sendable {
  let value = Atomic<Bool>(false)
}

/// Uses a CPU for some ten microseconds.
private func useCPU() {
  var sum = 0
  for number in 0..<2_000 { sum &+= number }
  precondition(sum > 0)
}
