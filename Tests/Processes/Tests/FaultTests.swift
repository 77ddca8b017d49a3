import Glibc
import TestSupport
import Testing

/// Faults at the edges, each with the outcome that a program may count on.
@Suite("Faults", .ownThread)
struct FaultTests {
  private func expectExit(_ code: Int32, _ scenario: String) throws {
    let run = try Scenario(scenario)
    #expect(run.exitCode == code, "\(scenario): signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    #expect(run.output.isEmpty, "\(run.output)")
  }

  /// The message and what the runtime prints after it need memory too: the signal may be that of a bad access.
  private func diedForWantOfMemory(_ run: Scenario) -> Bool {
    (run.trapped || run.signal == SIGSEGV) && run.output.contains("failed to allocate")
  }

  @Test("memory that is refused ends the process with the runtime's message", arguments: allBackends)
  func memoryForPendingOperations(backend: TestBackend) throws {
    let run = try Scenario("fault-memory-pending-\(backend)")
    #expect(diedForWantOfMemory(run), "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
  }

  @Test("where memory is refused, work goes on or the process ends with a message", arguments: allBackends)
  func memoryForOperationsThatRun(backend: TestBackend) throws {
    let run = try Scenario("fault-memory-flowing-\(backend)")
    #expect(
      run.exitCode == 0 || diedForWantOfMemory(run),
      "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
  }

  @Test("a body that traps ends the process with its own message", arguments: allBackends)
  func bodyThatTraps(backend: TestBackend) throws {
    let run = try Scenario("fault-body-traps-\(backend)")
    #expect(run.trapped, "signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    #expect(run.output.contains("the culprit's last words"))
  }

  @Test("a body that never returns holds up nothing but waits for itself", arguments: allBackends)
  func bodyThatSleepsForEver(backend: TestBackend) throws { try expectExit(0, "fault-endless-sleep-\(backend)") }

  @Test("so does one that computes for ever", arguments: compensatingBackends)
  func bodyThatComputesForEver(backend: TestBackend) throws { try expectExit(0, "fault-endless-spin-\(backend)") }

  @Test("exit() in the midst of work ends the process with its code", arguments: allBackends)
  func exitInTheMidst(backend: TestBackend) throws {
    for _ in 0..<5 {
      try expectExit(7, "fault-exit-\(backend)")
      try expectExit(7, "fault-exit-from-body-\(backend)")
    }
  }

  @Test("signals in waits: these return only when what they wait for has finished", arguments: allBackends)
  func signalsInWaits(backend: TestBackend) throws { try expectExit(0, "fault-signals-\(backend)") }

  @Test("everything works on one CPU", arguments: allBackends.map(\.name) + ["default"])
  func oneCPU(backend: String) throws { try expectExit(0, "fault-one-cpu-\(backend)") }

  @Test("a pool may have one worker, or a thousand", arguments: ["stealing", "threadpool"], [1, 1_000])
  func workers(backend: String, workers: Int) throws { try expectExit(0, "fault-workers-\(workers)-\(backend)") }

  static let scenarios: [String] = {
    let kinds = ["memory-pending", "memory-flowing", "body-traps", "endless-sleep", "exit", "exit-from-body"]
    let everywhere = (kinds + ["signals", "one-cpu"]).flatMap { kind in allBackends.map { "fault-\(kind)-\($0)" } }
    let spins = compensatingBackends.map { "fault-endless-spin-\($0)" }
    let pools = ["stealing", "threadpool"].flatMap { ["fault-workers-1-\($0)", "fault-workers-1000-\($0)"] }
    return everywhere + spins + pools + ["fault-one-cpu-default"]
  }()
}
