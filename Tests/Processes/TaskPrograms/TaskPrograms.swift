import Dispatch
import Glibc
import Operations
import Primitives
import Synchronization

/// Programs of tasks and actors that say the same on any default executor. Each prints what it sees, and nothing that
/// depends on the order of threads or on time.
enum TaskPrograms {
  typealias Program = @Sendable () async throws -> Void

  static let all: [String: Program] = structure.merging(actors) { first, _ in first }
    .merging(sleeps) { first, _ in first }.merging(surroundings) { first, _ in first }

  private struct Failure: Error {}

  /// A number that several tasks add to.
  final class Tally: Sendable {
    private let sum = Atomic<Int>(0)
    var value: Int { sum.load(ordering: .relaxed) }
    @discardableResult func add(_ number: Int = 1) -> Int { sum.add(number, ordering: .relaxed).newValue }
  }

  actor Counter {
    private(set) var count = 0
    private(set) var log: [String] = []
    func add() { count += 1 }
    func add(_ word: String) { log.append(word) }
    func addTwice(_ word: String) async {
      log.append("\(word) begins")
      await Task.yield()
      log.append("\(word) ends")
    }
  }

  @globalActor actor Clerk {
    static let shared = Clerk()
  }

  @Clerk static var orders: [Int] = []
  @MainActor static var shown = 0
  @TaskLocal static var number = 0

  // MARK: - Tasks and their children

  private static let structure: [String: Program] = [
    "group-sum": {
      let sum = await withTaskGroup(of: Int.self) { group in
        for index in 1...1_000 { group.addTask { index } }
        return await group.reduce(0, +)
      }
      print(sum)
    },
    "group-error": {
      do {
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { try await Task.sleep(for: .seconds(3_600)) }
          group.addTask { throw Failure() }
          for try await _ in group {}
        }
      } catch { print(type(of: error)) }
    },
    "group-discarding": {
      let count = Tally()
      await withDiscardingTaskGroup { group in
        for _ in 0..<10_000 { group.addTask { count.add() } }
      }
      print(count.value)
    },
    "group-discarding-error": {
      do {
        try await withThrowingDiscardingTaskGroup { group in
          for _ in 0..<100 { group.addTask { try await Task.sleep(for: .seconds(3_600)) } }
          group.addTask { throw Failure() }
        }
      } catch { print(type(of: error)) }
    },
    "group-nested": {
      func leaves(_ depth: Int) async -> Int {
        if depth == 0 { return 1 }
        return await withTaskGroup(of: Int.self) { group in
          for _ in 0..<4 { group.addTask { await leaves(depth - 1) } }
          return await group.reduce(0, +)
        }
      }
      print(await leaves(6))
    },
    "group-cancelled": {
      let ended = await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<1_000 { group.addTask { (try? await Task.sleep(for: .seconds(3_600))) == nil } }
        group.cancelAll()
        return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
      }
      print(ended)
    },
    "async-let": {
      func fib(_ n: Int) async -> Int {
        if n < 2 { return n }
        async let first = fib(n - 1)
        async let second = fib(n - 2)
        return await first + second
      }
      print(await fib(16))
    },
    "async-let-unused": {
      let ended = Tally()
      func leave() async {
        async let sleeper: Void? = {
          defer { ended.add() }
          return try? await Task.sleep(for: .seconds(3_600))
        }()
        if ended.value > 0 { _ = await sleeper }
      }
      await leave()
      print(ended.value == 1)
    },
    "async-let-throws": {
      func fails() async throws -> Int { throw Failure() }
      do {
        async let value = fails()
        print(try await value)
      } catch { print(type(of: error)) }
    },
    "detached": { print(await Task.detached { 6 * 7 }.value) },
    "many-awaiters": {
      let gate = AsyncStream<Void>.makeStream()
      let task = Task {
        for await _ in gate.stream {}
        return 7
      }
      let sum = await withTaskGroup(of: Int.self) { group in
        for _ in 0..<100 { group.addTask { await task.value } }
        gate.continuation.finish()
        return await group.reduce(0, +)
      }
      print(sum)
    },
    "chain-of-tasks": {
      var last = Task { 0 }
      for _ in 0..<10_000 {
        let before = last
        last = Task { await before.value + 1 }
      }
      print(await last.value)
    },
    "a-million": {
      let count = Tally()
      for _ in 0..<10 {
        await withDiscardingTaskGroup { group in
          for _ in 0..<100_000 { group.addTask { count.add() } }
        }
      }
      print(count.value)
    },
    "yields": {
      await withDiscardingTaskGroup { group in
        for _ in 0..<4 { group.addTask { for _ in 0..<2_000 { await Task.yield() } } }
      }
      print("all have yielded")
    },
    "task-locals": {
      let seen = await $number.withValue(7) {
        async let child = number
        let group = await withTaskGroup(of: Int.self) { group in
          group.addTask { number }
          return await group.next() ?? 0
        }
        let unstructured = await Task { number }.value
        let detached = await Task.detached { number }.value
        try? await Task.sleep(for: .milliseconds(1))
        return [await child, group, unstructured, detached, number]
      }
      print(seen, number)
    },
    "immediate": {
      var log: [String] = []
      let counter = Counter()
      log.append("before")
      let task = Task.immediate {
        print("inside")
        await counter.add("child")
      }
      print("behind")
      await task.value
      print(log, await counter.log)
    },
    "priorities": {
      // A task that awaits another one raises its priority. So these tasks say theirs by a stream.
      let (values, continuation) = AsyncStream<TaskPriority>.makeStream()
      var next = values.makeAsyncIterator()
      for priority in [TaskPriority.background, .utility, .medium, .userInitiated] {
        Task.detached(priority: priority) { continuation.yield(Task.currentPriority) }
        print(await next.next()?.rawValue ?? 0)
        Task.detached(priority: priority) { Task { continuation.yield(Task.currentPriority) } }
        print(await next.next()?.rawValue ?? 0)
      }
    },
    "escalation": {
      let (raises, continuation) = AsyncStream<UInt8>.makeStream()
      let gate = AsyncStream<Void>.makeStream()
      let begun = AsyncStream<Void>.makeStream()
      let task = Task.detached(priority: .background) {
        await withTaskPriorityEscalationHandler {
          begun.continuation.finish()
          for await _ in gate.stream {}
          print("now", Task.currentPriority.rawValue)
        } onPriorityEscalated: { _, new in
          continuation.yield(new.rawValue)
        }
      }
      for await _ in begun.stream {}
      task.escalatePriority(to: .high)
      var raise = raises.makeAsyncIterator()
      print("raised to", await raise.next() ?? 0)
      gate.continuation.finish()
      await task.value
    },
    "cancellation-handler": {
      let gate = AsyncStream<Void>.makeStream()
      let task = Task {
        await withTaskCancellationHandler {
          for await _ in gate.stream {}
          print("cancelled:", Task.isCancelled)
        } onCancel: {
          gate.continuation.finish()
        }
      }
      task.cancel()
      await task.value
      do { try await Task { try Task.checkCancellation() }.value } catch { print("not here") }
    },
    "names": {
      let name = await Task.detached(name: "reader") { Task.name }.value
      print(name ?? "none")
    },
  ]

  // MARK: - Actors

  private static let actors: [String: Program] = [
    "actor-alone": {
      let counter = Counter()
      await withDiscardingTaskGroup { group in
        for _ in 0..<8 { group.addTask { for _ in 0..<1_000 { await counter.add() } } }
      }
      print(await counter.count)
    },
    "actor-to-actor": {
      actor Caller {
        let other = Counter()
        func call(_ count: Int) async -> Int {
          for _ in 0..<count { await other.add() }
          return await other.count
        }
      }
      print(await Caller().call(10_000))
    },
    "actor-isolation": {
      let counter = Counter()
      await counter.check()
      await MainActor.run {
        MainActor.assertIsolated()
        MainActor.assumeIsolated { shown += 1 }
      }
      print(await counter.count, await MainActor.run { shown })
    },
    "actor-priorities": {
      // `Task.immediate` runs the task up to its first suspension: its call waits for the actor then.
      let counter = Counter()
      let tasks = await counter.whileBusy {
        [TaskPriority.background, .userInitiated, .utility].map { priority in
          Task.immediate(priority: priority) { await counter.add("\(priority.rawValue)") }
        }
      }
      for task in tasks { await task.value }
      print(await counter.log)
    },
    "actor-reentrancy": {
      let counter = Counter()
      let gate = AsyncStream<Void>.makeStream()
      async let first: Void = counter.waitInside(gate.stream)
      while await counter.log.isEmpty { await Task.yield() }
      await counter.add("another call")
      gate.continuation.finish()
      await first
      print(await counter.log)
    },
    "actor-isolated-deinit": {
      @MainActor final class Shown {
        isolated deinit {
          MainActor.assertIsolated()
          shown += 10
        }
      }
      await Task.detached { _ = Shown() }.value
      while await MainActor.run(body: { shown }) < 10 { await Task.yield() }
      print(await MainActor.run { shown })
    },
    "actor-parameter": {
      func add(to counter: isolated Counter) { for _ in 0..<5 { counter.add() } }
      let counter = Counter()
      await add(to: counter)
      print(await counter.count)
    },
    "actor-inherited": {
      let counter = Counter()
      print(await counter.countInATask())
    },
    "global-actor": {
      await withDiscardingTaskGroup { group in
        for index in 0..<100 { group.addTask { @Clerk in orders.append(index) } }
      }
      print(await Task { @Clerk in orders.count }.value)
    },
    "main-actor": {
      for _ in 0..<1_000 {
        await MainActor.run {
          MainActor.assertIsolated()
          shown += 1
        }
      }
      print(await MainActor.run { shown })
    },
    "main-actor-from-many": {
      await withDiscardingTaskGroup { group in
        for _ in 0..<500 { group.addTask { await MainActor.run { shown += 1 } } }
      }
      print(await MainActor.run { shown })
    },
    "custom-executor": {
      actor Account {
        let executor = ThreadPoolBackend.shared.serialExecutor()
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
        var balance = 0
        func pay() {
          preconditionIsolated()
          balance += 1
        }
      }
      let account = Account()
      await withDiscardingTaskGroup { group in
        for _ in 0..<1_000 { group.addTask { await account.pay() } }
      }
      print(await account.balance)
    },
    "preference-and-back": {
      let executor = ThreadPoolBackend.shared.taskExecutor
      let inside = await withTaskExecutorPreference(executor) { await Task.detached { 1 }.value + 1 }
      let global = await withTaskExecutorPreference(globalConcurrentExecutor) { 3 }
      print(inside, global)
    },
    "concurrent-function": {
      @concurrent func elsewhere() async -> Bool { #isolation == nil }
      nonisolated(nonsending) func here() async -> Bool { #isolation === MainActor.shared }
      print(await Task { @MainActor in (await elsewhere(), await here()) }.value)
    },
  ]

  // MARK: - Sleeps

  /// Prints whether a sleep was long enough.
  private static func timed(_ what: String, _ least: Duration, _ body: () async throws -> Void) async rethrows {
    let start = ContinuousClock.now
    try await body()
    print(what, ContinuousClock.now - start >= least)
  }

  private struct HalfSpeedClock: Clock {
    typealias Instant = ContinuousClock.Instant
    var now: Instant { .now }
    var minimumResolution: Duration { .zero }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
      try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
  }

  private static let sleeps: [String: Program] = [
    "sleep": {
      let time = Duration.milliseconds(5)
      try await timed("nanoseconds", time) { try await Task.sleep(nanoseconds: 5_000_000) }
      try await timed("for", time) { try await Task.sleep(for: time) }
      try await timed("tolerance", time) { try await Task.sleep(for: time, tolerance: .milliseconds(50)) }
      try await timed("continuous", time) { try await Task.sleep(until: .now + time, clock: .continuous) }
      try await timed("suspending", time) { try await Task.sleep(until: .now + time, clock: .suspending) }
      try await timed("a clock of mine", time) { try await Task.sleep(for: time, clock: HalfSpeedClock()) }
    },
    "sleep-in-the-past": {
      try await Task.sleep(until: .now - .seconds(10), clock: .continuous)
      try await Task.sleep(until: .now - .seconds(10), clock: .suspending)
      try await Task.sleep(nanoseconds: 0)
      print("no sleep")
    },
    "sleep-cancelled": {
      let task = Task { try await Task.sleep(for: .seconds(3_600)) }
      let other = Task { try await Task.sleep(nanoseconds: .max) }
      task.cancel()
      other.cancel()
      for task in [task, other] {
        do { try await task.value } catch { print(type(of: error)) }
      }
    },
    "sleep-forever": {
      let task = Task { try await Task.sleep(for: .seconds(Int64.max / 2)) }
      try await Task.sleep(for: .milliseconds(5))
      task.cancel()
      print(await task.result)
    },
    "sleep-ten-thousand": {
      let ended = Tally()
      await withDiscardingTaskGroup { group in
        for index in 0..<10_000 {
          group.addTask {
            try? await Task.sleep(for: .microseconds(index))
            ended.add()
          }
        }
      }
      print(ended.value)
    },
    "sleep-race": {
      let winner = await withTaskGroup(of: String.self) { group in
        group.addTask { (try? await Task.sleep(for: .seconds(3_600))) == nil ? "cancelled" : "slow" }
        group.addTask { (try? await Task.sleep(for: .milliseconds(2))) == nil ? "cancelled" : "quick" }
        let first = await group.next() ?? ""
        group.cancelAll()
        return first + ", " + (await group.next() ?? "")
      }
      print(winner)
    },
  ]

  // MARK: - Threads, operations and the process around

  private static let surroundings: [String: Program] = [
    "continuation-from-a-thread": {
      let value = await withCheckedContinuation { continuation in startThread { continuation.resume(returning: 7) } }
      print(value)
    },
    "continuation-from-dispatch": {
      do {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
          DispatchQueue.global().async { continuation.resume(throwing: Failure()) }
        }
      } catch { print(type(of: error)) }
    },
    "continuation-at-once": { print(await withCheckedContinuation { $0.resume(returning: 1) }) },
    "stream-from-a-thread": {
      let stream = AsyncStream<Int> { continuation in
        startThread {
          for index in 0..<1_000 { continuation.yield(index) }
          continuation.finish()
        }
      }
      print(await stream.reduce(0, +))
    },
    "stream-cancelled": {
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      continuation.onTermination = { print($0) }
      let task = Task {
        for await _ in stream {}
        print("the loop has ended")
      }
      task.cancel()
      await task.value
      withExtendedLifetime(continuation) {}
    },
    "stream-error": {
      let stream = AsyncThrowingStream<Int, any Error> { continuation in
        continuation.yield(1)
        continuation.finish(throwing: Failure())
      }
      do { for try await element in stream { print(element) } } catch { print(type(of: error)) }
    },
    "stream-unfolding": {
      let next = Mutex(0)
      let stream = AsyncStream<Int> {
        next.withLock {
          $0 += 1
          return $0 <= 100 ? $0 : nil
        }
      }
      print(await stream.reduce(0, +))
    },
    "operations": {
      let queue = OperationQueue(maxConcurrentOperationCount: 4)
      let operations = (1...100).map { index in
        queue.addTask { () async -> Int in
          await Task.yield()
          return index
        }
      }
      var sum = 0
      for operation in operations { sum += try await operation.value }
      print(sum)
    },
    "forks": {
      func sum() -> Int {
        let sum = Tally()
        concurrentPerform(iterations: 1_000) { sum.add($0) }
        return sum.value
      }
      print(await Task.detached { sum() }.value)
    },
    "a-child-process": {
      typealias Fork = @convention(c) () -> pid_t
      let child = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)()
      if child == 0 { _exit(3) }
      var status: Int32 = 0
      while waitpid(child, &status, 0) == -1 && errno == EINTR {}
      print(status >> 8, await Task.detached { 4 }.value)
    },
    "ends-in-the-middle": {
      await withDiscardingTaskGroup { group in
        for index in 0..<1_000 {
          group.addTask {
            if index == 500 { exit(7) }
            try? await Task.sleep(for: .seconds(3_600))
          }
        }
      }
    },
  ]

  private static func startThread(_ body: @escaping @Sendable () -> Void) {
    if !PlatformThread.start(name: "foreign", body) { print("no thread") }
  }
}

extension TaskPrograms.Counter {
  func check() {
    assertIsolated()
    preconditionIsolated()
    assumeIsolated { $0.add() }
  }

  /// No other call of the actor comes in between.
  func whileBusy(_ body: @Sendable () -> [Task<Void, Never>]) -> [Task<Void, Never>] { body() }

  func waitInside(_ gate: AsyncStream<Void>) async {
    log.append("inside")
    for await _ in gate {}
    log.append("goes on")
  }

  func countInATask() async -> Int {
    await Task {
      // The task has the actor's isolation: no await.
      add()
      return count
    }.value
  }
}
