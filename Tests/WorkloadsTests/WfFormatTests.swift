import FoundationEssentials
import LaboratorySupport
import Testing

@testable import HarnessWords
@testable import Workloads

extension Workflow {
  /// T-infinity: the longest path, in seconds.
  fileprivate var criticalPathSeconds: Double { graph(scale: 1).criticalPath / 1e9 }
}

struct WfFormatTests {
  let folder = TemporaryFolder()

  /// A workflow of tasks with parents, children and runtimes.
  func document(_ tasks: [(id: String, parents: [String], children: [String])], runtimes: [(String, Double)]? = nil)
    -> String
  {
    func list(_ names: [String]) -> String { "[" + names.map { "\"\($0)\"" }.joined(separator: ",") + "]" }
    let specified = tasks.map {
      "{\"id\":\"\($0.id)\",\"name\":\"n\",\"parents\":\(list($0.parents)),\"children\":\(list($0.children))}"
    }
    let executed = (runtimes ?? tasks.map { ($0.id, 1) }).map { "{\"id\":\"\($0.0)\",\"runtimeInSeconds\":\($0.1)}" }
    return """
      {"name":"x","schemaVersion":"1.5","workflow":{"specification":{"tasks":[\(specified.joined(separator: ","))]},
       "execution":{"makespanInSeconds":1,"tasks":[\(executed.joined(separator: ","))]}}}
      """
  }

  func parse(_ text: String) throws -> Workflow {
    try WfFormat.parse(Data(text.utf8), name: "test", source: "test.json")
  }

  func complaint(_ text: String) -> Complaint? {
    do {
      _ = try parse(text)
      return nil
    } catch {
      return error as? Complaint
    }
  }

  @Test func aDiamondOutOfOrder() throws {
    let workflow = try parse(
      document(
        [("d", ["b", "c"], []), ("b", ["a"], ["d"]), ("c", ["a"], ["d"]), ("a", [], ["b", "c"])],
        runtimes: [("a", 2), ("b", 3), ("c", 5), ("d", 4)]))
    #expect(workflow.tasks.map(\.id) == ["a", "b", "c", "d"])
    #expect(workflow.tasks.map(\.parents) == [[], [0], [0], [1, 2]])
    #expect((workflow.edges, workflow.depth, workflow.widestLevel) == (4, 3, 2))
    #expect((workflow.maximalFanIn, workflow.maximalFanOut) == (2, 2))
    #expect((workflow.totalSeconds, workflow.criticalPathSeconds) == (14, 11))
    #expect(workflow.levels == [1, 2, 1])
  }

  @Test func anEdgeCountsOnceHoweverOftenItIsNamed() throws {
    let workflow = try parse(document([("a", [], ["b", "b"]), ("b", ["a", "a"], [])]))
    #expect(workflow.edges == 1)
    #expect(try parse(document([("a", [], ["b"]), ("b", [], [])])).edges == 1)
    #expect(try parse(document([("a", [], []), ("b", ["a"], [])])).edges == 1)
  }

  @Test func danglingParent() throws {
    let mistake = try #require(complaint(document([("a", ["ghost"], [])])))
    #expect(mistake.code == .badInput)
    #expect(mistake.description.contains("task 'a'") && mistake.description.contains("parent 'ghost'"))
    let child = try #require(complaint(document([("a", [], ["ghost"])])))
    #expect(child.description.contains("'ghost'") && child.description.contains("'a'"))
  }

  @Test func cycles() throws {
    let loop = try #require(
      complaint(document([("a", [], []), ("b", ["a", "d"], []), ("c", ["b"], []), ("d", ["c"], [])])))
    #expect(loop.code == .badInput && loop.description.contains("cycle"))
    // Which task of the cycle is named is open, but not that task and parent are an edge of it.
    let named = ["'b'", "'c'", "'d'"].filter(loop.description.contains)
    #expect(named.count == 2 && !loop.description.contains("'a'"))
    let mistake = try #require(complaint(document([("a", ["a"], [])])))
    #expect(mistake.description.contains("task 'a'") && mistake.description.contains("parent 'a'"))
  }

  @Test func whatElseCanBeWrong() throws {
    let texts = [
      "{", "[]", "{\"workflow\":{}}", "{\"workflow\":{\"specification\":{\"tasks\":[]},\"execution\":{}}}",
      document([]),
      document([("a", [], []), ("a", [], [])]), document([("a", [], [])], runtimes: []),
      document([("a", [], [])], runtimes: [("a", 1), ("b", 1)]),
      document([("a", [], [])], runtimes: [("a", 1), ("a", 1)]),
      document([("a", [], [])], runtimes: [("a", -1)]),
    ]
    for text in texts {
      let mistake = try #require(complaint(text), "accepted: \(text)")
      #expect(mistake.code == .badInput)
      #expect(mistake.description.hasPrefix("test.json: ") && !mistake.description.contains("\n"))
    }
  }

  @Test func otherVersionsAreNamed() throws {
    func task(_ runtime: String) -> String { "{\"name\":\"a\",\"id\":\"a\",\"parents\":[],\"\(runtime)\":1}" }
    for (text, version) in [
      ("{\"schemaVersion\":\"1.4\",\"workflow\":{\"tasks\":[\(task("runtimeInSeconds"))]}}", "1.4"),
      ("{\"schemaVersion\":\"1.3\",\"workflow\":{\"tasks\":[\(task("runtime"))]}}", "1.3"),
      ("{\"schemaVersion\":1.4,\"workflow\":{\"tasks\":[]}}", "1.4"),
      ("{\"workflow\":{\"jobs\":[\(task("runtime"))]}}", "1.4 or older"),
    ] {
      let mistake = try #require(complaint(text))
      #expect(mistake.code == .badInput)
      #expect(
        mistake.description.hasPrefix("test.json: this is WfFormat \(version), and a replay reads WfFormat 1.5: "),
        "\(mistake)")
    }
    // What says 1.5 and is not, and what is of no version at all, is told by what is missing.
    for text in ["{\"schemaVersion\":\"1.5\",\"workflow\":{}}", "{\"workflow\":{}}"] {
      #expect(
        complaint(text)?.description
          == "test.json: not a WfFormat 1.5 workflow: 'specification' is missing in workflow")
    }
    for text in ["", " \r\n"] {
      #expect(complaint(text)?.description == "test.json is empty; a replay reads a WfFormat 1.5 workflow")
    }
    #expect(complaint("nothing")?.description.hasSuffix("it is not JSON") == true)
  }

  @Test func whatOtherProgramsWriteIsNamed() throws {
    for word in ["NaN", "-Infinity"] {
      let text = document([("a", [], []), ("NaN \\\"", [], [])], runtimes: [("a", 1)])
        .replacing("\"runtimeInSeconds\":1.0", with: "\"runtimeInSeconds\":\(word)")
      let mistake = try #require(complaint(text))
      #expect(
        mistake.description.hasPrefix("test.json, line 2: \(word.drop { $0 == "-" }) is no number in JSON"),
        "\(mistake)")
    }
    // Parents and children by the name of a task.
    for (parents, children) in [(["n"], []), ([], ["n"])] {
      let mistake = try #require(complaint(document([("a", [], []), ("b", parents, children)])))
      #expect(mistake.description.contains("'n', which is no id of a task: it is the 'name' of a task"), "\(mistake)")
    }
  }

  @Test func whatAReplayDoesNotShowIsSaid() throws {
    #expect(try parse(document([("a", [], []), ("b", ["a"], [])])).remarks.isEmpty)
    let loose = try parse(document([("a", [], []), ("b", [], [])]))
    #expect(loose.remarks.count == 1 && loose.remarks[0].contains("all 2 tasks are ready at once: there is no graph"))
    #expect(try loose.replayNotes(source: "test.json", workers: 2).last == loose.remarks[0])
    let wide = document([("a", [], []), ("b", ["a"], [])])
      .replacing("\"runtimeInSeconds\":1.0", with: "\"coreCount\":4,\"runtimeInSeconds\":1.0")
    #expect(try parse(wide).remarks.map { $0.prefix(30) } == ["2 tasks had several cores; her"])
  }

  /// The name in results is the one that is compared.
  @Test func filesWhoseNamesWouldBeTheSameInResults() throws {
    let text = document([("a", [], [])])
    let names = ["a;b.json", "a=b.json", "a_b.json", "a\u{1B}b.json"].map { folder.write(text, to: $0) }
    for file in names {
      let replay = try Replay(graphs: [file], seed: 1)
      #expect(try WfFormat.read(path: file).name == "a_b")
      let parameters = try #require(replay.parameterSets().first)
      #expect(!replay.notes(parameters, workers: 1).isEmpty)
      for other in names where other != file {
        #expect { try Replay(graphs: [file, other], seed: 1) } throws: { error in
          (error as? Complaint)?.description.contains("would have the same name in the results, 'a_b'") == true
        }
      }
    }
  }

  @Test func filesThatCannotBeRead() throws {
    #expect(throws: Complaint(.noInput, "\(folder.path)/no.json: there is no such graph file")) {
      try WfFormat.read(path: "\(folder.path)/no.json")
    }
    #expect(throws: Complaint(.badInput, "\(folder.path): cannot be read as a file")) {
      try WfFormat.read(path: folder.path)
    }
    let file = folder.write(document([("a", [], [])]), to: "my graph.json")
    #expect(try WfFormat.read(path: file).name == "my graph")
  }

  @Test func runtimesThatCannotBeScaled() throws {
    for (seconds, shown) in [
      (1e308, "inf"), (1e300, "1e+300"), (1e13, "10000000000000.0"), (1e-10, "1e-10"),
      (Double.leastNonzeroMagnitude, "5e-324"),
    ] {
      let tasks = shown == "inf" ? [("a", seconds), ("b", seconds)] : [("a", seconds)]
      let file = folder.write(document(tasks.map { ($0.0, [], []) }, runtimes: tasks), to: "odd.json")
      #expect(
        throws: Complaint(
          .badInput, "\(file): all tasks together take \(shown) s; a replay takes from 1e-09 to 1000000000000.0 s")
      ) { try Replay(graphs: [file], seed: 1) }
    }
    let file = folder.write(document([("a", [], [])], runtimes: [("a", 1e-9)]), to: "short.json")
    #expect(try Replay(graphs: [file], seed: 1).parameterSets().map { $0["scale"] } == ["100000000.0"])
  }

  @Test func theGeneratedWorkflowSaysSo() throws {
    let workflow = try Workflow.generated(seed: 3)
    #expect(workflow.name == "generated-3")
    #expect(workflow.tasks.count == 147 && workflow.depth == 6)
    #expect(try Workflow.generated(seed: 3).tasks == workflow.tasks)
    #expect(try Workflow.generated(seed: 4).tasks != workflow.tasks)
  }

  @Test func theScaleHasOneDigitAndKeepsTheTime() throws {
    for seed in 1...20 as ClosedRange<UInt64> {
      let workflow = try Workflow.generated(seed: seed)
      for workers in [1, 2, 64] {
        let scale = Replay.scale(workflow, workers: workers)
        let time = workflow.graph(scale: scale).lowerBound(workers: workers)
        #expect(50e6...200e6 ~= time)
        #expect("\(scale)".filter { "123456789".contains($0) }.count <= 3)
      }
    }
  }
}

/// The real workflows beside the checkout, against the table in their README, which an independent parser made.
struct WorkflowInstancesTests {
  static let folder = Checkout.path("../shared/data/wfinstances")

  /// The rows of the README's table, by file.
  static func table() -> [[String]] {
    guard let data = FileManager.default.contents(atPath: "\(folder)/README.md") else { return [] }
    return String(decoding: data, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
      line.split(separator: "|").map { String($0).trimmed }
    }.filter { $0.count == 10 && $0[0] != "file" }
  }

  @Test(.enabled(if: !table().isEmpty, "the workflow instances are not beside this checkout"))
  func agreeWithTheTable() throws {
    let rows = Self.table()
    #expect(rows.count == 10)
    for row in rows {
      let workflow = try WfFormat.read(path: "\(Self.folder)/\(row[0]).json")
      #expect(workflow.name == row[0])
      let counts = [
        workflow.tasks.count, workflow.edges, workflow.depth, workflow.widestLevel, workflow.maximalFanIn,
        workflow.maximalFanOut,
      ]
      #expect(counts == row[1...6].map { Int($0) }, "\(row[0])")
      let total = try #require(Double(row[7]))
      let path = try #require(Double(row[8]))
      #expect(abs(workflow.totalSeconds - total) <= 0.051, "\(row[0])")
      #expect(abs(workflow.criticalPathSeconds - path) <= 0.0051, "\(row[0])")
    }
  }
}

extension String {
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
