import Glibc
import Testing

/// Rows 28, 43 to 45, 47 and 48: threads, stack and signals at their limits, each in a process of its own.
@Suite("Threads at their limits", .ownThread)
struct ThreadTests {
  private static let pools = ["stealing", "threadpool"]
  static let backends = pools + ["dispatch"]

  private static let kinds = [
    "refused-threads", "refused-threads-silent", "crash-handlers", "fault", "deep-help", "thread-limit",
    "help-at-the-limit", "idle-behind-joins", "running-threads",
  ]

  static let scenarios =
    ["barrier-before-main", "dump", "reuse", "waiting-callouts"]
    + kinds.flatMap { kind in backends.map { "\(kind)-\($0)" } }
    + pools.flatMap { pool in
      ["refused-threads-nested", "fork-mask", "shutdown-in-a-job", "shutdown-of-the-shared"].map { "\($0)-\(pool)" }
    }

  private func run(_ name: String) throws -> (lines: [String], run: Scenario) {
    let run = try Scenario(name)
    return (run.output.split(separator: "\n").map(String.init), run)
  }

  @Test("row 45: a child forked inside an operation has the program's signal mask", arguments: pools)
  func forkMask(backend: String) throws {
    let (lines, run) = try run("fork-mask-\(backend)")
    #expect(run.exitCode == 0 && lines.isEmpty, "signal \(run.signal ?? 0): \(lines)")
  }

  @Test("row 56: the first fork of a process does not wait for the kernel's registration of barriers")
  func barrierBeforeMain() throws {
    let (lines, run) = try run("barrier-before-main")
    #expect(run.exitCode == 0 && lines.isEmpty, "signal \(run.signal ?? 0): \(lines)")
  }

  @Test("a pool tells others how many of its threads run, and in the end that none does", arguments: backends)
  func runningThreads(backend: String) throws {
    let (lines, run) = try run("running-threads-\(backend)")
    #expect(run.exitCode == 0 && lines == ["2 1", "0 0"], "signal \(run.signal ?? 0): \(lines)")
  }

  @Test("callouts that wait for the thread of a serial queue do not count as running")
  func waitingCallouts() throws {
    let (lines, run) = try run("waiting-callouts")
    #expect(run.exitCode == 0 && lines == ["1 1"], "signal \(run.signal ?? 0): \(lines)")
  }

  @Test("row 57.5: no CPU is used when all joins have ended", arguments: backends)
  func idleBehindJoins(backend: String) throws {
    let (lines, run) = try run("idle-behind-joins-\(backend)")
    #expect(run.exitCode == 0 && lines.isEmpty, "signal \(run.signal ?? 0): \(lines)")
  }

  @Test("row 52: memory is used again, unless OPERATIONS_REUSE=off")
  func reuse() throws {
    func places(_ value: String) throws -> (count: Int, said: [String]) {
      let run = try Scenario("reuse", variables: ["OPERATIONS_REUSE=\(value)"])
      #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
      let lines = run.output.split(separator: "\n").map(String.init)
      let words = try #require(lines.last?.split(separator: " "), "\(run.output)")
      #expect(words.count == 4 && words[3] == "100")
      return (Int(words[1]) ?? 0, lines.dropLast())
    }
    for value in ["", "on"] {
      let seats = try places(value)
      #expect(seats.count <= 2 && seats.said.isEmpty, "\(value): \(seats)")
    }
    let off = try places("off")
    #expect(off.count > 50 && off.said.isEmpty, "\(off)")
    let wrong = try places("no")
    #expect(wrong.count <= 2, "\(wrong)")
    #expect(wrong.said == ["Operations: OPERATIONS_REUSE is neither on nor off: memory is used again"])
  }

  @Test(
    "row 43: threads are refused: one line, tried again, and it goes on", arguments: backends,
    ["refused-threads", "refused-threads-silent"])
  func refused(backend: String, kind: String) throws {
    let (lines, run) = try run("\(kind)-\(backend)")
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
    #expect(lines.contains("ran"))
    // Dispatch is asked first, and has its own way of trying again, without a word.
    let said = lines.count { $0.contains("Operations: ") && $0.contains("refuses a thread") }
    #expect(backend == "dispatch" ? said <= 1 : said == 1)
  }

  @Test("row 28.2: threads are refused for good: waits inside of waits go on", arguments: pools)
  func nestedWaitsWithoutThreads(backend: String) throws {
    let (lines, run) = try run("refused-threads-nested-\(backend)")
    #expect(run.exitCode == 0 && lines.contains("ended 21"), "signal \(run.signal ?? 0): \(run.output)")
  }

  @Test("row 44: the limit of threads: one line, and everything runs in the end", arguments: backends)
  func threadLimit(backend: String) throws {
    let (lines, run) = try run("thread-limit-\(backend)")
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
    #expect(lines.contains("entered 6") && lines.contains("ran 20"), "\(run.output)")
    #expect(lines.count { $0.contains("Operations: ") && $0.contains("has 6 threads") } == 1, "\(run.output)")
  }

  @Test("rows 28.2 and 44: at the limit of threads, helping goes on", arguments: backends)
  func helpAtTheLimit(backend: String) throws {
    let (lines, run) = try run("help-at-the-limit-\(backend)")
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
    #expect(lines.contains("ran 600"), "\(run.output)")
  }

  @Test("row 45: signals of faults reach the program's handlers", arguments: backends)
  func crashHandlers(backend: String) throws {
    let (lines, run) = try run("crash-handlers-\(backend)")
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
    // Dispatch blocks SIGABRT on its own threads; abort() unblocks it again.
    #expect(lines.count { $0.hasPrefix("handled ") } == (backend == "dispatch" ? 6 : 7), "\(run.output)")
  }

  @Test("row 45: a fault in a body runs the program's handler", arguments: backends)
  func fault(backend: String) throws {
    let (lines, run) = try run("fault-\(backend)")
    #expect(run.exitCode == 7, "signal \(run.signal ?? 0): \(run.output)")
    #expect(lines.contains("the handler ran"))
  }

  @Test("rows 28.2 and 28.3: helping leaves room on the stack", arguments: backends)
  func deepHelp(backend: String) throws {
    let (lines, run) = try run("deep-help-\(backend)")
    #expect(run.exitCode == 0 && lines.contains("returned"), "signal \(run.signal ?? 0): \(run.output)")
  }

  @Test("row 47: SIGUSR1 writes a diagnosis of every queue, when asked for")
  func dump() throws {
    let run = try Scenario("dump", variables: ["OPERATIONS_DUMP=1"])
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
    for part in ["2 queues", "\"first\"", "its queue is suspended", "\"second\"", "cycle: ", "goes on"] {
      #expect(run.output.contains(part), "no \(part) in \(run.output)")
    }
    // Without the variable the signal has its ordinary effect.
    #expect(try Scenario("dump").signal == SIGUSR1)
  }

  @Test("row 48: shutdown() inside a job traps, and says why", arguments: pools)
  func shutdownInAJob(backend: String) throws {
    let (_, run) = try run("shutdown-in-a-job-\(backend)")
    #expect(run.trapped && run.output.contains("Operations: shutdown() inside a job"), "\(run.output)")
  }

  @Test("row 48: shutdown() of a shared pool traps, and says why", arguments: pools)
  func shutdownOfTheShared(backend: String) throws {
    let (_, run) = try run("shutdown-of-the-shared-\(backend)")
    #expect(run.trapped && run.output.contains("Operations: the shared pool cannot be shut down"), "\(run.output)")
  }
}
