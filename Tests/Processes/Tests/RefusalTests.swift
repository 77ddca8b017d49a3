import TestSupport
import Testing

/// What the system refuses, one thing at a time, and code of users that blocks or answers for ever where the library
/// asks it: nothing stands still, nothing of others is touched, and the program is told once.
@Suite("Refusals", .ownThread)
struct RefusalTests {
  private static let backends = ["stealing", "threadpool", "dispatch"]

  /// - Parameter line: what the one line on standard error contains; nil: nothing may be printed.
  private func expectSuccess(_ scenario: String, line: String? = nil, variables: [String] = []) throws {
    let run = try Scenario(scenario, variables: variables)
    #expect(run.exitCode == 0, "\(scenario): signal \(run.signal ?? 0), code \(run.exitCode ?? 0): \(run.output)")
    // Not every machine permits every refusal.
    if run.output == "not permitted\n" { return }
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == (line == nil ? 0 : 1), "\(run.output)")
    if let line { #expect(run.output.contains(line), "\(run.output)") }
  }

  @Test(
    "rows 25 and 46: bodies that block are seen where no descriptor is left, or /proc is hidden", arguments: backends)
  func hiddenThreads(backend: String) throws {
    try expectSuccess("refused-descriptors-\(backend)", line: "Operations: /proc cannot be read (Too many open files)")
    try expectSuccess("refused-proc-\(backend)", line: "Operations: /proc cannot be read (No such file or directory)")
  }

  @Test("a process whose thread keys are all taken by others", arguments: backends)
  func keys(backend: String) throws { try expectSuccess("refused-keys-\(backend)") }

  @Test("row 47: a diagnosis runs no code of a user's, which may hang", arguments: backends)
  func diagnosisOfADeadlock(backend: String) throws { try expectSuccess("diagnosis-of-a-deadlock-\(backend)") }

  @Test("row 47: nor does a dump")
  func dumpOfADeadlock() throws {
    let run = try Scenario("dump-of-a-deadlock", variables: ["OPERATIONS_DUMP=1"])
    #expect(run.exitCode == 0, "signal \(run.signal ?? 0): \(run.output)")
    #expect(run.output.contains("\"in a deadlock\">: 4 unfinished, 0 executing"), "\(run.output)")
    #expect(run.output.contains("goes on"))
    let shown = run.output.split(separator: "\n").compactMap { line in
      line.contains("unfinished") ? line.split(separator: "\"").dropFirst().first.map(String.init) : nil
    }
    #expect(shown == ["in a deadlock"] + (0..<8).map { "later \($0)" }, "in the order of making")
  }

  @Test("row 47: with dumps, queues may be made and ended anywhere, and 50,000 of them at once")
  func dumpBesideEnds() throws { try expectSuccess("dump-beside-ends", variables: ["OPERATIONS_DUMP=1"]) }

  @Test(
    "rows 41.7, 41.8 and 47: properties that block hold up nobody else's, and the diagnosis counts them",
    arguments: backends)
  func blockedQuestions(backend: String) throws {
    try expectSuccess(
      "blocked-questions-\(backend)",
      line: "Operations: 256 reads of isReady or isFinished have not returned: further reads wait behind other work")
  }

  @Test("row 41.9: a property that posts whenever it is read is not read for ever", arguments: backends)
  func postsWhileAsked(backend: String) throws {
    try expectSuccess("ready-posts-itself-\(backend)", line: "\"never ready\"> posts a change whenever")
    try expectSuccess("finished-posts-itself-\(backend)", line: "\"never finished\"> posts a change whenever")
    try expectSuccess("each-posts-the-other-\(backend)", line: "\"crossing\"> posts a change whenever")
  }

  static let scenarios: [String] = {
    let kinds = [
      "refused-descriptors", "refused-proc", "refused-keys", "diagnosis-of-a-deadlock", "blocked-questions",
      "ready-posts-itself", "finished-posts-itself", "each-posts-the-other",
    ]
    return kinds.flatMap { kind in backends.map { "\(kind)-\($0)" } } + ["dump-of-a-deadlock", "dump-beside-ends"]
  }()
}
