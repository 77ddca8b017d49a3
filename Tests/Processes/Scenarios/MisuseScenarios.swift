import DeterministicOperations
import Dispatch
import Glibc
import OperationBackends
import TestSupport

/// Each misuses the API in one way; the operation at fault is named "culprit".
enum MisuseScenarios {
  static let all: [String: @Sendable () -> Void] = [
    "negative-iterations": { inCulprit { concurrentPerform(iterations: -3) { _ in } } },
    "chunks-without-elements": {
      inCulprit {
        var numbers = [1, 2]
        numbers.concurrentForEachChunk(ofCount: 0) { _, _ in }
      }
    },
    "split-outside": {
      inCulprit {
        var numbers = [1, 2]
        var span = numbers.mutableSpan
        span.join(splittingAt: 3) { _ in
        } _: { _ in
        }
      }
    },
    "spawn-after-the-end": {
      inCulprit {
        let scope = withForkScope { $0 }
        scope.spawn {}
      }
    },
    "graph-node-of-another": {
      inCulprit {
        var node: GraphNode<Int>?
        _ = OperationGraph { graph in node = graph.add { 2 } }
        _ = OperationGraph { graph in if let node { graph.add(node) { $0 } } }
      }
    },
    "graph-with-a-cost-below-0": {
      inCulprit { _ = OperationGraph { graph in graph.add(name: "load", cost: -1) {} } }
    },
    "graph-in-order-in-its-own-node": {
      let graph = Monitor<OperationGraph<Void>?>(nil)
      let made = OperationGraph(overlapping: .inOrder) { $0.add { try graph.value?.run() } }
      graph.with { $0 = made }
      inCulprit { try? made.run() }
    },
    "graph-waits-for-its-operation": {
      let box = Monitor<Operation?>(nil)
      let graph = OperationGraph { $0.add { box.value?.waitUntilFinished() } }
      let operation = graph.operation(name: "culprit")
      box.with { $0 = operation }
      newQueue().addOperation(operation)
      operation.waitUntilFinished()
    },
    "start-while-executing": {
      let operation = running()
      operation.start()
    },
    "start-while-executing-in-a-queue": {
      let queue = newQueue()
      let operation = running(in: queue)
      operation.start()
    },
    "start-while-executing-asynchronously": {
      let operation = named(AsynchronousOperation { _ in })
      operation.start()
      operation.start()
    },
    "start-from-inside-main": {
      let box = Monitor<Operation?>(nil)
      let operation = named(BlockOperation { box.value?.start() })
      box.with { $0 = operation }
      operation.start()
    },
    "start-of-a-queues-operation": {
      let queue = newQueue()
      queue.isSuspended = true
      let operation = named(BlockOperation {})
      queue.addOperation(operation)
      operation.start()
    },
    "start-not-ready": {
      let operation = named(BlockOperation {})
      operation.addDependency(Operation())
      operation.start()
    },
    "start-not-ready-overridden": {
      final class Unready: Operation, @unchecked Sendable { override var isReady: Bool { false } }
      named(Unready()).start()
    },
    "add-twice": {
      let queue = suspendedQueue()
      let operation = named(BlockOperation {})
      queue.addOperation(operation)
      queue.addOperation(operation)
    },
    "add-to-two-queues": {
      let operation = named(BlockOperation {})
      suspendedQueue().addOperation(operation)
      OperationQueue(backend: .threadPool).addOperation(operation)
    },
    "add-finished": {
      let operation = named(BlockOperation {})
      operation.start()
      newQueue().addOperation(operation)
    },
    "add-finished-again": {
      let queue = newQueue()
      let operation = named(BlockOperation {})
      queue.addOperation(operation)
      operation.waitUntilFinished()
      queue.addOperation(operation)
    },
    "add-executing": {
      newQueue().addOperation(running())
    },
    "add-executing-asynchronously": {
      let operation = named(AsynchronousOperation { _ in })
      operation.start()
      newQueue().addOperation(operation)
    },
    "depend-on-itself": {
      let operation = named(BlockOperation {})
      operation.addDependency(operation)
    },
    "depend-on-itself-among-others": {
      let operation = named(BlockOperation {})
      operation.addDependencies([Operation(), operation])
    },
    "add-block-after-finish": {
      let operation = named(BlockOperation {})
      operation.start()
      operation.addExecutionBlock {}
    },
    "add-block-while-executing": {
      let box = Monitor<BlockOperation?>(nil)
      let operation = named(BlockOperation { box.value?.addExecutionBlock {} })
      box.with { $0 = operation }
      newQueue().addOperation(operation)
      operation.waitUntilFinished()
    },
    "negative-limit": {
      let queue = newQueue()
      queue.name = "culprit"
      queue.maxConcurrentOperationCount = -2
    },
    "negative-limit-when-made": {
      _ = OperationQueue(backend: newQueue().backend, name: "culprit", maxConcurrentOperationCount: -2)
    },
    "map-with-limit-0": {
      let queue = newQueue()
      queue.name = "culprit"
      Task { try await [1].concurrentMap(in: queue, limit: 0) { $0 } }
      sleep(60)
    },
    "negative-limit-below": {
      let queue = newQueue()
      queue.name = "culprit"
      queue.limits[below: .normal] = -2
    },
    "limit-below-the-lowest": {
      let queue = newQueue()
      queue.name = "culprit"
      queue.limits[below: .veryLow] = 1
    },
    "underlying-queue-while-busy": {
      let queue = suspendedQueue()
      queue.name = "culprit"
      queue.addOperation {}
      queue.underlyingQueue = DispatchQueue.global()
    },
    "finish-twice": {
      let operation = named(AsynchronousOperation { _ in })
      operation.start()
      operation.finish()
      operation.finish()
    },
    "finish-twice-in-a-queue": {
      let operation = named(AsynchronousOperation { $0.finish() })
      newQueue().addOperation(operation)
      operation.waitUntilFinished()
      operation.finish()
    },
    "batch-same-operation-twice": {
      let operation = named(BlockOperation {})
      suspendedQueue().addOperations([Operation(), operation, Operation(), operation], waitUntilFinished: false)
    },
    "batch-with-finished-operation": {
      let operation = named(BlockOperation {})
      operation.start()
      newQueue().addOperations([Operation(), operation], waitUntilFinished: false)
    },
    "batch-with-enqueued-operation": {
      let operation = named(BlockOperation {})
      suspendedQueue().addOperation(operation)
      newQueue().addOperations([operation, Operation()], waitUntilFinished: false)
    },
    "batch-with-executing-operation": {
      newQueue().addOperations([running(), Operation()], waitUntilFinished: false)
    },
    "wait-for-itself": {
      let box = Monitor<Operation?>(nil)
      let operation = named(BlockOperation { box.value?.waitUntilFinished() })
      box.with { $0 = operation }
      newQueue().addOperation(operation)
      sleepForGood()
    },
    "wait-for-itself-started-by-hand": {
      let box = Monitor<Operation?>(nil)
      let operation = named(BlockOperation { box.value?.waitUntilFinished() })
      box.with { $0 = operation }
      operation.start()
    },
    "wait-for-the-own-queue": {
      let queue = newQueue()
      queue.name = "culprit"
      queue.addOperation { queue.waitUntilAllOperationsAreFinished() }
      sleepForGood()
    },
    "await-itself": {
      let box = Monitor<Operation?>(nil)
      let operation = TaskOperation { _ = await box.value?.finished() }
      operation.name = "culprit"
      box.with { $0 = operation }
      newQueue().addOperation(operation)
      sleepForGood()
    },
    "await-the-own-queue": {
      let queue = newQueue()
      queue.name = "culprit"
      queue.addTask { _ = await queue.drained() }
      sleepForGood()
    },
    "await-who-awaits": {
      let (queue, box) = (newQueue(), Monitor<Operation?>(nil))
      let first = queue.addTask {
        while box.value == nil { await Task.yield() }
        await box.value?.finished()
      }
      first.name = "culprit"
      box.with { $0 = queue.addTask(name: "other") { await first.finished() } }
      sleepForGood()
    },
    "wait-for-a-dependent": {
      let queue = newQueue()
      let (started, box) = (Gate(), Monitor<Operation?>(nil))
      let operation = named(
        BlockOperation {
          started.open()
          _ = box.wait { $0 != nil }
          box.value?.waitUntilFinished()
        })
      let dependent = BlockOperation {}
      dependent.name = "other"
      dependent.addDependency(operation)
      box.with { $0 = dependent }
      queue.addOperations([dependent, operation], waitUntilFinished: false)
      sleepForGood()
    },
    "barrier-in-the-own-queue": {
      let queue = newQueue()
      queue.name = "culprit"
      queue.addTask { try await queue.barrier {} }
      sleepForGood()
    },
    "submit-after-fork-stealing": { submitAfterFork(.stealing) },
    "submit-after-fork-threadpool": { submitAfterFork(.threadPool) },
    "submit-after-fork-dispatch": { submitAfterFork(.dispatch) },
    "submit-after-fork-deterministic": { submitAfterFork(.deterministic(seed: 1)) },
    "wait-in-own-observer": {
      let operation = named(BlockOperation {})
      let token = operation.observe(\.isExecuting, options: [.new]) { operation, change in
        if change.newValue == true { operation.waitUntilFinished() }
      }
      OperationQueue().addOperation(operation)
      sleepForGood()
      token.invalidate()
    },
    "no-workers-stealing": { _ = StealingBackend(workers: 0) },
    "no-workers-threadpool": { _ = ThreadPoolBackend(workers: 0) },
    "no-workers-dispatch": { _ = DispatchBackend(workers: 0) },
    "too-many-workers-stealing": { _ = StealingBackend(workers: .max) },
    "too-many-workers-threadpool": { _ = ThreadPoolBackend(workers: .max) },
    "too-many-workers-dispatch": { _ = DispatchBackend(workers: .max) },
    "negative-fairness-stealing": { _ = StealingBackend(fairnessInterval: -1) },
    "negative-fairness-threadpool": { _ = ThreadPoolBackend(fairnessInterval: -1) },
    "negative-fairness-dispatch": { _ = DispatchBackend(fairnessInterval: -1) },
    "join-waits-for-itself": {
      let box = Monitor<Operation?>(nil)
      let begun = Gate()
      let operation = named(
        BlockOperation {
          join(
            { begun.pass() },
            {
              begun.open()
              box.value?.waitUntilFinished()
            })
        })
      box.with { $0 = operation }
      newQueue().addOperation(operation)
      sleepForGood()
    },
    "join-waits-for-the-own-queue": {
      let queue = newQueue()
      queue.name = "culprit"
      let begun = Gate()
      queue.addOperation {
        join(
          { begun.pass() },
          {
            begun.open()
            queue.waitUntilAllOperationsAreFinished()
          })
      }
      sleepForGood()
    },
    "join-after-shutdown-stealing": {
      let backend = StealingBackend(workers: 2)
      backend.shutdown()
      backend.run { join({}, {}) }
    },
    "join-after-shutdown-threadpool": {
      let backend = ThreadPoolBackend(workers: 2)
      backend.shutdown()
      backend.run { join({}, {}) }
    },
    "join-after-shutdown-deterministic": {
      let backend = DeterministicBackend(workers: 2, seed: 1)
      backend.shutdown()
      backend.run { join({}, {}) }
    },
    "join-after-fork-stealing": { joinAfterFork(.stealing) },
    "join-after-fork-threadpool": { joinAfterFork(.threadPool) },
    "join-after-fork-dispatch": { joinAfterFork(.dispatch) },
    "join-after-fork-deterministic": { joinAfterFork(.deterministic(seed: 1)) },
    "join-after-fork-in-an-operation-stealing": { joinAfterForkInAnOperation(.stealing) },
    "join-after-fork-in-an-operation-threadpool": { joinAfterForkInAnOperation(.threadPool) },
    "join-after-fork-in-an-operation-dispatch": { joinAfterForkInAnOperation(.dispatch) },
    "early-finish": { earlyFinish() },
    "threads-that-end": { threadsThatEnd() },
    "shutdown-after-waiting-stealing": {
      shutDownAfterWaiting({ StealingBackend(workers: 2) }, shutdown: { $0.shutdown() })
    },
    "shutdown-after-waiting-threadpool": {
      shutDownAfterWaiting({ ThreadPoolBackend(workers: 2) }, shutdown: { $0.shutdown() })
    },
  ]

  private static func named<Named: Operation>(_ operation: Named) -> Named {
    operation.name = "culprit"
    return operation
  }

  /// An operation that executes, started by hand on another thread or by the queue.
  private static func running(in queue: OperationQueue? = nil) -> Operation {
    let operation = named(GatedOperation())
    if let queue { queue.addOperation(operation) } else { startThread { operation.start() } }
    operation.started.pass()
    return operation
  }

  /// A queue on the backend that the environment names; without a name, on the default one.
  private static func newQueue() -> OperationQueue {
    guard let wanted = getenv("SCENARIO_BACKEND").map({ String(cString: $0) }) else { return OperationQueue() }
    guard let backend = allBackends.first(where: { $0.name == wanted }) else { exit(64) }
    return OperationQueue(backend: backend.leftRunning())
  }

  /// Runs the body inside an operation of a queue.
  private static func inCulprit(_ body: @escaping @Sendable () -> Void) {
    let queue = newQueue()
    queue.addOperation(named(BlockOperation(block: body)))
    queue.waitUntilAllOperationsAreFinished()
  }

  private static func suspendedQueue() -> OperationQueue {
    let queue = newQueue()
    queue.isSuspended = true
    return queue
  }

  /// The trap comes on another thread.
  private static func sleepForGood() { while true { sleep(1) } }

  /// `fork` is hidden from Swift because little works after it; what does not must say so.
  ///
  /// A child inherits every lock as it was, those of the Swift runtime included: another thread may have held one at
  /// that instant, and the child then stands still before it reaches the pool. That is not what is tested: it is tried
  /// again.
  private static func submitAfterFork(_ backend: some Backend) {
    let queue = OperationQueue(backend: backend)
    queue.name = "culprit"
    let before = named(BlockOperation {})
    queue.addOperation(before)
    before.waitUntilFinished()
    inAChild {
      let operation = named(BlockOperation {})
      queue.addOperation(operation)
      operation.waitUntilFinished()
    }
  }

  private static func joinAfterFork(_ backend: some Backend) {
    backend.run { join({}, {}) }
    inAChild { backend.run { join({}, {}) } }
  }

  /// The child's only thread believes that it is a worker.
  private static func joinAfterForkInAnOperation(_ backend: some Backend) {
    let queue = OperationQueue(backend: backend)
    queue.addOperation { inAChild { join({}, {}) } }
    queue.waitUntilAllOperationsAreFinished()
  }

  /// Dies the way a forked child dies that runs the body.
  private static func inAChild(_ body: () -> Void) {
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(dlsym(nil, "fork")!, to: Fork.self)
    var status: Int32 = 0
    for _ in 0..<5 {
      let child = fork()
      if child == 0 {
        alarm(5)
        body()
        exit(0)
      }
      waitpid(child, &status, 0)
      if status & 0x7F != SIGALRM { break }
    }
    if status & 0x7F != 0 { kill(getpid(), status & 0x7F) }
  }

  /// Keeps jobs until the thread that wants to run them does.
  private final class Collector: Backend {
    let name = "collector"
    let workerCount = 1
    private let jobs = Monitor<[Job]>([])

    func submit(_ job: Job) { jobs.with { $0.append(job) } }

    func runAll() {
      for job in jobs.with({ exchange(&$0, with: []) }) { _ = job.run() }
    }
  }

  /// A thread that ran operations and ends leaves none of them behind. Resident memory tells: nobody else uses any
  /// here.
  private static func threadsThatEnd() {
    let backend = Collector()
    let queue = OperationQueue(backend: backend)
    func run(threads: Int) {
      for _ in 0..<threads {
        let done = Gate()
        startThread {
          // Fewer than the thread keeps together, so nothing makes it part with them before its end.
          for _ in 0..<20 { queue.addOperation {} }
          backend.runAll()
          done.open()
        }
        done.pass()
      }
    }
    run(threads: 100)
    let before = residentPages()
    run(threads: 4_000)
    let grown = (residentPages() - before) * Int(getpagesize())
    // 4,000 threads with 20 operations of 128 bytes each would be 10 MB.
    if grown > 4_000_000 {
      print("\(grown) bytes more are resident")
      exit(1)
    }
  }

  private static func residentPages() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, 128, file) != nil else { return 0 }
    let fields = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init), as: UTF8.self).split(separator: " ")
    return Int(fields[1]) ?? 0
  }

  /// Who has waited for all operations may shut the pool down, although completion blocks may still be on their way.
  private static func shutDownAfterWaiting<Pool: Backend>(_ make: () -> Pool, shutdown: (Pool) -> Void) {
    let completions = Counter()
    for _ in 0..<500 {
      let pool = make()
      let queue = OperationQueue(backend: pool)
      for _ in 0..<4 {
        let operation = AsynchronousOperation { operation in startThread { operation.finish() } }
        operation.completionBlock = { completions.increment() }
        queue.addOperation(operation)
      }
      queue.waitUntilAllOperationsAreFinished()
      shutdown(pool)
    }
    if (try? completions.wait(for: 2_000, "the completion blocks")) == nil { exit(1) }
  }

  /// Row 34: no trap, but one message that names the operation.
  private static func earlyFinish() {
    let queue = suspendedQueue()
    let early = named(StringKeyedOperation { _ in })
    let dependent = BlockOperation {}
    dependent.addDependency(early)
    queue.addOperations([early, dependent], waitUntilFinished: false)
    early.finish()
    // What was posted is read on another thread: before the queue may start the operation, or it was not early.
    if (try? eventually("the early finish to count") { dependent.isReady }) == nil { exit(1) }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
  }
}
