import Glibc
import Testing

/// What a process is given from outside reaches its pools, and what one thread of the process has does not: CPUs,
/// priorities and signals; and bodies that end their thread.
@Suite("The process around a pool", .ownThread)
struct SurroundingsTests {
  private static let pools = ["stealing", "threadpool"]
  private static let backends = pools + ["dispatch"]

  static let scenarios =
    ["surroundings-workers", "surroundings-allocator", "surroundings-graph", "left-body-main"]
    + named("surroundings", kinds: ["child", "started"], on: pools)
    + named("surroundings", kinds: ["inherited", "main-priority", "mask", "profiler", "crash", "pipe"], on: backends)
    + named("left", kinds: ["body", "completion-block", "fork", "guest"], on: backends + ["deterministic"])

  private static func named(_ prefix: String, kinds: [String], on backends: [String]) -> [String] {
    kinds.flatMap { kind in backends.map { "\(prefix)-\(kind)-\($0)" } }
  }

  private func expectSuccess(_ scenario: String) throws {
    let run = try Scenario(scenario)
    #expect(run.exitCode == 0, "\(scenario): signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    #expect(run.output.isEmpty, "\(run.output)")
  }

  /// The allocator has thread-local variables that change with each allocation. Where it is not installed, the system's
  /// takes its place, and the loader says so.
  @Test("row 56.12: forks find their task-local values beside another allocator")
  func allocator() throws {
    let run = try Scenario("surroundings-allocator", variables: ["LD_PRELOAD=libjemalloc.so.2"])
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
  }

  @Test("row 76.9: the first thing that a program does is to await a graph")
  func graph() throws { try expectSuccess("surroundings-graph") }

  @Test("row 45: a pool's threads have the process's CPUs, policy and nice value", arguments: backends)
  func inherited(backend: String) throws { try expectSuccess("surroundings-inherited-\(backend)") }

  @Test("row 45: the priority of an operation on the main thread is not the process's", arguments: backends)
  func mainPriority(backend: String) throws { try expectSuccess("surroundings-main-priority-\(backend)") }

  @Test("row 45: a pool's threads block what libdispatch's workers block, except SIGABRT", arguments: backends)
  func mask(backend: String) throws { try expectSuccess("surroundings-mask-\(backend)") }

  @Test("row 45: a sampling profiler sees a pool's threads", arguments: backends)
  func profiler(backend: String) throws { try expectSuccess("surroundings-profiler-\(backend)") }

  @Test("row 45: a child has the main thread's mask, whoever was the pool's first user", arguments: pools)
  func child(backend: String) throws { try expectSuccess("surroundings-child-\(backend)") }

  @Test("row 45: so it has while the main thread starts a thread", arguments: pools)
  func childOfAStarter(backend: String) throws { try expectSuccess("surroundings-started-\(backend)") }

  @Test("row 45: a write to a pipe that nobody reads ends the program", arguments: backends)
  func pipe(backend: String) throws {
    let run = try Scenario("surroundings-pipe-\(backend)")
    #expect(run.signal == SIGPIPE && run.output.isEmpty, "code \(run.exitCode ?? 0): \(run.output)")
  }

  @Test("row 45: a crash report has the stacks of all threads", arguments: backends)
  func crashReport(backend: String) throws {
    let settings = "enable=yes,color=no,interactive=no,preset=full,registers=none,images=none"
    // The reporter gives a thread that begins or ends, or that gets no CPU, up after a while. A blocked signal fails
    // each time.
    var run = try Scenario("surroundings-crash-\(backend)", variables: ["SWIFT_BACKTRACE=\(settings)"])
    for _ in 0..<4 where run.output.contains("failed to suspend") {
      run = try Scenario("surroundings-crash-\(backend)", variables: ["SWIFT_BACKTRACE=\(settings)"])
    }
    #expect(run.signal == SIGSEGV, "code \(run.exitCode ?? 0): \(run.output)")
    #expect(run.output.contains("crashed:"), "the toolchain's crash reporter does not run: \(run.output)")
    #expect(!run.output.contains("failed to suspend"), "\(run.output)")
    #expect(run.output.contains("computingBodyOfTheScenario"), "\(run.output)")
  }

  @Test(
    "row 48: a body that ends its thread traps, and the message names the operation",
    arguments: backends + ["deterministic", "main"])
  func leavingBody(backend: String) throws {
    let run = try Scenario("left-body-\(backend)")
    #expect(run.trapped, "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    #expect(run.output.contains("Operations: ") && run.output.contains("culprit"), "\(run.output)")
    #expect(run.output.contains("ended its thread with pthread_exit"), "\(run.output)")
  }

  @Test(
    "rows 48 and 57.2: so does a fork, whose message names the operation too", arguments: backends + ["deterministic"])
  func leavingFork(backend: String) throws {
    let run = try Scenario("left-fork-\(backend)")
    #expect(run.trapped, "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    #expect(run.output.contains("Operations: ") && run.output.contains("culprit"), "\(run.output)")
    #expect(run.output.contains("ended its thread with pthread_exit"), "\(run.output)")
  }

  @Test(
    "row 57.7: so does a body of a join on a thread that is none of the pool's", arguments: backends + ["deterministic"]
  )
  func leavingGuest(backend: String) throws {
    let run = try Scenario("left-guest-\(backend)")
    #expect(run.trapped, "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    #expect(
      run.output.contains("a body of a join, a loop or a scope ended its thread with pthread_exit"), "\(run.output)")
  }

  @Test("row 48: so does a completion block", arguments: backends + ["deterministic"])
  func leavingCompletionBlock(backend: String) throws {
    let run = try Scenario("left-completion-block-\(backend)")
    #expect(run.trapped, "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    #expect(run.output.contains("Operations: a completion block ended its thread"), "\(run.output)")
  }

  @Test("OPERATIONS_WORKERS is the number of workers where the program names none")
  func workers() throws {
    func run(_ value: String) throws -> [String] {
      let run = try Scenario("surroundings-workers", variables: ["OPERATIONS_WORKERS=\(value)"])
      #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
      return run.output.split(separator: "\n").map(String.init)
    }
    #expect(try run("3") == ["stealing 3", "threadpool 3", "dispatch 3", "named 5"])
    let usual = try run("")
    #expect(usual.count == 4, "\(usual)")
    for value in ["0", "-2", "many", "1.5", "16385"] {
      let lines = try run(value)
      let complaints = lines.filter { $0.hasPrefix("Operations: ") }
      #expect(lines.filter { !$0.hasPrefix("Operations: ") } == usual, "\(lines)")
      #expect(complaints.count == 1, "\(lines)")
      #expect(
        complaints.first?.hasPrefix(
          "Operations: OPERATIONS_WORKERS is \"\(value)\": it must be a whole number from 1 to 16384.") == true,
        "\(lines)")
    }
  }
}
