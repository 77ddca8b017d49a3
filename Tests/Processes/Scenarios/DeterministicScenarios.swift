import DeterministicOperations
import Glibc
import OperationBackends
import OperationComposition
import TestSupport

/// Runs on the deterministic backend that end a process, or write to standard error.
enum DeterministicScenarios {
  static let all: [String: @Sendable () -> Void] = [
    "deterministic-crash": { forSeeds { crash($0) } },
    "deterministic-seed": { forSeeds { print("seed \($0.seed)") } },
    "deterministic-run-in-job": { inJob { $0.run() } },
    "deterministic-advance-in-job": { inJob { $0.advance(by: .seconds(1)) } },
    "deterministic-shutdown-in-job": { inJob { $0.shutdown() } },
    "deterministic-back": {
      withDeterministicOperations(seed: 1) { backend in
        backend.advance(by: .seconds(2))
        backend.run(until: .init(offset: .seconds(1)))
      }
    },
    "deterministic-negative": { withDeterministicOperations(seed: 1) { $0.work(for: .seconds(-1)) } },
    "deterministic-order": {
      Task { try await withSeededTasks(seed: 1, order: .priorities(changes: -1)) { _ in } }
      while true { pause() }
    },
    "deterministic-no-workers": { _ = DeterministicBackend(workers: 0, seed: 1) },
    "deterministic-as-default": { try? DeterministicBackend(seed: 1).installAsDefaultExecutor() },
    "deterministic-late-job": {
      let backend = DeterministicBackend(seed: 1)
      backend.shutdown()
      backend.submit(Job {})
    },
    "deterministic-late-timer": {
      let backend = DeterministicBackend(seed: 1)
      backend.shutdown()
      backend.after(.seconds(1)) {}
    },
    "deterministic-silent": { silent() },
    "deterministic-standstill": { standstill() },
    "deterministic-throws-waiting": { forSeeds { try failWhileBodiesWait($0) } },
    "deterministic-throws-task": { failInATask() },
    "deterministic-stopped": { stopped() },
    "deterministic-unknown-await": { awaitTheUnknown() },
    "deterministic-known-await": { awaitTheKnown() },
    "deterministic-body-stays": { keepABody() },
    "deterministic-real-bucket": { useRealTime { _ in try await TokenBucket(rate: 1_000).take() } },
    "deterministic-real-delay": { useRealTime { _ in try await Delay(for: .milliseconds(1)).evaluate() } },
    "deterministic-real-deadline": { useRealTime { _ in try await withDeadline(.now + .seconds(9)) {} } },
    "deterministic-real-retry": {
      useRealTime { _ in
        let attempts = Counter()
        try await retry(maxAttempts: 2) {
          if attempts.increment() == 1 { throw Failed() }
        } strategy: { _ in
          .backoff(.milliseconds(1))
        }
      }
    },
    "deterministic-virtual-time": {
      useRealTime { backend in
        try await TokenBucket(rate: 1, clock: backend.clock).take()
        try await withDeadline(backend.clock.now.advanced(by: .seconds(9)), clock: backend.clock) {}
        try await Delay(for: .seconds(60), clock: backend.clock).evaluate()
      }
    },
  ]

  private static func forSeeds(_ body: (DeterministicBackend) throws -> Void) {
    do { try forEachSeed(0..<2_000, body) } catch {
      print("\(error)")
      exit(1)
    }
  }

  /// The last of six operations goes first: one order in some hundreds.
  private static func crash(_ backend: DeterministicBackend) {
    let log = EventLog<Int>()
    let queue = OperationQueue()
    for number in 0..<6 {
      queue.addOperation {
        log.append(number)
        if log.events == [5, 4] { fatalError("the culprit's last words") }
      }
    }
    queue.waitUntilAllOperationsAreFinished()
  }

  private static func inJob(_ body: @escaping @Sendable (DeterministicBackend) -> Void) {
    withDeterministicOperations(seed: 1) { backend in
      OperationQueue().addOperations([BlockOperation { body(backend) }], waitUntilFinished: true)
    }
  }

  /// A body that waits with a semaphore of its own for another body of the one worker.
  private static func silent() {
    withDeterministicOperations(seed: 1, workers: 1) { _ in
      let gate = Gate()
      let queue = OperationQueue()
      queue.addOperation { gate.pass() }
      queue.addOperation { gate.open() }
      queue.waitUntilAllOperationsAreFinished()
    }
  }

  /// The clock stands still, and only its owner could move it.
  private static func standstill() {
    withDeterministicOperations(seed: 1, advancesByItself: false) { backend in
      let operation = AsynchronousOperation { operation in backend.after(.seconds(9)) { operation.finish() } }
      let queue = OperationQueue()
      queue.addOperation(operation)
      startThread {
        sleep(7)
        backend.advance(by: .seconds(9))
      }
      operation.waitUntilFinished()
    }
  }

  private struct Failed: Error, CustomStringConvertible {
    let description = "what went wrong"
  }

  /// The test would have ended what its bodies wait for, and throws before.
  private static func failWhileBodiesWait(_ backend: DeterministicBackend) throws {
    let queue = OperationQueue()
    let (answer, gate, begun) = (AsynchronousOperation { _ in }, Gate(), Counter())
    queue.addOperation(answer)
    // Two wait in the library, one in the backend, and one in a semaphore.
    for _ in 0..<2 {
      queue.addOperation {
        begun.increment()
        answer.waitUntilFinished()
        print("a wait returned")
      }
    }
    queue.addOperation {
      begun.increment()
      backend.waitUntil { false }
    }
    queue.addOperation {
      begun.increment()
      gate.pass()
    }
    backend.waitUntil { begun.value == 4 }
    throw Failed()
  }

  /// Runs the body twice: in a test, and in an operation of a test.
  private static func useRealTime(_ body: @escaping @Sendable (DeterministicBackend) async throws -> Void) {
    inATask {
      try await withDeterministicOperations(seed: 7) { try await body($0) }
      try await withDeterministicOperations(seed: 7) { backend in
        try await OperationQueue().addTask { try await body(backend) }.value
      }
    }
  }

  /// The test awaits a stream that only an operation ends, and a task of its own that sleeps in real time.
  private static func awaitTheUnknown() {
    inATask {
      try await withDeterministicOperations(seed: 7) { backend in
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let queue = OperationQueue()
        queue.addTask {
          try await backend.clock.sleep(for: .seconds(3_600))
          continuation.yield(42)
          continuation.finish()
        }
        for await number in stream { print("got \(number)") }
        // The backend is told again of what it knows.
        print("at \(try await queue.addTask { backend.now }.value)")
        try await Task.sleep(for: .milliseconds(10))
      }
    }
  }

  /// Nobody resumes the body of a test that has to end, also where the body is cancelled.
  private static func keepABody() {
    inATask {
      let backend = DeterministicBackend(
        seed: 9, runsByItself: false, advancesByItself: true, patience: .milliseconds(50))
      try await backend.hostTasks(order: .even, mayLeave: true, ending: .isCancelled, name: "stays() in A.swift:7") {
        _ in
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }
    }
  }

  private actor Account {
    private let executor: BackendSerialExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    private var balance = 0

    init(on backend: any Backend) { executor = backend.serialExecutor() }

    func pay(_ amount: Int, _ clock: DeterministicClock) async throws -> Int {
      try await clock.sleep(for: .seconds(3_600))
      balance += amount
      return balance
    }
  }

  /// Tests on the backend and on the main actor await an actor and a task of the backend's executors, also in an
  /// operation.
  private static func awaitTheKnown() {
    let body: @Sendable (DeterministicBackend) async throws -> Void = { backend in
      let account = Account(on: backend)
      _ = try await account.pay(1, backend.clock)
      _ = try await Task(executorPreference: backend.taskExecutor) { try await account.pay(2, backend.clock) }.value
      let operation = OperationQueue().addTask {
        try await Task(executorPreference: backend.taskExecutor) { try await account.pay(3, backend.clock) }.value
      }
      let balance = try await operation.value
      print("\(balance) at \(backend.now)")
    }
    inATask {
      try await withDeterministicOperations(seed: 7, body)
      try await onTheMainActor(body)
    }
  }

  @MainActor
  private static func onTheMainActor(_ body: @Sendable (DeterministicBackend) async throws -> Void) async throws {
    try await withDeterministicOperations(seed: 7) { backend in
      MainActor.assertIsolated()
      try await body(backend)
    }
  }

  private static func inATask(_ body: @escaping @Sendable () async throws -> Void) {
    Task {
      do {
        try await body()
        exit(0)
      } catch {
        print("\(error)")
        exit(1)
      }
    }
    dispatchMain()
  }

  private static func failInATask() {
    inATask {
      try await withDeterministicOperations(seed: 7) { backend in
        let answer = AsynchronousOperation { _ in }
        let queue = OperationQueue(backend: backend)
        queue.addOperation(answer)
        queue.addOperation { answer.waitUntilFinished() }
        await backend.run()
        throw Failed()
      }
    }
  }

  /// The process stands still for eleven seconds while a body computes, as under a debugger.
  private static func stopped() {
    typealias Fork = @convention(c) () -> pid_t
    let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)
    let process = getpid()
    withDeterministicOperations(seed: 1) { _ in
      OperationQueue().addOperations(
        [
          BlockOperation {
            var (start, now, used) = (timespec(), timespec(), timespec())
            clock_gettime(CLOCK_MONOTONIC, &start)
            let helper = fork()
            if helper == 0 {
              usleep(100_000)
              kill(process, SIGSTOP)
              sleep(11)
              kill(process, SIGCONT)
              _exit(0)
            }
            repeat {
              clock_gettime(CLOCK_MONOTONIC, &now)
              clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used)
            } while now.tv_sec - start.tv_sec < 11 || used.tv_sec < 1
          }
        ], waitUntilFinished: true)
    }
  }
}
