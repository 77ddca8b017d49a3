import FoundationEssentials
import Glibc
import LaboratorySupport
import Subjects
import Testing

@testable import HarnessMeasuring
@testable import HarnessWords
@testable import Workloads

/// Schedulers of other languages: programs that are given a request in words of their own and answer in the same lines.
struct PeerTests {
  static func request(
    _ name: BenchmarkName, _ parameters: Parameters, on subject: String = "tbb",
    _ mode: MeasureRequest.Mode = .time(repeats: 2, values: 3, leadIn: 0, budget: .max)
  ) -> MeasureRequest {
    MeasureRequest(
      cell: CellKey(Scenario(name, parameters), Arm(subject: subject, workers: 2)), mode: mode, seed: 7,
      spin: Spin(roundsPerMicrosecond: 12.5))
  }

  @Test func aRequestBecomesWords() throws {
    let timed = try PeerRequest(Self.request(BenchmarkName("overhead", "external-add"), ["ops": "10"]))
    #expect(timed.file == nil)
    #expect(
      timed.arguments == [
        "benchmark=overhead/external-add", "workers=2", "rounds_per_microsecond=12.5", "mode=time", "repeats=2",
        "values=3", "lead_in=0", "budget=18446744073709551615", "more=0", "param.ops=10",
      ])
    let calibration = try PeerRequest(
      Self.request(BenchmarkName("dependencies", "chain"), ["length": "5"], .calibrate(target: 20, limit: 9, leadIn: 5))
    )
    #expect(calibration.arguments.contains("mode=calibrate"))
    #expect(["target=20", "limit=9", "lead_in=5"].allSatisfy(calibration.arguments.contains))
    #expect(throws: Complaint.self) {
      try PeerRequest(Self.request(BenchmarkName("dependencies", "chain"), ["length": "5"], .count(values: 1)))
    }
  }

  @Test func onlyWhatTheWorkloadDerivesIsReported() throws {
    let request = try PeerRequest(Self.request(BenchmarkName("overhead", "external-add"), ["ops": "10"]))
    let lines = ["reading\t1\tns_per_op\tns\t5\t10\t", "end"]
    #expect(try request.answer(lines) == lines)
  }

  @Test func aGraphIsHandedOverAsItIs() throws {
    #expect(
      PeerFile.graph(TaskGraph(inputs: [[], [0], [0, 1]], nanoseconds: [0, 1.5, 2])).text == "0.0\n1.5 0\n2.0 0 1\n")
    let parameters: Parameters = [
      "pattern": "stencil_1d", "width": "4", "steps": "3", "work_ns": "1000", "imbalance": "1",
    ]
    let translated = try PeerRequest(Self.request(BenchmarkName("dependencies", "graph"), parameters))
    let graph = PatternShape(pattern: .stencil1D, width: 4, steps: 3, radix: 0, seed: 7)
      .graph(work: 1_000, imbalance: 1)
    #expect(translated.file == .graph(graph))
    #expect(translated.arguments.contains("bound_ns=\(graph.lowerBound(workers: 2))"))
  }

  @Test func aTreeIsHandedOverWithItsResult() throws {
    let fib = try PeerRequest(Self.request(BenchmarkName("forkjoin", "fib"), ["n": "10", "join": "fork"]))
    // Every call is a task: 2 * fib(11) - 1.
    #expect(fib.arguments.contains("tasks=177") && fib.arguments.contains("expected=55"))
    let uts = try PeerRequest(
      Self.request(
        BenchmarkName("forkjoin", "uts"), ["tree": "T1", "depth": "5", "cutoff": "2", "join": "fork"]))
    #expect(uts.arguments.contains("tasks=65") && uts.arguments.contains("expected=3987"))
  }

  @Test func granularityIsDerivedFromMakespans() throws {
    let request = try PeerRequest(
      Self.request(
        BenchmarkName("dependencies", "metg"), ["pattern": "trivial", "width": "4", "steps": "4", "imbalance": "0"]))
    let peaks = request.arguments.compactMap { Parameters($0)?.number("peak") }
    let peak = try #require(peaks.first)
    // Two cores and 16 tasks: each run takes its work and 1,000 ns for each task that a core runs. Whatever the peak is
    // on this machine, at this moment, the work takes that long at the peak.
    let makespans = [16_000.0, 8_000, 4_000, 2_000, 1_000, 500, 250, 125].map { busy in
      "reading\t1\tmakespan_ns\tns\t\(8 * (busy + 1_000))\t16\twork_ns=\(busy * peak)"
    }
    let answer = try request.answer(makespans + ["end"]).compactMap(ResultLine.init)
    #expect(answer.last == .end)
    let metg = answer.compactMap { line in
      if case .reading(1, let reading) = line, reading.metric == .metg(50) { reading.value } else { nil }
    }
    // Half of the time is work where a task takes 1,000 ns besides: 2,000 ns.
    #expect(metg.count == 1 && abs(metg[0] - 2_000) < 100)
    #expect(throws: (any Error).self) { try request.answer(["reading\t1\tmakespan_ns\tns\t1\t16\twork_ns=5", "end"]) }
  }

  /// A folder in which only `tbb` lies, and which says what it was given.
  static func folder() throws -> TemporaryFolder {
    let folder = TemporaryFolder()
    let program = folder.write(
      """
      #!/bin/sh
      [ "$1" = version ] && printf 'opbench-peer\\t1\\nversion\\ttbb of a test\\nbenchmark\\ta/b\\nend\\n' && exit
      for argument in "$@"; do
        case "$argument" in graph=*) lines=$(wc -l < "${argument#graph=}") ;; esac
      done
      printf 'reading\\t1\\tns_per_op\\tns\\t%d\\t1\\t\\nend\\n' "${lines:-0}"
      """, to: "tbb")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    return folder
  }

  @Test func aRequestGoesToTheProgramOfItsSubject() throws {
    let folder = try Self.folder()
    let programs = PeerPrograms(folders: ["/no/such/folder", folder.path])
    #expect(programs.program("tbb") == "\(folder.path)/tbb" && programs.program("go") == nil)
    #expect(try programs.version("tbb") == "tbb of a test" && programs.version("go") == nil)
    let launcher = PeerLauncher(programs)
    let parameters: Parameters = [
      "pattern": "no_comm", "width": "4", "steps": "3", "work_ns": "0", "imbalance": "0",
    ]
    let request = Self.request(
      BenchmarkName("dependencies", "graph"), parameters, .time(repeats: 2, values: 1, leadIn: 0, budget: .max))
    let outcome = try #require(launcher.launch(request, environment: ["TMPDIR": folder.path], timeout: 30)).toEnd()
    #expect(outcome.ending == .exited(0))
    #expect(outcome.lines.first == "reading\t1\tns_per_op\tns\t12\t1\t")
    let other = Self.request(BenchmarkName("overhead", "external-add"), ["ops": "1"], on: "stealing")
    #expect(launcher.launch(other, environment: [:], timeout: 30) == nil)
    let count = Self.request(request.name, parameters, .count(values: 1))
    let refused = try #require(launcher.launch(count, environment: [:], timeout: 30)).toEnd()
    #expect(refused.lines.first?.hasPrefix("failure\t") == true)
  }

  static func selection(_ names: String, _ programs: PeerPrograms) -> Selection {
    Selection(
      names: [names], benchmark: "external-add|rank-error", workers: [2], effort: .quick, seed: 1,
      peers: programs)
  }

  @Test func aPeerThatIsNotBuiltHasEmptyCells() throws {
    let folder = try Self.folder()
    let programs = PeerPrograms(folders: [folder.path])
    let selection = Self.selection("tbb,go,stealing", programs)
    #expect(try selection.missingPeers() == ["go"])
    let plan = try selection.plan(try Catalogue(graphs: [], seed: 1))
    let added = try #require(plan.scenarios.first { $0.scenario.name.benchmark == "external-add" })
    #expect(added.arms.map(\.subject) == ["tbb", "stealing", "foundation", "raw-dispatch"])
    #expect(added.incapable.map(\.subject) == ["go"])
    let ranked = try #require(plan.scenarios.first { $0.scenario.name.benchmark == "rank-error" })
    #expect(!ranked.arms.contains { $0.subject == "tbb" } && ranked.incapable.contains { $0.subject == "tbb" })
    #expect(!plan.countings.isEmpty && !plan.countings.contains { $0.cell.arm.subject == "tbb" })
  }

  @Test func onlyWhatAProgramHasIsRun() throws {
    let workloads = try Catalogue(graphs: [], seed: 1).workloads
    func obstacle(_ peer: String, _ name: BenchmarkName, _ parameters: Parameters = [:]) throws -> String? {
      let workload = try #require(workloads.first { $0.name == name })
      return workload.obstacle(try #require(Peer.all.first { $0.name == peer }).info, parameters)
    }
    let batch = BenchmarkName("overhead", "external-batch")
    // Batches in a form of its own, though it has no operations.
    #expect(try obstacle("tbb", batch) == nil && obstacle("rayon", batch) == nil)
    #expect(try obstacle("go", batch) == "its program has no such benchmark")
    #expect(try obstacle("java", batch) == "its program has no such benchmark")
    #expect(try obstacle("java", BenchmarkName("forkjoin", "sort"), ["elements": "10", "kind": "stable"]) == nil)
    let contended = BenchmarkName("overhead", "contended-add")
    #expect(try obstacle("starpu", contended) == nil)
    #expect(try obstacle("openmp-gcc", contended)?.contains("belongs to the team") == true)
    #expect(try obstacle("zig", contended)?.contains("the thread that adds a task runs it") == true)
    let fib = BenchmarkName("forkjoin", "fib")
    #expect(try obstacle("tbb", fib, ["n": "10", "join": "fork"]) == nil)
    #expect(try obstacle("tbb", fib, ["n": "10", "join": "counter"]) == "its program has only join=fork")
    #expect(try obstacle("starpu", fib, ["n": "10", "join": "counter"]) == nil)
    #expect(try obstacle("starpu", fib, ["n": "10", "join": "fork"]) == "it has no call that forks and joins")
    #expect(try obstacle("starpu", BenchmarkName("forkjoin", "break-even"))?.hasPrefix("a task of StarPU") == true)
    #expect(try obstacle("tbb", fib, ["n": "10", "join": "dependency"])?.hasPrefix("it has no operations") == true)
    for workload in workloads where Peer.all.contains(where: { $0.benchmarks.contains("\(workload.name)") }) {
      let isOnFlow = try obstacle("tbb-flow", workload.name) == nil
      #expect(isOnFlow == (workload.name.family == "dependencies"), "\(workload.name)")
    }
  }

  @Test func onlyPeersThatAreNotBuiltIsAMistake() throws {
    let none = PeerPrograms(folders: [])
    let complaint = #expect(throws: Complaint.self) {
      try Self.selection("rayon,go", none).plan(try Catalogue(graphs: [], seed: 1))
    }
    #expect(complaint?.code == .usage)
    for word in ["rayon is not built", "scripts/peers go", "golang-go"] {
      #expect(complaint?.description.contains(word) == true)
    }
    #expect(
      PeerPrograms.advice("citor")
        == "citor is not built: run scripts/peers --from citor=FOLDER, which needs g++ and a checkout")
    #expect(try Self.selection("all", none).missingPeers() == Peer.all.map(\.name))
  }

  @Test func onlyWhatIsAskedForRunsBesideTheStandingReferences() throws {
    let plan = try Self.selection("stealing", PeerPrograms(folders: [])).plan(try Catalogue(graphs: [], seed: 1))
    #expect(plan.arms.map(\.subject) == ["stealing", "foundation", "raw-dispatch"])
  }
}

/// Strategies of peers, written as those of our backends.
struct PeerStrategyTests {
  @Test func aStrategyIsReadAndWrittenInItsOwnOrder() throws {
    #expect(try SubjectVariant("tokio(global=08;lifo=off)").name == "tokio(lifo=off;global=8)")
    #expect(try SubjectVariant("starpu(sched=lws;backoff=32)").name == "starpu")
    #expect(try SubjectVariant("starpu()").name == "starpu")
    let subject = try #require(try SubjectRegistry.subject("openmp-gcc(wait=active)"))
    #expect(subject.name == "openmp-gcc(wait=active)" && subject.summary.hasSuffix("libgomp, with wait=active"))
    #expect(subject.role == .peer && subject.benchmarks?.isEmpty == false && !subject.reasons.isEmpty)
  }

  @Test(arguments: [
    ("go(lifo=off)", "'go' has no strategy to choose: openmp-gcc, openmp-llvm, starpu, stealing, "),
    ("tokio(fifo=off)", "there is no decision 'fifo': there are lifo, global"),
    ("tokio(lifo=maybe)", "'lifo' has no choice 'maybe': it takes on or off"),
    ("tokio(global=often)", "'global' has no choice 'often': it takes default or N (N from 1 to 1000000)"),
    ("tokio(global=0)", "'global=0' is out of range: N is from 1 to 1000000"),
    ("tokio(lifo=on;lifo=off)", "'lifo' is given twice: it takes one choice"),
    ("tokio(lifo)", "'lifo' is no decision: it takes name=choice, with ; between, such as lifo=off"),
  ])
  func aMistakeIsOneLine(_ name: String, _ words: String) {
    #expect {
      try SubjectVariant(name)
    } throws: {
      "\($0)".hasPrefix(words) && !"\($0)".contains("\n")
    }
  }

  @Test func theDefaultIsAChoice() throws {
    for peer in Peer.all {
      #expect(Set(peer.decisions.map(\.name)).count == peer.decisions.count)
      for decision in peer.decisions {
        #expect(try SubjectVariant("\(peer.name)(\(decision.name)=\(decision.usual))").name == peer.name)
      }
    }
  }

  @Test func theListingHasWhatCanBeChosen() throws {
    let listing = try Listing(try Catalogue(graphs: [], seed: 1), matching: "tokio", peers: PeerPrograms(folders: []))
    let text = ListingDetails(listing).text(width: 100)
    for words in ["--backend 'tokio(lifo=off;global=8)'", "global=default  as Tokio chooses (default)", "global=N"] {
      #expect(text.contains(words), "\(text)")
    }
  }

  /// The program of a peer is the same for all strategies, and it is told.
  @Test func aStrategyGoesToTheProgramOfThePeer() throws {
    let folder = TemporaryFolder()
    let program = folder.write("#!/bin/sh\nprintf 'failure\\t%s\\n' \"$*\"\n", to: "starpu")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    let programs = PeerPrograms(folders: [folder.path])
    #expect(programs.program("starpu(sched=eager;bind=off)") == program)
    #expect(PeerPrograms.advice("starpu(sched=eager)") == PeerPrograms.advice("starpu"))
    func told(_ subject: String) throws -> String {
      let request = PeerTests.request(BenchmarkName("overhead", "external-add"), ["ops": "10"], on: subject)
      let outcome = try #require(PeerLauncher(programs).launch(request, environment: [:], timeout: 30)).toEnd()
      return outcome.lines.joined(separator: "\n")
    }
    #expect(try told("starpu(bind=off;sched=eager)").contains(" strategy=sched=eager;bind=off "))
    #expect(try !told("starpu").contains("strategy"))
    let selection = PeerTests.selection("starpu(sched=eager),starpu,stealing", programs)
    #expect(try selection.missingPeers().isEmpty)
    let added = try #require(
      try selection.plan(try Catalogue(graphs: [], seed: 1)).scenarios
        .first { $0.scenario.name.benchmark == "external-add" })
    #expect(added.arms.map(\.subject).prefix(3) == ["starpu(sched=eager)", "starpu", "stealing"])
  }
}

/// What a program says of itself, and what its answers may be.
struct PeerProtocolTests {
  static let right = ["opbench-peer\t1", "version\tgo1.27", "only\tjoin=counter", "benchmark\tforkjoin/fib", "end"]

  @Test func aProgramSaysWhatItHas() throws {
    let said = try PeerIntroduction(lines: Self.right)
    #expect(said.version == "go1.27" && said.benchmarks == [BenchmarkName("forkjoin", "fib")])
    #expect(said.only == ["join": "counter"])
  }

  @Test(arguments: [
    ([], "speaks no opbench-peer 1, but said nothing"), (["go1.27"], "speaks no opbench-peer 1, but said 'go1.27'"),
    (["opbench-peer\t2"] + right.dropFirst(), "speaks no opbench-peer 1, but said 'opbench-peer 2'"),
    (right.dropLast(), "does not end"), ([right[0], right[3], "end"], "says no version"),
    ([right[0], right[1], "end"], "names no benchmark"),
    ([right[0], right[1], right[3], right[3], "end"], "says 'benchmark forkjoin/fib', which is neither"),
    ([right[0], right[1], "benchmark\tfib", "end"], "says 'benchmark fib', which is neither"),
  ])
  func aWrongIntroductionIsOneLine(_ lines: [String], _ words: String) {
    let mistake = #expect(throws: CheckFailed.self) { try PeerIntroduction(lines: lines) }
    #expect(mistake?.description.hasPrefix(words) == true, "\(mistake?.description ?? "")")
  }

  /// A program of another version is refused before anything is measured; its line says what to do.
  @Test func anotherVersionIsRefused() throws {
    let folder = TemporaryFolder()
    folder.writeProgram("#!/bin/sh\necho go1.27\n", to: "go")
    let complaint = #expect(throws: Complaint.self) { try PeerPrograms(folders: [folder.path]).version("go") }
    #expect(complaint?.code == .unavailable)
    #expect(complaint?.description.hasSuffix("delete it, and scripts/peers go makes it anew") == true)
  }

  static func mistake(_ lines: [String], _ mode: MeasureRequest.Mode, milliseconds: UInt64 = 100) -> String? {
    PeerAnswer.mistake(
      in: ProcessOutcome(
        ending: .exited(0), lines: lines + ["end"], lastWords: nil, nanoseconds: milliseconds * 1_000_000), to: mode)
  }

  private static func reading(_ index: Int, _ value: String = "5", count: Int = 1, metric: String = "ns_per_op")
    -> String
  {
    "reading\t\(index)\t\(metric)\tns\t\(value)\t\(count)\t"
  }

  @Test(arguments: [
    (["repeats\t0"], "gives 0 repeats"), (["repeats\t10"], "gives 10 repeats, and not one number from 1 to 9"),
    (["repeats\t3", "repeats\t3"], "gives 3, 3 repeats"),
  ])
  func aCalibrationHasOneNumber(_ lines: [String], _ words: String) {
    let mode = MeasureRequest.Mode.calibrate(target: 1, limit: 9)
    #expect(Self.mistake(lines, mode)?.hasPrefix(words) == true)
    #expect(Self.mistake(["repeats\t9"], mode) == nil)
  }

  @Test(arguments: [
    ([reading(1), reading(2), reading(3)], "gives value 3, and was asked for 1 to 2"), ([reading(0)], "gives value 0"),
    ([reading(2)], "gives no value 1"), ([reading(1)], "gives 1 value of 2, and its budget was not spent"),
    ([reading(1, "-5"), reading(2)], "gives -5.0 as ns_per_op: time goes on"),
    ([reading(1, "nan"), reading(2)], "gives nan"),
    ([reading(1, "0"), reading(2)], "gives 0 as ns_per_op: nothing takes no time"),
    ([reading(1, count: 0), reading(2)], "gives ns_per_op of 0 operations"),
    ([reading(1), reading(1), reading(2)], "gives ns_per_op twice in value 1"),
    ([reading(1), reading(2), reading(2, metric: "cpu_ns_per_op")], "does not give cpu_ns_per_op in each value"),
    ([reading(1), reading(2, "1e8", count: 3)], "says that its values took 300 ms, and lived for 100 ms"),
  ])
  func aLieIsFound(_ lines: [String], _ words: String) {
    let mode = MeasureRequest.Mode.time(repeats: 1, values: 2)
    #expect(Self.mistake(lines, mode)?.hasPrefix(words) == true, "\(Self.mistake(lines, mode) ?? "nothing found")")
  }

  @Test func theTruthIsNone() {
    #expect(Self.mistake([Self.reading(1), Self.reading(2)], .time(repeats: 1, values: 2)) == nil)
    #expect(Self.mistake([Self.reading(1)], .time(repeats: 1, values: 2, budget: 99_000_000)) == nil)
  }

  /// What a run asks is checked as the kit checks it.
  @Test func aLieIsNoNumberOfARun() throws {
    let folder = TemporaryFolder()
    folder.writeProgram("#!/bin/sh\nprintf 'reading\\t1\\tns_per_op\\tns\\t-1\\t1\\t\\nend\\n'\n", to: "go")
    let request = PeerTests.request(
      BenchmarkName("overhead", "external-add"), ["ops": "10"], on: "go", .time(repeats: 1, values: 1))
    let outcome = try #require(
      PeerLauncher(PeerPrograms(folders: [folder.path])).launch(request, environment: [:], timeout: 30)
    ).toEnd()
    #expect(outcome.lines == ["failure\tthe program of go gives -1.0 as ns_per_op: time goes on"])
  }
}

struct PeerProgramsTests {
  /// Wherever the program itself lies: a build folder elsewhere is usual.
  @Test func theCheckoutIsSearchedToo() throws {
    let folder = try #require(PeerPrograms.found().folders.last)
    #expect(folder.hasSuffix("/.build/peers"))
    #expect(access(folder.dropLast("/.build/peers".count) + "/Package.swift", R_OK) == 0)
  }
}
