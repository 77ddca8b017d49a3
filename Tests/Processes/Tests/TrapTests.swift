import TestSupport
import Testing

/// Misuse ends the process with a message that names who was misused, and how.
@Suite("Traps", .ownThread)
struct TrapTests {
  struct Expectation: Sendable, CustomStringConvertible {
    let row: String
    let scenario: String
    let reason: String

    var description: String { "row \(row): \(scenario)" }

    init(_ row: String, _ scenario: String, _ reason: String) {
      (self.row, self.scenario, self.reason) = (row, scenario, reason)
    }
  }

  static let expectations = [
    Expectation("04", "start-while-executing", "receiver is already executing"),
    Expectation("04", "start-while-executing-in-a-queue", "receiver"),
    Expectation("04", "start-while-executing-asynchronously", "receiver is already executing"),
    Expectation("04", "start-from-inside-main", "receiver is already executing"),
    Expectation(
      "04", "start-of-a-queues-operation",
      "something other than the operation queue it is in is trying to start the receiver"),
    Expectation("04", "start-not-ready", "receiver is not yet ready to execute"),
    Expectation("04", "start-not-ready-overridden", "receiver is not yet ready to execute"),
    Expectation("17", "depend-on-itself", "cannot depend on itself"),
    Expectation("17", "depend-on-itself-among-others", "cannot depend on itself"),
    Expectation("22", "batch-same-operation-twice", "operation is already enqueued on a queue"),
    Expectation("22", "batch-with-finished-operation", "operation is finished and cannot be enqueued"),
    Expectation("22", "batch-with-enqueued-operation", "operation is already enqueued on a queue"),
    Expectation("22", "batch-with-executing-operation", "operation is executing and cannot be enqueued"),
    Expectation("23", "add-twice", "operation is already enqueued on a queue"),
    Expectation("23", "add-to-two-queues", "operation is already enqueued on a queue"),
    Expectation("23", "add-finished", "operation is finished and cannot be enqueued"),
    Expectation("23", "add-finished-again", "operation is finished and cannot be enqueued"),
    Expectation("23", "add-executing", "operation is executing and cannot be enqueued"),
    Expectation("23", "add-executing-asynchronously", "operation is executing and cannot be enqueued"),
    Expectation("25", "negative-limit", "-2"),
    Expectation("27", "add-block-after-finish", "after the operation has started executing or finished"),
    Expectation("27", "add-block-while-executing", "after the operation has started executing or finished"),
    Expectation("28.6", "wait-for-itself", "waits for itself"),
    Expectation("28.6", "wait-for-itself-started-by-hand", "waits for itself"),
    Expectation("28.6", "wait-in-own-observer", "waits for itself"),
    Expectation("29", "wait-for-the-own-queue", "wait for itself"),
    Expectation("32", "underlying-queue-while-busy", "cannot be changed"),
    Expectation("68.4", "negative-limit-below", "limits[below: .normal] cannot be -2"),
    Expectation("68.4", "limit-below-the-lowest", "no priority is below veryLow"),
    Expectation("66.3", "await-itself", "waits for itself"),
    Expectation("69.3", "await-who-awaits", "would ever finish"),
    Expectation("69.3", "wait-for-a-dependent", "would ever finish"),
    Expectation("66.3", "await-the-own-queue", "wait for itself"),
    Expectation("66.3", "barrier-in-the-own-queue", "wait for itself"),
    Expectation("57.2", "join-waits-for-itself", "waits for itself"),
    Expectation("57.2", "join-waits-for-the-own-queue", "wait for itself"),
    Expectation("50", "finish-twice", "already finished"),
    Expectation("50", "finish-twice-in-a-queue", "already finished"),
    Expectation("58", "negative-iterations", "concurrentPerform was called with -3 iterations"),
    Expectation("73", "negative-limit-when-made", "maxConcurrentOperationCount cannot be -2"),
    Expectation("74.5", "map-with-limit-0", "the limit of concurrentMap cannot be 0"),
    Expectation("61", "chunks-without-elements", "cut into chunks of 0 elements"),
    Expectation("61", "split-outside", "a span of 2 elements was split at 3"),
    Expectation("62", "spawn-after-the-end", "spawn was called on a scope that has ended"),
    Expectation("76.12", "graph-node-of-another", "a node of another graph"),
    Expectation("76.12", "graph-with-a-cost-below-0", "node \"load\" of a graph costs -1.0"),
    Expectation("76.12", "graph-in-order-in-its-own-node", "its runs are in order: it waits for itself"),
    Expectation("76.12", "graph-waits-for-its-operation", "waits for itself"),
  ]

  @Test("traps, and the message names the culprit and the reason", arguments: expectations, allBackends)
  func traps(expectation: Expectation, backend: TestBackend) throws {
    let run = try Scenario(expectation.scenario, variables: ["SCENARIO_BACKEND=\(backend)"])
    #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
    #expect(run.output.contains("Operations: "))
    #expect(run.output.contains("culprit"))
    #expect(run.output.contains(expectation.reason))
  }

  @Test(
    "row 48: using a pool after fork without exec traps with a message",
    arguments: ["stealing", "threadpool", "dispatch", "deterministic"])
  func fork(backend: String) throws {
    let run = try Scenario("submit-after-fork-\(backend)")
    #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
    #expect(run.output.contains("Operations: "))
    #expect(run.output.contains("fork"))
  }

  @Test("row 57.1: a join after shutdown() traps, and the message names the pool")
  func joinAfterShutdown() throws {
    for (backend, name) in [
      ("stealing", "work-stealing pool"), ("threadpool", "thread pool"), ("deterministic", "deterministic backend"),
    ] {
      let run = try Scenario("join-after-shutdown-\(backend)")
      #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
      #expect(run.output.contains("Operations: join was called on"))
      #expect(run.output.contains("\(name) after shutdown()"))
    }
  }

  @Test(
    "rows 48 and 57.3: a join after fork without exec traps with a message",
    arguments: [
      "stealing", "threadpool", "dispatch", "deterministic", "in-an-operation-stealing", "in-an-operation-threadpool",
      "in-an-operation-dispatch",
    ])
  func joinAfterFork(place: String) throws {
    let run = try Scenario("join-after-fork-\(place)")
    #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
    #expect(run.output.contains("Operations: "))
    #expect(run.output.contains("fork"))
  }

  @Test("a backend that cannot be made traps with a message", arguments: ["stealing", "threadpool", "dispatch"])
  func impossibleBackend(backend: String) throws {
    for (scenario, reason) in [
      ("no-workers", "at least one worker, not 0"), ("too-many-workers", "at most 16384 workers, not \(Int.max)"),
      ("negative-fairness", "fairnessInterval cannot be -1"),
    ] {
      let run = try Scenario("\(scenario)-\(backend)")
      #expect(run.trapped, "ended by signal \(run.signal ?? 0), exit code \(run.exitCode ?? 0)")
      #expect(run.output.contains("Operations: "))
      #expect(run.output.contains(reason))
    }
  }

  @Test("row 34: Foundation: an early finish is one clear message, not a trap")
  func earlyFinish() throws {
    let run = try Scenario("early-finish")
    #expect(run.exitCode == 0)
    let lines = run.output.split(separator: "\n").filter { $0.contains("Operations: ") }
    #expect(lines.count == 1)
    #expect(lines.first?.contains("culprit") == true)
  }

  @Test("the scenarios that trap are the ones expected to")
  func nothingIsForgotten() throws {
    let run = try Scenario("")
    let expected = Set(
      Self.expectations.map(\.scenario) + Self.others + MainQueueTests.scenarios.map(\.name)
        + ProgramTraceTests.scenarios
        + FaultTests.scenarios + ThreadTests.scenarios + RefusalTests.scenarios + DeterministicTests.scenarios
        + SurroundingsTests.scenarios + CompositionTests.scenarios.map(\.0))
    #expect(Set(run.output.split(separator: "\n").map(String.init)) == expected)
  }

  @Test(
    "rows 10 and 29: a pool may be shut down as soon as its queue was waited for",
    arguments: ["stealing", "threadpool"])
  func shutdownAfterWaiting(backend: String) throws {
    let run = try Scenario("shutdown-after-waiting-\(backend)")
    #expect(run.exitCode == 0, "ended by signal \(run.signal ?? 0): \(run.output)")
  }

  @Test("row 12: a thread that ran operations leaves none behind when it ends")
  func threadsThatEnd() throws {
    let run = try Scenario("threads-that-end")
    #expect(run.exitCode == 0, "ended by signal \(run.signal ?? 0): \(run.output)")
  }

  static let others = [
    "no-workers-stealing", "no-workers-threadpool", "no-workers-dispatch",
    "too-many-workers-stealing", "too-many-workers-threadpool", "too-many-workers-dispatch",
    "negative-fairness-stealing",
    "negative-fairness-threadpool", "negative-fairness-dispatch",
    "submit-after-fork-stealing", "submit-after-fork-threadpool", "submit-after-fork-dispatch",
    "submit-after-fork-deterministic", "early-finish", "member-drains-the-outer-queue",
    "join-after-shutdown-stealing", "join-after-shutdown-threadpool", "join-after-shutdown-deterministic",
    "join-after-fork-stealing", "join-after-fork-threadpool", "join-after-fork-dispatch",
    "join-after-fork-deterministic",
    "join-after-fork-in-an-operation-stealing", "join-after-fork-in-an-operation-threadpool",
    "join-after-fork-in-an-operation-dispatch",
    "threads-that-end",
    "shutdown-after-waiting-stealing", "shutdown-after-waiting-threadpool",
  ]
}
