import CPlatform
import Dispatch
import Glibc
import OperationBackends
import Primitives
import Synchronization

/// Programs that never go on, and what a dump must say of each: who is to blame.
enum StuckPrograms {
  struct Program: Sendable {
    /// Parts of one dump.
    let expected: [String]
    /// A part that this dump must not have.
    let refused: String?
    let start: @Sendable () -> Void
  }

  static let all: [String: Program] = tasks.merging(threads) { first, _ in first }
    .merging(operations) { first, _ in first }

  private static func program(
    _ expected: String..., refused: String? = nil, start: @escaping @Sendable () -> Void
  ) -> Program { Program(expected: expected, refused: refused, start: start) }

  /// Starts the program, and asks for dumps until one has all parts.
  static func run(_ program: Program) {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0, dup2(ends[1], STDERR_FILENO) >= 0 else { exit(1) }
    program.start()
    var dump = ""
    for _ in 0..<200 {
      kill(getpid(), SIGUSR1)
      dump = read(ends[0])
      if program.expected.allSatisfy({ contains(dump, $0) }), !(program.refused.map { contains(dump, $0) } ?? false) {
        print(dump)
        exit(0)
      }
    }
    print("not one of 200 dumps has all of \(program.expected); the last one:\n\(dump)")
    exit(1)
  }

  /// What comes until nothing more does.
  private static func read(_ descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, bytes.isEmpty ? 1_000 : 100) > 0 else { return String(decoding: bytes, as: UTF8.self) }
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      bytes += buffer.prefix(max(0, count))
    }
  }

  /// - Parameter part: "first … second" means both, in this order, in one line.
  private static func contains(_ text: String, _ part: String) -> Bool {
    text.split(separator: "\n").contains { line in
      var rest = line
      for word in part.split(separator: " … ") {
        guard let place = rest.firstRange(of: word) else { return false }
        rest = rest[place.upperBound...]
      }
      return true
    }
  }

  // MARK: - What holds tasks up

  private static let kept = Mutex<[UnsafeContinuation<Void, Never>]>([])

  private static func waitsForNobody() async {
    await withUnsafeContinuation { continuation in kept.withLock { $0.append(continuation) } }
  }

  private static func block() { DispatchSemaphore(value: 0).wait() }

  private actor Till {
    /// - Parameter next: makes what waits for this actor, once it is held.
    func hold(_ next: @Sendable () -> Void) {
      next()
      block()
    }
    func pay() {}
    func asks(_ other: Till) async { await other.thinks() }
    func thinks() async { await waitsForNobody() }
  }

  private actor Ledger {
    let executor = ThreadPoolBackend.shared.serialExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    func hold(_ next: @Sendable () -> Void) {
      next()
      block()
    }
    func write() {}
  }

  /// Two tasks that know each other.
  private static let pair = Mutex<[Task<Void, Never>]>([])

  private static func awaitsTheOther(_ index: Int) async {
    while pair.withLock({ $0.count }) < 2 { await Task.yield() }
    let other = pair.withLock { $0[1 - index] }
    await other.value
  }

  private static let stream = AsyncStream<Int>.makeStream()

  private static let tasks: [String: Program] = [
    "continuation": program(
      "\"reader\", priority medium … has waited for somebody to resume its continuation", "waitsForNobody()"
    ) { Task.detached(name: "reader") { await waitsForNobody() } },
    "task": program("\"second\" … has awaited task", "\"first\" … its continuation") {
      let first = Task.detached(name: "first") { await waitsForNobody() }
      Task.detached(name: "second") { await first.value }
    },
    "circle": program("which awaits it, in a circle,", "awaitsTheOther(") {
      for index in 0..<2 {
        let task = Task.detached { await awaitsTheOther(index) }
        pair.withLock { $0.append(task) }
      }
    },
    "child-of-group": program(
      "\"parent\" … has awaited its child tasks", "\"child\", a child of task … its continuation"
    ) {
      Task.detached(name: "parent") {
        await withTaskGroup { group in group.addTask(name: "child") { await waitsForNobody() } }
      }
    },
    "async-let": program("\"parent\" … has awaited task", "a child of task … its continuation", "waitsForNobody()") {
      Task.detached(name: "parent") {
        async let child: Void = waitsForNobody()
        await child
      }
    },
    "stream": program("(extension in TaskPrograms)", "readsToTheEnd()", "has waited for somebody to resume") {
      Task.detached { await stream.stream.readsToTheEnd() }
    },
    "sleep": program("\"sleeper\" … has slept", "\"clock\" … has slept") {
      Task.detached(name: "sleeper") { try await Task.sleep(for: .seconds(100_000)) }
      Task.detached(name: "clock") { try await ContinuousClock().sleep(until: .now + .seconds(100_000)) }
    },
    "cancelled": program("\"deaf\", priority low, cancelled", "waitsForNobody()") {
      Task.detached(name: "deaf", priority: .utility) { await waitsForNobody() }.cancel()
    },
    "actor-that-awaits": program("thinks()", "for ", "asks(") {
      let (first, second) = (Till(), Till())
      Task.detached { await first.asks(second) }
    },
    "many": program("101 tasks", "and 100 other tasks at the same place") {
      for _ in 0..<101 { Task.detached { await waitsForNobody() } }
    },
    "preference": program("\"guest\"", "waitsForNobody()") {
      _ = Task(name: "guest", executorPreference: ThreadPoolBackend.shared.taskExecutor) { await waitsForNobody() }
    },
  ]

  // MARK: - What holds threads up

  private static let left = FutexLock()
  private static let right = FutexLock()
  private static let isOver = Atomic<Bool>(false)

  private static func computes() { while !isOver.load(ordering: .relaxed) {} }

  private static let threads: [String: Program] = [
    "actor-held": program(
      "\"holder\" … has run on thread", "\"customer\" … has waited for its turn on the actor <Till 0x",
      "blocks (kernel:"
    ) {
      let till = Till()
      Task.detached(name: "holder") {
        await till.hold { Task.detached(name: "customer") { await till.pay() } }
      }
    },
    "serial-executor-held": program("\"clerk\" … has waited for its turn on the executor <BackendSerialExecutor 0x") {
      let ledger = Ledger()
      Task.detached { await ledger.hold { Task.detached(name: "clerk") { await ledger.write() } } }
    },
    "main-actor": program("\"painter\" … has waited for its turn on the main actor") {
      Task.detached(name: "painter") { await MainActor.run {} }
    },
    "semaphore": program("\"blocker\" … has run on thread", "1 blocked in their bodies", "blocks (kernel:") {
      Task.detached(name: "blocker") { block() }
    },
    "locks": program("\"left\" … has run on thread", "\"right\" … has run on thread", "2 blocked in their bodies") {
      Task.detached(name: "left") { takesBoth(left, right) }
      Task.detached(name: "right") { takesBoth(right, left) }
    },
    "computes": program("\"busy\" … has run on thread", "1 computing") { Task.detached(name: "busy") { computes() } },
    "no-thread": program("\"third\" … has waited for a thread", "has run on thread") {
      // More than there are workers: a page fault looks like blocking for a moment, and another thread begins.
      for _ in 0..<32 { Task.detached { computes() } }
      Task.detached(name: "third") {}
    },
  ]

  private static let met = Atomic<Int>(0)

  private static func takesBoth(_ first: borrowing FutexLock, _ second: borrowing FutexLock) {
    first.withLock {
      met.wrappingAdd(1, ordering: .relaxed)
      while met.load(ordering: .relaxed) < 2 {}
      second.withLock {}
    }
  }

  // MARK: - What holds operations up

  /// Lives as long as the process.
  private static let queue = OperationQueue(maxConcurrentOperationCount: 1)

  private static let operations: [String: Program] = [
    "suspended-queue": program("\"waiter\" … has awaited < … \"upload\">: ready in", "its queue is suspended") {
      queue.isSuspended = true
      let upload = BlockOperation {}
      upload.name = "upload"
      queue.addOperation(upload)
      Task.detached(name: "waiter") { await upload.finished() }
    },
    "suspended-body": program("its queue is suspended", refused: "has waited for a thread") {
      queue.isSuspended = true
      queue.addTask {}
    },
    "dependency": program("\"forgotten\">: in no queue, and not started", "\"upload\">: waits for dependencies") {
      let (forgotten, upload) = (BlockOperation {}, BlockOperation {})
      (forgotten.name, upload.name) = ("forgotten", "upload")
      upload.addDependency(forgotten)
      queue.addOperation(upload)
      Task.detached { await upload.finished() }
    },
    "body": program("ends when its body returns", "as task", "waitsForNobody()") {
      queue.addTask { await waitsForNobody() }
    },
    "limit": program("its queue's limit is 1, and held by:", "as task", "\"upload\">: ready in", "waitsForNobody()") {
      queue.addTask { await waitsForNobody() }
      let upload = BlockOperation {}
      upload.name = "upload"
      queue.addOperation(upload)
      Task.detached { await upload.finished() }
    },
    "drained": program("\"closer\" … has awaited < … \"hangs\">: executing") {
      let hangs = BlockOperation { block() }
      hangs.name = "hangs"
      queue.addOperation(hangs)
      Task.detached(name: "closer") { await queue.drained() }
    },
    "asynchronous-operation": program("\"unfinished\">: executing", "ends when finish() is called") {
      let unfinished = AsynchronousOperation { _ in }
      unfinished.name = "unfinished"
      queue.addOperation(unfinished)
      Task.detached { await unfinished.finished() }
    },
  ]
}

/// A function of the program's on a type of the system.
extension AsyncStream {
  fileprivate func readsToTheEnd() async { for await _ in self {} }
}
