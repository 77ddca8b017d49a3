import Testing

/// A backend as the default executor of a process.
@Suite("The default executor of a process", .ownThread)
struct DefaultExecutorTests {
  private static let pools = ["stealing", "threadpool"]
  private static let backends = pools + ["dispatch"]

  /// What each program says on Swift's own executor.
  static let programs = [
    ("a-child-process", ["3 4"]),
    ("a-million", ["1000000"]),
    ("actor-alone", ["8000"]),
    ("actor-inherited", ["1"]),
    ("actor-isolated-deinit", ["10"]),
    ("actor-isolation", ["1 1"]),
    ("actor-parameter", ["5"]),
    ("actor-priorities", ["[\"25\", \"17\", \"9\"]"]),
    ("actor-reentrancy", ["[\"inside\", \"another call\", \"goes on\"]"]),
    ("actor-to-actor", ["10000"]),
    ("async-let", ["987"]),
    ("async-let-throws", ["Failure"]),
    ("async-let-unused", ["true"]),
    ("cancellation-handler", ["cancelled: true"]),
    ("chain-of-tasks", ["10000"]),
    ("concurrent-function", ["(true, true)"]),
    ("continuation-at-once", ["1"]),
    ("continuation-from-a-thread", ["7"]),
    ("continuation-from-dispatch", ["Failure"]),
    ("custom-executor", ["1000"]),
    ("detached", ["42"]),
    ("escalation", ["raised to 25", "now 25"]),
    ("forks", ["499500"]),
    ("global-actor", ["100"]),
    ("group-cancelled", ["1000"]),
    ("group-discarding", ["10000"]),
    ("group-discarding-error", ["Failure"]),
    ("group-error", ["Failure"]),
    ("group-nested", ["4096"]),
    ("group-sum", ["500500"]),
    ("immediate", ["inside", "behind", "[\"before\"] [\"child\"]"]),
    ("main-actor", ["1000"]),
    ("main-actor-from-many", ["500"]),
    ("many-awaiters", ["700"]),
    ("names", ["reader"]),
    ("operations", ["5050"]),
    ("preference-and-back", ["2 3"]),
    ("priorities", ["9", "9", "17", "17", "21", "21", "25", "25"]),
    ("sleep", ["nanoseconds", "for", "tolerance", "continuous", "suspending", "a clock of mine"].map { "\($0) true" }),
    ("sleep-cancelled", ["CancellationError", "CancellationError"]),
    ("sleep-forever", ["failure(Swift.CancellationError())"]),
    ("sleep-in-the-past", ["no sleep"]),
    ("sleep-race", ["quick, cancelled"]),
    ("sleep-ten-thousand", ["10000"]),
    ("stream-cancelled", ["cancelled", "the loop has ended"]),
    ("stream-error", ["1", "Failure"]),
    ("stream-from-a-thread", ["499500"]),
    ("stream-unfolding", ["5050"]),
    ("task-locals", ["[7, 7, 7, 0, 7] 0"]),
    ("yields", ["all have yielded"]),
  ]

  private func expect(_ scenario: String, says lines: [String], code: Int32 = 0) throws {
    let run = try Scenario(running: "TaskPrograms", scenario)
    let said = run.output.split(separator: "\n").map(String.init)
    #expect(
      run.exitCode == code && said == lines,
      "\(scenario): signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
  }

  @Test("row 77.1: a program of tasks and actors says the same on each default executor", arguments: programs)
  func isTheSame(program: String, lines: [String]) throws {
    for executor in ["none"] + Self.backends { try expect("tasks-\(program)-\(executor)", says: lines) }
  }

  @Test("row 77.1: a process ends while its tasks run", arguments: ["none"] + backends)
  func exits(executor: String) throws { try expect("tasks-ends-in-the-middle-\(executor)", says: [], code: 7) }

  @Test("row 77.1: a main function that returns early ends the process")
  func mainReturns() throws { try expect("default-executor-main-returns", says: ["main"]) }

  @Test(
    "row 77.2: tasks, children, default actors and what has slept run on the backend's threads",
    arguments: [("stealing", "steal-"), ("threadpool", "pool-worker")])
  func threads(backend: String, name: String) throws {
    try expect("default-executor-threads-\(backend)", says: ["[\"\(name)\"]"])
  }

  @Test("row 77.3: tasks that block take no thread from others, on a pool that replaces threads", arguments: pools)
  func blocked(backend: String) throws {
    try expect("default-executor-blocked-\(backend)", says: ["100"])
    try expect("default-executor-waits-\(backend)", says: ["all have ended"])
  }

  @Test("row 77.4: an executor of somebody else stays, nothing is half installed, and the call may be repeated")
  func taken() throws {
    let run = try Scenario(running: "TaskPrograms", "default-executor-taken")
    let lines = run.output.split(separator: "\n").map(String.init)
    let refusal = "not installed: another package has already set the default executor of this process"
    #expect(run.exitCode == 0 && lines == [refusal, refusal, "[\"pool-worker\"]"], "\(run.output)")
  }

  @Test("row 77.4: without a thread for sleeps nothing is installed, and the call may be repeated")
  func withoutThread() throws {
    try expect(
      "default-executor-without-thread",
      says: ["not installed: the system refuses the thread that ends the sleeps of tasks", "[\"steal-\"]"])
  }

  static let misuses = [
    ("twice", "has one already, and that one stays"),
    ("from-a-thread", "on this thread: the main thread does that, at the start of the program"),
    ("from-a-task", "on this thread: the main thread does that, at the start of the program"),
    ("too-late", "came too late: 3 tasks were made before. Call it first in main()"),
    ("without-workers", "the backend \"idle\" cannot become the default executor: it has no workers"),
    ("shutdown", "stealing cannot be shut down: it is the default executor of the process"),
    ("shutdown-threadpool", "threadpool cannot be shut down: it is the default executor of the process"),
  ]

  @Test("row 77.5: misuse traps, and the message says what would be right", arguments: misuses)
  func misuse(name: String, reason: String) throws {
    let run = try Scenario(running: "TaskPrograms", "default-executor-\(name)")
    #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
    #expect(run.output.contains("Operations: ") && run.output.contains(reason), "\(run.output)")
  }

  static let stuck = [
    "actor-held", "actor-that-awaits", "async-let", "asynchronous-operation", "body", "cancelled", "child-of-group",
    "circle", "computes", "continuation", "dependency", "drained", "limit", "locks", "main-actor", "many", "no-thread",
    "preference", "semaphore", "serial-executor-held", "sleep", "stream", "suspended-body",
    "suspended-queue", "task",
  ]

  @Test("row 47: a dump of a program that hangs names the task that is to blame", arguments: stuck, pools)
  func culprits(program: String, pool: String) throws {
    let run = try Scenario(running: "TaskPrograms", "stuck-\(program)-\(pool)", variables: ["OPERATIONS_DUMP=1"])
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
  }

  @Test("row 47: tasks that come and go are looked at without harm", arguments: backends)
  func looks(backend: String) throws {
    let run = try Scenario(
      running: "TaskPrograms", "default-executor-looks-\(backend)", variables: ["OPERATIONS_DUMP=1"])
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
    #expect(run.output.contains("some were seen, and none is left"), "\(run.output)")
  }

  @Test("the programs that there are are the ones expected to say something")
  func nothingIsForgotten() throws {
    var expected: Set<String> = [
      "default-executor-taken", "default-executor-main-returns", "default-executor-without-thread",
    ]
    for program in Self.programs.map(\.0) + ["ends-in-the-middle"] {
      for executor in ["none"] + Self.backends { expected.insert("tasks-\(program)-\(executor)") }
    }
    for pool in Self.pools {
      for kind in ["threads", "blocked", "waits", "traced"] { expected.insert("default-executor-\(kind)-\(pool)") }
      for program in Self.stuck { expected.insert("stuck-\(program)-\(pool)") }
    }
    for backend in Self.backends { expected.insert("default-executor-looks-\(backend)") }
    for (misuse, _) in Self.misuses { expected.insert("default-executor-\(misuse)") }
    let all = try Scenario(running: "TaskPrograms").output
    #expect(Set(all.split(separator: "\n").map(String.init)) == expected)
  }
}
