import Foundation
import Testing

/// Rows 10, 20, 30 and 31 on the main queue, which needs a process whose main thread serves it.
@Suite("The main queue", .ownThread)
struct MainQueueTests {
  struct MainQueueScenario: Sendable, CustomStringConvertible {
    let name: String
    let description: String
  }

  static let scenarios = [
    MainQueueScenario(
      name: "main-queue-run-loop", description: "row 31: one operation at a time on the main thread, run loop"),
    MainQueueScenario(
      name: "main-queue-dispatch-main", description: "row 31: one operation at a time, dispatchMain()"),
    MainQueueScenario(name: "main-queue-cancel-all", description: "row 31: cancelAllOperations works"),
    MainQueueScenario(name: "main-queue-completion-block", description: "row 10.5: completion blocks run elsewhere"),
    MainQueueScenario(name: "main-queue-current", description: "row 30: current is main on the main thread"),
    MainQueueScenario(
      name: "main-queue-settings", description: "row 31: setting the main queue's properties changes nothing"),
    MainQueueScenario(name: "main-queue-join", description: "rows 56.6 and 56.7: a join on the main thread"),
    MainQueueScenario(name: "main-queue-order", description: "row 20: highest priority first on the main queue"),
  ]

  @Test("row 31: an asynchronous main, in a module that belongs to the main actor, does the same as on Foundation")
  func asynchronousMain() throws {
    let expected = [
      "an operation ran", "the sum is 55", "in the main queue: true", "the last operation of the main queue",
      "a loop of yields lets the main queue run",
    ]
    let folder = #filePath.dropLast("Processes/Tests/MainQueueTests.swift".count)
    let text = try String(contentsOfFile: "\(folder)SourceCompatibilityTests/AsyncMain.swift", encoding: .utf8)
    for library in ["-D FOUNDATION_OPERATIONS", "-strict-memory-safety"] {
      let options = "-parse-as-library -default-isolation MainActor -enable-upcoming-feature ExistentialAny \(library)"
      let run = try CompiledProgram(text, options: options).run()
      #expect(
        run.exitCode == 0 && run.output.split(separator: "\n").map(String.init) == expected, "\(library): \(run.output)"
      )
    }
  }

  @Test("the main queue", arguments: scenarios)
  func holds(scenario: MainQueueScenario) throws {
    let run = try Scenario(scenario.name)
    #expect(run.exitCode == 0 && run.signal == nil, "signal \(run.signal ?? 0): \(run.output)")
  }
}
