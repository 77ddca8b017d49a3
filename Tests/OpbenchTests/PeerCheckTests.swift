import FoundationEssentials
import HarnessMeasuring
import LaboratorySupport
import TestSupport
import Testing

private let hasPython = ProcessRunner.run("python3", ["--version"], timeout: 60).ending == .exited(0)

/// `opbench peer-check` on the peer of the page *Your runtime in 200 lines*, as it is and with lies put into it.
@Suite(.ownThread, .serialized, .enabled(if: hasPython, "there is no python3 here")) struct PeerCheckTests {
  static let peer = Checkout.path("Examples/PythonPeer/peer.py")
  let folder = TemporaryFolder()

  /// Writes a copy of the peer with changes. The text that a change replaces must occur once in the peer.
  private func liar(_ changes: KeyValuePairs<String, String>) throws -> String {
    var text = String(decoding: try #require(FileManager.default.contents(atPath: Self.peer)), as: UTF8.self)
    for (right, wrong) in changes {
      #expect(text.ranges(of: right).count == 1, "'\(right)' stands in the peer once")
      text.replace(right, with: wrong)
    }
    return folder.writeProgram(text, to: "liar")
  }

  /// Checks a program. Every line that is not ok is one that is expected, and the other way about.
  private func expect(
    _ wrong: [String], of program: String, patience: Int = 60, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let outcome = ProcessRunner.run(
      BuiltOpbench.path, ["peer-check", program, "--patience", "\(patience)"], timeout: 500)
    #expect(outcome.ending == .exited(wrong.isEmpty ? 0 : 70), "\(outcome)", sourceLocation: sourceLocation)
    #expect(outcome.lines.contains { $0.hasPrefix("ok  ") } || wrong.count == 2, sourceLocation: sourceLocation)
    let lines = outcome.lines.filter { !$0.hasPrefix("ok  ") && !$0.hasSuffix("and none failed") }
    for line in lines where !wrong.contains(where: line.contains) {
      Issue.record("not expected: \(line)", sourceLocation: sourceLocation)
    }
    for words in wrong {
      #expect(lines.contains { $0.contains(words) }, "\(words) is not in \(lines)", sourceLocation: sourceLocation)
    }
  }

  /// The page promises 200 lines. A program that is none of ours runs in the blocks of the others.
  @Test func thePeerOfThePageIsWhole() throws {
    let text = String(decoding: try #require(FileManager.default.contents(atPath: Self.peer)), as: UTF8.self)
    #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 201)
    expect([], of: Self.peer)
    let run = BuiltOpbench.run(
      "run", "--peer", "python=\(Self.peer)", "--backend", "serial", "--benchmark", "forkjoin/fib join=fork;n=15",
      "--workers", "2", "--quick", "--blocks", "1", "--values", "1", "--output", "\(folder.path)/a.csv")
    #expect(run.code == 0, "\(run)")
    let rows = parseCSV(try #require(folder.read("a.csv"))).filter { $0.contains("python") }
    #expect(Set(rows.map { $0[10] }).isSuperset(of: ["ns_per_op", "cpu_ns_per_op", "speedup"]), "\(rows)")
    #expect(folder.read("a.env.json")?.contains("\"python\" : \"Python 3.") == true)
  }

  /// A benchmark that lies spoils none of the others.
  @Test func whatCannotBeIsFound() throws {
    let lies = """
          lie = request["benchmark"]
          wrong = {
              "overhead/local-add": lambda taken: taken + taken[:1],
              "overhead/contended-add": lambda taken: [[(n, u, -v, c) for n, u, v, c in one] for one in taken],
              "dependencies/fan-out": lambda taken: [[(n, u, 0, c) for n, u, v, c in one] for one in taken],
              "dependencies/diamond": lambda taken: taken[:1],
              "dependencies/tree": lambda taken: [[(n, u, v, c + 1) for n, u, v, c in one] for one in taken],
          }
          take.lie = wrong.get(lie, lambda taken: taken)
          if lie == "dependencies/fan-in":
              os.kill(os.getpid(), 11)

      """
    let program = try liar([
      "    act, keys = MODES[mode]\n": lies + "    act, keys = MODES[mode]\n",
      "enumerate(taken, 1)": "enumerate(take.lie(taken), 1)",
      "\"dependencies/fan-out\": graph, ":
        "\"overhead/local-add\": external_add, \"overhead/contended-add\": external_add, \"dependencies/fan-in\": graph, "
        + "\"dependencies/fan-out\": graph, ",
      "check(results.pop() == expected, f\"the result is not {expected}\")": "results.pop()",
      "check((found, count(root)) == (expected, tasks)": "check((found, count(root))",
    ])
    expect(
      [
        "overhead/local-add ops=10000: values, metrics and counts: it gives value 4, and was asked for 1 to 3",
        "overhead/local-add ops=10000: all else: its values are wrong",
        "overhead/contended-add ops=10000;producers=2: values, metrics and counts: it gives -",
        "overhead/contended-add ops=10000;producers=2: all else",
        "dependencies/fan-out width=400: values, metrics and counts: it gives 0 as ns_per_op: nothing takes no time",
        "dependencies/fan-out width=400: all else",
        "dependencies/diamond diamonds=45;width=8: values, metrics and counts: it gives 1 value of 3, and its budget was not",
        "dependencies/diamond diamonds=45;width=8: all else",
        "dependencies/tree leaves=256: values, metrics and counts: ns_per_op of value 1, with 2 repeats, is of 1023, not of",
        "dependencies/tree leaves=256: all else",
        "dependencies/fan-in width=1000: values, metrics and counts: the process was killed by signal 11",
        "dependencies/fan-in width=1000: all else",
        "forkjoin/fib join=fork;n=15: another sum is refused: it said 'reading 1 ns_per_op ns ",
        "forkjoin/fib join=fork;n=15: another number of tasks is refused: it said 'reading 1 ns_per_op ns ",
      ], of: program)
  }

  @Test func whatAProcessLeavesAndForgetsIsFound() throws {
    let lies = """
          lie = request["benchmark"]
          if lie == "overhead/contended-add":
              time.sleep(1000)
          if lie == "dependencies/fan-out":
              os.system("sleep 1000 >/dev/null 2>&1 &")
          if lie == "dependencies/diamond":
              os.system("setsid sleep 1000 >/dev/null 2>&1 </dev/null &")
          if lie == "overhead/local-add":
              print("so far, so good")

      """
    let program = try liar([
      "    act, keys = MODES[mode]\n": lies + "    act, keys = MODES[mode]\n",
      "\"dependencies/fan-out\": graph, ":
        "\"overhead/local-add\": external_add, \"overhead/contended-add\": external_add, \"dependencies/fan-out\": graph, ",
      // The last task of a tree is said to have run.
      "    def body(task):\n": "    def body(task):\n        if task == 510:\n            return done.append(task)\n",
      "[(\"speedup\", \"ratio\", alone * repeats / wall, repeats)]": "[]",
    ])
    expect(
      [
        "overhead/local-add ops=10000: values, metrics and counts: the process wrote 'so far, so good' among its results",
        "overhead/local-add ops=10000: all else",
        "overhead/contended-add ops=10000;producers=2: values, metrics and counts: the process did not finish in time",
        "overhead/contended-add ops=10000;producers=2: all else",
        "dependencies/fan-out width=400: values, metrics and counts: the process has ended, and left 1 process behind",
        "dependencies/fan-out width=400: all else",
        "dependencies/diamond diamonds=45;width=8: values, metrics and counts: the process has ended, and left 1 process",
        "dependencies/diamond diamonds=45;width=8: all else",
        "dependencies/tree leaves=256: values, metrics and counts: a task did not run once, or before an input",
        "dependencies/tree leaves=256: all else",
        "forkjoin/fib join=fork;n=15: values, metrics and counts: it gives no speedup",
        "forkjoin/fib join=fork;n=15: all else",
        "graph ",
      ], of: program, patience: 60)
  }

  /// Of everything that all benchmarks of a program share.
  @Test func timeAndRequestsAreLookedAt() throws {
    let program = try liar([
      "\"overhead/external-add\": external_add, ": "",
      "    \"dependencies/fan-out\": graph, \"dependencies/diamond\": graph, \"dependencies/tree\": graph,\n": "",
      "(name, unit, value / count, count)": "(name, unit, value / count / 100, count)",
      "while lead_in and measure(repeats) and": "while False and",
      "sorted(answers)[1]": "max(1, sorted(answers)[1] // 50)",
      "- start < budget": "- start < budget + 1_000_000_000",
      "    born, taken =": "    print(\"turn\", flush=True)\n    os.kill(os.getpid(), 19)\n    born, taken =",
      "except Failure as failure": "except ZeroDivisionError as failure",
    ])
    let traceback = "one line, failure: the process ended with exit code 1, its last words: Failure: "
    expect(
      [
        "forkjoin/fib join=fork;n=15: another sum is refused: the process ended with exit code 1",
        "forkjoin/fib join=fork;n=15: another number of tasks is refused: the process ended with exit code 1",
        "calibration: the runs that fill 20 ms",
        "clock: what a process says that it took passes outside of it, too: ",
        "lead-in of time: it works as long as it is told: its process lived for ",
        "budget: no value begins when it is spent: it gives 5 values with a budget of 0, and not 1",
        "turns: it stops before each value, or never: it stops 1 time for 3 values",
        "request without repeats: \(traceback)", "request place=-1: \(traceback)", "request ",
        "graphs that are wrong: it has no benchmark with a graph",
      ], of: program)
  }

  @Test func anotherVersionEndsTheCheck() throws {
    expect(
      [
        "it says its version and its benchmarks: speaks no opbench-peer 1, but said 'opbench-peer 2' when asked",
        "all else: nothing is known of the program",
      ], of: try liar(["\"opbench-peer\\t1\"": "\"opbench-peer\\t2\""]))
    expectComplaint(66, ["there is no program /no/such/program"], ["peer-check", "/no/such/program"])
    expectComplaint(64, ["--patience", "1 to 3600"], ["peer-check", Self.peer, "--patience", "0"])
    expectComplaint(64, ["--peer takes a name and a program"], ["run", "--peer", "python"])
    expectComplaint(64, ["there is a subject 'go' already"], ["run", "--peer", "go=\(Self.peer)"])
    expectComplaint(66, ["there is no program ./nowhere"], ["run", "--peer", "mine=./nowhere"])
    expectComplaint(69, ["--peer mine=/bin/true", "said nothing"], ["run", "--peer", "mine=/bin/true"])
  }
}
