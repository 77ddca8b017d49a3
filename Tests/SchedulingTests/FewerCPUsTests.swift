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
    init(_ count: Int) { self.count = Atomic(count) }
    func number(of most: Int) -> WorkerNumber {
      WorkerNumber(nil, affinity: most, interval: 0) { self.count.load(ordering: .relaxed) }
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

  /// The number of bodies that run at once, and the most there were.
  private final class Running: Sendable {
    private let now = Atomic<Int>(0)
    let most = Atomic<Int>(0)
    func body() {
      let count = now.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
      most.max(count, ordering: .sequentiallyConsistent)
      // Long enough for another thread to come in between.
      useCPU()
      now.wrappingSubtract(1, ordering: .sequentiallyConsistent)
    }
  }

  /// Keeps the pool busy until it has this number of workers.
  private func wait(for workers: Int, _ backend: any Backend, _ queue: OperationQueue) throws {
    try inTime("\(backend.name) to have \(workers) workers") {
      while backend.workerCount != workers {
        queue.addOperations((0..<100).map { _ in BlockOperation { useCPU() } }, waitUntilFinished: true)
      }
    }
  }

  @Test(arguments: makers.indices)
  func fewerThreadsRunJobsWhileCPUsAreTaken(maker: Int) throws {
    let cpus = CPUs(3)
    let backend = Self.makers[maker].make(cpus.number(of: 4))
    #expect(backend.workerCount == 3)
    let queue = OperationQueue(backend: backend)
    for (taken, given) in [(1, 4), (2, 3)] {
      cpus.count.store(taken, ordering: .relaxed)
      try wait(for: taken, backend, queue)
      // The jobs that a worker has of its own are taken by others. The first rounds may meet workers that have not seen
      // the new number yet.
      try inTime("rounds with \(taken) jobs at a time, on \(backend.name)") {
        while case let running = Running(), true {
          queue.addOperations(
            (0..<8).map { _ in
              BlockOperation { for _ in 0..<100 { queue.addOperation { running.body() } } }
            }, waitUntilFinished: true)
          queue.waitUntilAllOperationsAreFinished()
          if running.most.load(ordering: .relaxed) <= taken { return }
        }
      }
      cpus.count.store(given, ordering: .relaxed)
      try wait(for: given, backend, queue)
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

/// Uses a CPU for some ten microseconds.
private func useCPU() {
  var sum = 0
  for number in 0..<2_000 { sum &+= number }
  precondition(sum > 0)
}
