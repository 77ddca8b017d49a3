import TestSupport
import Testing

/// Seeds that outlive a crash, misuse that traps, and lines that say what a seed does not decide.
@Suite("The deterministic backend in a process of its own", .ownThread)
struct DeterministicTests {
  static let traps = [
    ("deterministic-as-default", "it runs jobs only while somebody waits for them"),
    ("deterministic-run-in-job", "run() inside a job"),
    ("deterministic-advance-in-job", "advance(by:) inside a job"),
    ("deterministic-shutdown-in-job", "shutdown() inside a job of the pool would wait for itself"),
    ("deterministic-back", "run(until:) cannot go back: it is 2000 ms, and the instant is 1000 ms"),
    ("deterministic-negative", "work(for:) needs a duration of 0 or more, not -1.0 seconds"),
    ("deterministic-order", "the order of a seeded test has 0 to 1,000 changes of priorities, not -1"),
    ("deterministic-no-workers", "a backend needs at least one worker, not 0"),
    ("deterministic-late-job", "a job was submitted to a deterministic pool after shutdown()"),
    ("deterministic-late-timer", "a timer was set on the deterministic backend after shutdown()"),
  ]
  static let scenarios =
    traps.map(\.0) + [
      "deterministic-crash", "deterministic-seed", "deterministic-silent", "deterministic-standstill",
      "deterministic-throws-waiting", "deterministic-throws-task", "deterministic-stopped",
      "deterministic-unknown-await", "deterministic-known-await", "deterministic-body-stays",
      "deterministic-virtual-time",
    ] + realTime.map(\.0)
  static let realTime = [
    ("deterministic-real-bucket", "a token bucket"), ("deterministic-real-delay", "a delay"),
    ("deterministic-real-deadline", "withDeadline"), ("deterministic-real-retry", "the wait of a retry"),
  ]

  @Test("misuse traps with a message that says what was wrong", arguments: traps)
  func misuse(scenario: String, reason: String) throws {
    let run = try Scenario(scenario)
    #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
    #expect(run.output.contains("Operations: "))
    #expect(run.output.contains(reason), "\(run.output)")
  }

  /// The seeds that the lines before the runs name.
  private func seeds(_ run: Scenario) -> [UInt64] {
    run.output.split(separator: "\n").compactMap { line in
      guard let value = line.firstRange(of: "OPERATIONS_SEED=") else { return nil }
      return UInt64(line[value.upperBound...].prefix { $0.isNumber })
    }
  }

  @Test("a crash keeps its seed, and OPERATIONS_SEED replays it alone")
  func crash() throws {
    let run = try Scenario("deterministic-crash")
    #expect(run.trapped && run.output.contains("the culprit's last words"), "\(run.output.suffix(400))")
    let seeds = seeds(run)
    let last = try #require(seeds.last)
    #expect(seeds.count > 1 && seeds == Array(0...last))
    for _ in 0..<3 {
      let again = try Scenario("deterministic-crash", variables: ["OPERATIONS_SEED=\(last)"])
      #expect(again.trapped && again.output.contains("the culprit's last words"))
      #expect(self.seeds(again) == [last])
    }
    let other = try Scenario("deterministic-crash", variables: ["OPERATIONS_SEED=0"])
    #expect(other.exitCode == 0 && self.seeds(other) == [0])
  }

  @Test("OPERATIONS_SEED that is no number traps with one line", arguments: ["abc", "-1", "", "1.5"])
  func badSeed(value: String) throws {
    let run = try Scenario("deterministic-seed", variables: ["OPERATIONS_SEED=\(value)"])
    #expect(run.trapped)
    #expect(run.output.contains("OPERATIONS_SEED is \"\(value)\": it must be a whole number from 0 to"))
    #expect(!run.output.contains("seed 0"))
  }

  @Test("a body that blocks in a semaphore is told of, and ends")
  func silent() throws {
    let run = try Scenario("deterministic-silent")
    #expect(run.exitCode == 0, "\(run.output)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 1 && lines[0].contains("a body has slept for 1000 ms in something"), "\(run.output)")
  }

  @Test("what goes by real time in a deterministic test is told of, once a run", arguments: realTime)
  func tellsRealTime(scenario: String, subject: String) throws {
    let run = try Scenario(scenario)
    #expect(run.exitCode == 0, "\(run.output)")
    let line =
      "Operations: deterministic: \(subject) goes by real time: give it the backend's clock. From here on the run is not that"
      + " of its seed"
    #expect(run.output.split(separator: "\n").map(String.init) == [line, line])
  }

  @Test("what goes by the backend's clock is no line worth")
  func virtualTime() throws {
    let run = try Scenario("deterministic-virtual-time")
    #expect(run.exitCode == 0 && run.output.isEmpty, "\(run.output)")
  }

  @Test("a test that awaits what the backend does not know is told of, and goes on")
  func unknownAwait() throws {
    let run = try Scenario("deterministic-unknown-await")
    #expect(run.exitCode == 0, "\(run.output)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 3 && lines[0].contains("the test has been for 1000 ms in something"), "\(run.output)")
    #expect(lines.dropFirst() == ["got 42", "at 3600.0 seconds"])
  }

  @Test("an actor and a task on the backend's executors run for the test that awaits them, without a line")
  func knownAwait() throws {
    let run = try Scenario("deterministic-known-await")
    #expect(run.exitCode == 0, "\(run.output)")
    #expect(run.output.split(separator: "\n") == ["6 at 10800.0 seconds", "6 at 10800.0 seconds"], "\(run.output)")
  }

  @Test("a body that must end and cannot ends the process, with the seed and what it waits for")
  func bodyStays() throws {
    let run = try Scenario("deterministic-body-stays")
    #expect(run.exitCode == 70, "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    let lines = run.output.split(separator: "\n")
    let line =
      "Operations: stays() in A.swift:7 did not end when it was cancelled, so the process ends. OPERATIONS_SEED=9 runs"
    #expect(lines.first.map(String.init) == "\(line) it again.", "\(run.output)")
    #expect(lines.dropFirst().first?.contains("with seed 9 every task of the test waits") == true)
    #expect(run.output.contains("task 1, priority"), "\(run.output)")
  }

  @Test("a clock that stands still is told of")
  func standstill() throws {
    let run = try Scenario("deterministic-standstill")
    #expect(run.exitCode == 0, "\(run.output)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 1 && lines[0].contains("nothing has run for 5 s: 1 outside and 0 inside wait"))
    #expect(lines.first?.contains("because advancesByItself is off") == true, "\(run.output)")
  }

  @Test("a test that throws while bodies wait ends with its error", arguments: ["waiting", "task"])
  func throwsWhileBodiesWait(kind: String) throws {
    let run = try Scenario("deterministic-throws-\(kind)")
    #expect(
      run.exitCode == 1 && run.signal == nil, "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    let lines = run.output.split(separator: "\n").filter { $0.hasPrefix("Operations: deterministic: ") }
    // The error comes before what is left runs: whatever runs may end the process.
    #expect(lines.dropLast().last?.contains("the test threw what went wrong") == true, "\(run.output)")
    #expect(lines.last?.contains("Bodies given up") == true, "\(run.output)")
    #expect(run.output.split(separator: "\n").last?.contains("a wait returned") == false, "\(run.output)")
    if kind == "waiting" {
      #expect(run.output.contains("with seed 0: what went wrong"), "\(run.output)")
      #expect(lines.last?.contains("3 that wait, 1 left to themselves") == true, "\(run.output)")
    }
  }

  @Test("a process that stood still has computed nothing")
  func stopped() throws {
    let run = try Scenario("deterministic-stopped")
    #expect(run.exitCode == 0 && run.output.isEmpty, "signal \(run.signal ?? 0): \(run.output)")
  }
}
