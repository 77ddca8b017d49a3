import DeterministicOperations
import Glibc
import Operations
import TestSupport
import Testing

/// Threads that the seed does not decide still work.
@Suite("Threads outside")
struct OutsideTests {
  @Test("threads add operations and wait at the same time")
  func threads() throws {
    let backend = DeterministicBackend(workers: 3, seed: 1)
    let queue = OperationQueue(backend: backend)
    let ran = Counter()
    try onThreads(4, "four threads") { _ in
      for _ in 0..<100 {
        let operation = BlockOperation { ran.increment() }
        queue.addOperation(operation)
        operation.waitUntilFinished()
      }
    }
    #expect(ran.value == 400)
    backend.shutdown()
  }

  @Test("an operation that a thread outside finishes ends a wait in a test")
  func foreignFinish() throws {
    try inTime("the wait") {
      withDeterministicOperations(seed: 1) { _ in
        let operation = AsynchronousOperation { operation in startThread { operation.finish() } }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
      }
    }
  }

  @Test("bodies that block in something else keep nobody else from running")
  func silent() throws {
    let backend = DeterministicBackend(workers: 2, seed: 1, patience: .milliseconds(1))
    let queue = OperationQueue(backend: backend)
    let together = Rendezvous(10)
    let met = Counter()
    for _ in 0..<10 { queue.addOperation { if together.arrive() { met.increment() } } }
    try queue.drainInTime()
    #expect(met.value == 10)
    backend.shutdown()
  }

  @Test("a body that waits in a loop for another body does not wait for ever")
  func spinning() throws {
    let backend = DeterministicBackend(workers: 2, seed: 1, patience: .milliseconds(1))
    let queue = OperationQueue(backend: backend)
    let (flag, ended) = (SpinFlag(), Counter())
    queue.addOperation {
      flag.spin()
      ended.increment()
    }
    queue.addOperation { flag.set() }
    try queue.drainInTime()
    #expect(ended.value == 1)
    backend.shutdown()
  }

  @Test("a body that computes keeps its worker's place, and one that blocks after computing gives it away")
  func computing() throws {
    let backend = DeterministicBackend(workers: 1, seed: 1, patience: .milliseconds(1))
    let queue = OperationQueue(backend: backend)
    let (release, closed) = (SpinFlag(), Gate())
    let (begun, ran) = (Gate(), Counter())
    queue.addOperation {
      begun.open()
      release.spin()
      closed.pass()
    }
    try begun.wait("the body that computes")
    for _ in 0..<100 { queue.addOperation { ran.increment() } }
    giveOthersAChance()
    giveOthersAChance()
    #expect(ran.value == 0)
    release.set()
    try ran.wait(for: 100, "the bodies beside the one that blocks")
    closed.open()
    try queue.drainInTime()
    backend.shutdown()
  }

  @Test("operations across backends")
  func acrossBackends() throws {
    try inTime("the wait") {
      withDeterministicOperations(seed: 1) { backend in
        let ran = EventLog<String>()
        let (here, there) = (OperationQueue(), OperationQueue(backend: .threadPool))
        let first = BlockOperation { ran.append("deterministic") }
        let second = BlockOperation { ran.append("thread pool") }
        second.addDependency(first)
        there.addOperation(second)
        here.addOperation(first)
        second.waitUntilFinished()
        #expect(ran.events == ["deterministic", "thread pool"])
      }
    }
  }

  @Test("OperationQueue() is on the backend inside, in bodies too, and not outside")
  func defaultBackend() {
    withDeterministicOperations(seed: 1) { backend in
      #expect(OperationQueue().backend === backend)
      let inBody = Monitor(false)
      OperationQueue().addOperations(
        [BlockOperation { inBody.with { $0 = OperationQueue().backend === backend } }], waitUntilFinished: true)
      #expect(inBody.value)
    }
    #expect(OperationQueue().backend === StealingBackend.shared)
  }

  @Test("bodies that do not wait share one thread, and idle threads end")
  func fewThreads() throws {
    let backend = DeterministicBackend(workers: 8, seed: 1)
    let queue = OperationQueue(backend: backend)
    for _ in 0..<10_000 { queue.addOperation {} }
    try queue.drainInTime()
    #expect(backend.statistics.jobs == 10_000)
    #expect(backend.threadsCreated <= 3)
    backend.shutdown()
  }

  @Test("a backend that is released with work pending runs the work")
  func released() throws {
    let ran = Counter()
    do {
      let queue = OperationQueue(backend: DeterministicBackend(seed: 1))
      for _ in 0..<100 { queue.addOperation { ran.increment() } }
    }
    try ran.wait(for: 100, "the operations of a released backend")
  }

  @Test("an inner run may wait for an operation of the outer one")
  func innerRun() throws {
    try inTime("the inner run") {
      withDeterministicOperations(seed: 1) { outer in
        let (log, queue) = (EventLog<String>(), OperationQueue())
        let (first, second) = (BlockOperation { log.append("first") }, BlockOperation { log.append("second") })
        second.addDependency(first)
        queue.addOperations([first, second], waitUntilFinished: false)
        withDeterministicOperations(seed: 2) { inner in
          #expect(OperationQueue().backend === inner)
          second.waitUntilFinished()
          #expect(log.events == ["first", "second"])
          // Nothing waits for the outer run now: it stands still again.
          queue.addOperation { log.append("third") }
          inner.run()
          #expect(log.events == ["first", "second"])
        }
        outer.run()
        #expect(log.events == ["first", "second", "third"])
      }
    }
  }

  @Test("operations may depend on operations of another deterministic backend")
  func twoBackends() throws {
    try inTime("the waits") {
      withDeterministicOperations(seed: 1) { backend in
        let second = DeterministicBackend(seed: 2, runsByItself: false)
        let log = EventLog<Int>()
        let (here, there) = (OperationQueue(), OperationQueue(backend: second))
        // A chain that changes its backend with each link, begun by an operation that a timer of the second one
        // finishes.
        let start = AsynchronousOperation { operation in second.after(.seconds(5)) { operation.finish() } }
        there.addOperation(start)
        var last: Operation = start
        for number in 0..<10 {
          let operation = BlockOperation { log.append(number) }
          operation.addDependency(last)
          (number.isMultiple(of: 2) ? here : there).addOperation(operation)
          last = operation
        }
        last.waitUntilFinished()
        #expect(log.events == Array(0..<10))
        let inside = BlockOperation { log.append(10) }
        let waiting = BlockOperation {
          there.addOperation(inside)
          inside.waitUntilFinished()
        }
        here.addOperations([waiting], waitUntilFinished: true)
        #expect(log.events == Array(0...10))
        second.shutdown()
      }
    }
  }

  @Test("run() waits for a body that was left to itself and computes, not for one that blocks")
  func runWithBodiesAdrift() throws {
    let backend = DeterministicBackend(workers: 2, seed: 1, runsByItself: false, patience: .milliseconds(1))
    let queue = OperationQueue(backend: backend)
    let (closed, ended) = (Gate(), Counter())
    queue.addOperation {
      Self.computeForMilliseconds(100)
      ended.increment()
    }
    try inTime("run()") { backend.run() }
    #expect(ended.value == 1)
    queue.addOperation { closed.pass() }
    try inTime("run()") { backend.run() }
    #expect(queue.operationCount == 1)
    closed.open()
    try queue.drainInTime()
    backend.shutdown()
  }

  /// Ten times the patience of the backend and more, in CPU time.
  private static func computeForMilliseconds(_ time: Int) {
    var (start, now) = (timespec(), timespec())
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
    repeat {
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    } while (now.tv_sec - start.tv_sec) * 1_000
      + (now.tv_nsec - start.tv_nsec) / 1_000_000 < time
  }
}
