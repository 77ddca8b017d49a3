import Foundation
import TestSupport
import Testing

/// Traces of small programs, each a process of its own, held to the format's rules by a parser that is not ours.
@Suite("Traces", .ownThread)
struct ProgramTraceTests {
  /// What the executable must have.
  static let scenarios =
    ["trace-api", "trace-part", "trace-full", "trace-while-running", "trace-fork", "trace-moves"]
    + allBackends.map { "trace-program-\($0)" } + compensatingBackends.map { "trace-spare-\($0)" }
    + compensatingBackends.map { "study-\($0)" }

  /// Runs a scenario with a file name in a variable, and reads that file.
  private func trace(
    _ scenario: String, of program: String = "ProcessScenarios", in variable: String = "OPERATIONS_TRACE"
  ) throws -> (trace: CheckedTrace, output: String) {
    let path = FileManager.default.temporaryDirectory.path + "/trace-\(UUID().uuidString).json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    let run = try Scenario(running: program, scenario, variables: ["\(variable)=\(path)"])
    #expect(run.exitCode == 0, "\(scenario): \(run.output)")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    let trace = CheckedTrace(text)
    #expect(trace.problems.isEmpty, "\(scenario): \(trace.problems.prefix(3))")
    return (trace, run.output)
  }

  private func arrows(_ trace: CheckedTrace) -> Set<String> {
    Set(trace.arrows.map { "\(trace.slices[$0.from].name) > \(trace.slices[$0.to].name)" })
  }

  @Test("A program's trace has its operations, edges, waits and threads", arguments: allBackends)
  func program(_ backend: TestBackend) throws {
    let (trace, output) = try trace("trace-program-\(backend)")
    #expect(output.isEmpty)
    // One slice for each that ran; none for those that did not.
    let names = [
      "first", "left", "right", "last", "late", "say \"hello\"\n\\ \u{1} é 語 🙂", "urgent", "removed", "outer",
      "inner", "asynchronous", "after", "by hand", "behind",
    ]
    for name in names { #expect(trace.operations(named: name).count == 1, "\(name)") }
    #expect(trace.operations(named: "BlockOperation").count == 50)
    #expect(trace.operations(named: "single").count == 20)
    #expect(trace.slices.filter { $0.category == "operation" }.count == names.count + 70)
    #expect(trace.operations(named: "cancelled").isEmpty)
    #expect(trace.instants.filter { $0.name == "cancelled: cancelled" }.count == 1)
    // Arrows from what ran to what waited for it.
    let expected: Set = [
      "first > left", "first > right", "left > last", "right > last", "last > late", "first > removed",
      "asynchronous > after",
    ]
    #expect(arrows(trace) == expected)
    #expect(trace.arrows.count == expected.count)
    for arrow in trace.arrows where trace.slices[arrow.from].name != "asynchronous" {
      #expect(trace.slices[arrow.from].end <= trace.slices[arrow.to].begin)
    }
    // What is told of each.
    for slice in trace.operations(named: "BlockOperation") {
      #expect(slice.arguments["queue"] as? String == "the \"odd\" queue")
      #expect(slice.arguments["priority"] as? String == "normal")
      let added = slice.arguments["us since added"] as? Double
      let ready = slice.arguments["us since ready"] as? Double
      #expect(try #require(added) >= #require(ready) && #require(ready) >= 0)
    }
    #expect(trace.operations(named: "urgent")[0].arguments["priority"] as? String == "veryHigh")
    #expect(trace.operations(named: "last")[0].arguments["dependencies"] as? Int == 2)
    #expect((trace.operations(named: "single")[0].arguments["queue"] as? String)?.hasPrefix("OperationQueue ") == true)
    #expect(trace.operations(named: "by hand")[0].arguments["queue"] == nil)
    // The start() of the asynchronous one may return after everything else, or not before the program's end.
    #expect(trace.slices.allSatisfy { $0.arguments["unfinished"] == nil || $0.name == "asynchronous" })
    // A limit of one is seen as such.
    let single = trace.operations(named: "single")
    for (slice, next) in zip(single, single.dropFirst()) { #expect(slice.end <= next.begin) }
    // The wait is inside of whoever waits, or the other ran there.
    let outer = trace.operations(named: "outer")[0]
    let inner = trace.operations(named: "inner")[0]
    #expect(outer.begin < inner.begin && inner.end < outer.end)
    #expect(trace.asynchronous == ["asynchronous"])
    #expect(trace.facts["events not shown for want of room"] == "0")
    // Rows.
    #expect(trace.processNames.values.sorted() == ["ProcessScenarios"])
    #expect(trace.threadNames.values.contains("main thread"))
    #expect(try #require(trace.peaks["running"]) >= 1 && #require(trace.peaks["ready"]) >= 1)
  }

  @Test(
    "A thread that takes a blocked one's place is seen in the trace",
    arguments: compensatingBackends.filter { $0.name != "sample" })
  func spareWorker(_ backend: TestBackend) throws {
    let (trace, _) = try trace("trace-spare-\(backend)")
    let waiting = trace.operations(named: "waiting")[0]
    let helping = trace.operations(named: "helping")[0]
    #expect(waiting.thread != helping.thread)
    let wait = try #require(trace.slices.first { $0.name == "waits for awaited" && $0.thread == waiting.thread })
    #expect(waiting.begin < wait.begin && wait.end < waiting.end)
    let spare = try #require(trace.instants.first { $0.name == "spare worker begins" })
    #expect(spare.thread == helping.thread && spare.time < helping.begin)
    #expect(trace.instants.contains { $0.name == "finishes awaited" && $0.thread == helping.thread })
  }

  @Test("row 77.6: a trace has the tasks, by their names or functions", arguments: ["stealing", "threadpool"])
  func tasks(pool: String) throws {
    let (trace, output) = try trace("default-executor-traced-\(pool)", of: "TaskPrograms")
    #expect(output.isEmpty)
    let tasks = trace.slices.filter { $0.category == "task" }
    func parts(_ name: String) -> [CheckedTrace.Slice] { tasks.filter { $0.name.contains(name) } }
    // Up to its sleep, behind it, and on the actor with an executor of its own.
    let named = parts("say \"hello\"")
    #expect(named.count >= 3 && Set(named.map { $0.arguments["task"] as? Int }).count == 1, "\(tasks)")
    #expect(named.allSatisfy { $0.arguments["priority"] as? String == "high" }, "\(tasks)")
    #expect(named.allSatisfy { ($0.arguments["us since ready"] as? Double ?? -1) >= 0 }, "\(tasks)")
    #expect(named.contains { ($0.arguments["function"] as? String)?.contains("traced") == true }, "\(tasks)")
    // Ten children: their closure, and their function behind the yield.
    let children = Set(parts("child").map { $0.arguments["task"] as? Int })
    #expect(children.count == 10 && parts("child").count >= 10, "\(tasks)")
    // What the runtime makes for a sleep is no function of the program's.
    #expect(!tasks.contains { $0.name.contains("ContinuousClock") }, "\(tasks)")
  }

  @Test("start() and stop() record what lies between them")
  func startAndStop() throws {
    let (trace, output) = try trace("trace-api", in: "TRACE_FILE")
    #expect(trace.slices.filter { $0.category == "operation" }.map(\.name) == ["inside"])
    #expect(output == "cannot write /no/such/folder/trace.json: No such file or directory\n")
  }

  @Test(
    "A study counts events, adds up the time of threads, and delays what it is told to", arguments: compensatingBackends
  )
  func studies(backend: TestBackend) throws {
    let run = try Scenario("study-\(backend)")
    #expect(run.exitCode == 0 && run.output.isEmpty, "\(run.output)")
  }

  @Test("A trace of a part of a run shows what is cut off at its ends")
  func aPart() throws {
    let (trace, _) = try trace("trace-part", in: "TRACE_FILE")
    // It was added before the trace: its class is all that is known.
    #expect(trace.operations(named: "BlockOperation").count == 1)
    for name in ["cut", "by hand"] {
      #expect(trace.operations(named: name).map { $0.arguments["unfinished"] as? Bool } == [true], "\(name)")
    }
    #expect(trace.asynchronous.isEmpty)
    #expect(trace.operations(named: "never shown as run").isEmpty)
  }

  @Test("A trace says how many events had no room")
  func moreThanThereIsRoomFor() throws {
    let (trace, output) = try trace("trace-full", in: "TRACE_FILE")
    let dropped = Int(output.split(separator: " ").last?.dropLast() ?? "") ?? 0
    #expect(dropped > 0)
    let notShown = Int(trace.facts["events not shown for want of room"] ?? "") ?? 0
    #expect(notShown >= dropped)
    let shown = trace.slices.filter { $0.category == "operation" }
    #expect(shown.count < 1_000 && trace.facts["operations shown"] == "\(shown.count)")
  }

  @Test("A trace begins and ends while operations run")
  func whileOperationsRun() throws {
    let run = try Scenario("trace-while-running")
    #expect(run.exitCode == 0, "\(run.output)")
  }

  @Test("The child of a fork leaves the parent's trace alone")
  func theChildOfAFork() throws {
    let (trace, _) = try trace("trace-fork")
    #expect(trace.operations(named: "of the parent").count == 1)
  }

  @Test("A program that changes its folder writes where it began")
  func aProgramThatGoesElsewhere() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/trace-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let run = try Scenario("trace-moves", variables: ["TRACE_FILE=\(folder)"])
    #expect(run.exitCode == 0 && run.output.isEmpty, "\(run.output)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["elsewhere", "trace.json"])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/elsewhere").isEmpty)
    let trace = CheckedTrace(try String(contentsOfFile: folder + "/trace.json", encoding: .utf8))
    #expect(trace.problems.isEmpty && trace.operations(named: "moved").count == 1)
  }

  @Test("A place that cannot be written is one line at the beginning")
  func placesThatCannotBeWritten() throws {
    let run = try Scenario("trace-program-stealing", variables: ["OPERATIONS_TRACE=/no/such/folder/trace.json"])
    #expect(run.exitCode == 0)
    #expect(
      run.output
        == "Operations: OPERATIONS_TRACE: cannot write /no/such/folder/trace.json: No such file or directory; "
        + "nothing is traced\n")
  }

  /// A rename would put a file in the place of a device or a FIFO.
  @Test("What is no regular file stays")
  func whatIsNoRegularFileStays() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/trace-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    #expect(mkfifo(folder + "/fifo", 0o600) == 0 && symlink("t.json", folder + "/link.json") == 0)
    let refused = try Scenario("trace-program-stealing", variables: ["OPERATIONS_TRACE=\(folder)/fifo"])
    #expect(refused.exitCode == 0)
    #expect(
      refused.output
        == "Operations: OPERATIONS_TRACE: cannot write \(folder)/fifo: it is no regular file, and would be replaced by one; "
        + "nothing is traced\n")
    let followed = try Scenario("trace-program-stealing", variables: ["OPERATIONS_TRACE=\(folder)/link.json"])
    #expect(followed.exitCode == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["fifo", "link.json", "t.json"])
    var status = stat()
    #expect(lstat(folder + "/fifo", &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    #expect(lstat(folder + "/link.json", &status) == 0 && status.st_mode & S_IFMT == S_IFLNK)
  }

  @Test("%p in the name stands for the process's number")
  func theProcessInTheName() throws {
    let folder = FileManager.default.temporaryDirectory.path + "/trace-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let run = try Scenario("trace-spare-stealing", variables: ["OPERATIONS_TRACE=\(folder)/of-%p.json"])
    #expect(run.exitCode == 0)
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    let number = names.first?.dropFirst("of-".count).dropLast(".json".count)
    #expect(names.count == 1 && Int(number ?? "") != nil, "\(names)")
  }
}
