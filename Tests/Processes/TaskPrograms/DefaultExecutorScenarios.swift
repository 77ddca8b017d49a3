import CPlatform
import Dispatch
import Glibc
import OperationBackends
import Primitives
import Synchronization

/// Processes whose default executor is a backend, or Swift's own: nothing that is linked here touches that before.
///
/// `TaskPrograms NAME` runs one; `TaskPrograms` alone lists the names.
@main
enum DefaultExecutorScenarios {
  static func main() {
    guard CommandLine.arguments.count == 2, let scenario = all[CommandLine.arguments[1]] else {
      print(all.keys.sorted().joined(separator: "\n"))
      exit(CommandLine.arguments.count == 1 ? 0 : 64)
    }
    alarm(120)
    scenario()
    exit(0)
  }

  static let executors = ["none", "stealing", "threadpool", "dispatch"]

  static let all: [String: @Sendable () -> Void] = {
    var all: [String: @Sendable () -> Void] = [
      "default-executor-twice": {
        install("stealing")
        install("threadpool")
      },
      "default-executor-from-a-thread": { onThread { install("stealing") } },
      "default-executor-from-a-task": { onDefault { install("stealing") } },
      "default-executor-too-late": {
        let count = TaskPrograms.Tally()
        for _ in 0..<3 { Task.detached { count.add() } }
        install("stealing")
      },
      "default-executor-without-workers": { install(NoWorkers()) },
      "default-executor-shutdown": {
        let backend = StealingBackend(workers: 2)
        install(backend)
        backend.shutdown()
      },
      "default-executor-shutdown-threadpool": {
        let backend = ThreadPoolBackend(workers: 2)
        install(backend)
        backend.shutdown()
      },
      "default-executor-taken": taken,
      "default-executor-without-thread": withoutThread,
      "default-executor-main-returns": {
        install("stealing")
        for _ in 0..<100 { Task { try await Task.sleep(for: .seconds(3_600)) } }
        print("main")
      },
    ]
    for executor in executors {
      for (name, program) in TaskPrograms.all {
        all["tasks-\(name)-\(executor)"] = { run(on: executor, program) }
      }
    }
    for backend in executors where backend != "none" {
      all["default-executor-looks-\(backend)"] = { run(on: backend, looks) }
    }
    for pool in ["stealing", "threadpool"] {
      all["default-executor-threads-\(pool)"] = { run(on: pool, threads) }
      all["default-executor-blocked-\(pool)"] = { run(on: pool, blocked) }
      all["default-executor-waits-\(pool)"] = { run(on: pool, waits) }
      all["default-executor-traced-\(pool)"] = { run(on: pool, traced) }
      for (name, program) in StuckPrograms.all {
        all["stuck-\(name)-\(pool)"] = {
          install(pool)
          StuckPrograms.run(program)
        }
      }
    }
    return all
  }()

  private static func install(_ name: String) {
    switch name {
    case "stealing": install(StealingBackend(workers: 2))
    case "threadpool": install(ThreadPoolBackend(workers: 2))
    case "dispatch": install(DispatchBackend(workers: 2))
    default: break
    }
  }

  private static func install(_ backend: any Backend) {
    do { try backend.installAsDefaultExecutor() } catch { print("not installed: \(error)") }
  }

  private static func run(on executor: String, _ program: @escaping TaskPrograms.Program) {
    install(executor)
    onDefault {
      do { try await program() } catch { print("failed: \(error)") }
    }
  }

  /// Runs a program to its end, beside the main thread.
  private static func onDefault(_ program: @escaping @Sendable () async -> Void) {
    Task.detached {
      await program()
      exit(0)
    }
    dispatchMain()
  }

  private static func onThread(_ body: @escaping @Sendable () -> Void) {
    let end = DispatchSemaphore(value: 0)
    _ = PlatformThread.start(name: "other") {
      body()
      end.signal()
    }
    end.wait()
  }

  private final class NoWorkers: Backend {
    let name = "idle"
    var workerCount: Int { 0 }
    func submit(_ job: Job) { fatalError("it runs nothing") }
  }

  private static func taken() {
    // Nobody sleeps here: the hook is never called.
    let hook = dlsym(nil, "swift_task_enqueueGlobalWithDelay_hook").assumingMemoryBound(to: UInt.self)
    hook.pointee = 1
    install("stealing")
    install("threadpool")
    hook.pointee = 0
    install("threadpool")
    run(on: "none", threads)
  }

  /// No room for the stack of a thread, until the limit is raised again: it is below what the process has.
  private static func withoutThread() {
    let backend = StealingBackend(workers: 2)
    var before = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
    var limit = rlimit(rlim_cur: 1 << 20, rlim_max: before.rlim_max)
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    install(backend)
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
    install(backend)
    run(on: "none", threads)
  }

  // MARK: - Programs

  private actor Place {
    func thread() -> String { here() }
  }

  private static func here() -> String {
    var name = [CChar](repeating: 0, count: 16)
    cplatform_thread_get_name(&name)
    return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Where code runs. A number at the end tells threads of a pool apart, and is left out.
  private static let threads: TaskPrograms.Program = {
    var seen: Set<String> = [here()]
    seen.insert(await Place().thread())
    try await Task.sleep(for: .milliseconds(1))
    seen.insert(here())
    try await Task.sleep(nanoseconds: 1_000_000)
    seen.insert(here())
    seen.insert(await Task { here() }.value)
    seen.insert(
      await withTaskGroup(of: String.self) { group in
        group.addTask { here() }
        return await group.next() ?? "none"
      })
    await MainActor.run {}
    seen.insert(here())
    print(Set(seen.map { String($0.prefix { !$0.isNumber }) }).sorted())
  }

  /// More tasks block at the same time than there are workers.
  private static let blocked: TaskPrograms.Program = {
    let begun = TaskPrograms.Tally()
    let all = DispatchSemaphore(value: 0)
    await withDiscardingTaskGroup { group in
      for _ in 0..<100 {
        group.addTask {
          if begun.add() == 100 { for _ in 0..<100 { all.signal() } }
          block(all)
        }
      }
    }
    print(begun.value)
  }

  /// For OPERATIONS_TRACE: tasks with and without names, children, a sleep, and actors with and without an executor.
  private static let traced: TaskPrograms.Program = {
    actor Register {
      private let executor = StealingBackend.shared.serialExecutor()
      nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
      func write() { usleep(100) }
    }
    let register = Register()
    await Task(name: "say \"hello\"", priority: .high) {
      usleep(100)
      try? await Task.sleep(for: .milliseconds(1))
      await register.write()
    }.value
    await withTaskGroup(of: Void.self) { group in for _ in 0..<10 { group.addTask { await child() } } }
    _ = await Place().thread()
  }

  private static func child() async {
    usleep(100)
    await Task.yield()
    usleep(100)
  }

  /// Tasks block until tasks that they make have ended.
  private static let waits: TaskPrograms.Program = {
    await withDiscardingTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          let end = DispatchSemaphore(value: 0)
          Task.detached { end.signal() }
          block(end)
        }
      }
    }
    print("all have ended")
  }

  /// Somebody looks at tasks of all kinds while they come and go.
  private static let looks: TaskPrograms.Program = {
    let isOver = Mutex(false)
    let most = Mutex(0)
    let end = DispatchSemaphore(value: 0)
    _ = PlatformThread.start(name: "looks") {
      while !isOver.withLock({ $0 }) {
        let count = TaskDiagnosis.all.count
        most.withLock { $0 = max($0, count) }
      }
      end.signal()
    }
    for program in ["actor-alone", "async-let", "group-discarding", "group-nested", "operations", "sleep-ten-thousand"]
    {
      try await TaskPrograms.all[program]?()
    }
    isOver.withLock { $0 = true }
    block(end)
    // This task alone.
    while TaskDiagnosis.all.count > 1 { await Task.yield() }
    print(most.withLock { $0 } > 10 ? "some were seen, and none is left" : "none was seen")
  }

  private static func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}
