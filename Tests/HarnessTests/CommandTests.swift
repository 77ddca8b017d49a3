import Glibc
import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessGate
@testable import HarnessMeasuring
@testable import HarnessWords

/// Commands of any language: how they are read, run in turns, and judged.
struct CommandTests {
  private func words(_ text: String) throws -> [String]? { try CommandText(text).words }

  @Test func wordsAreThoseOfAShell() throws {
    #expect(try words("sort -n data") == ["sort", "-n", "data"])
    #expect(try words(#"  a 'b c' "d \" e" f\ g '' "#) == ["a", "b c", "d \" e", "f g", ""])
    #expect(try words(#"a"b"'c'd"#) == ["abcd"])
    #expect(try words(#"echo '$x | *' "a;b" "c\d""#) == ["echo", "$x | *", "a;b", #"c\d"#])
    for shell in ["a | b", "a >f", "echo $x", "echo \"$x\"", "ls *", "X=1 a", "(a)", "a; b", "a\nb", "'' a", "~/a"] {
      #expect(try words(shell) == nil, "\(shell)")
    }
    // What stands behind the program may have a =.
    #expect(try words("dd if=a of=b") == ["dd", "if=a", "of=b"])
    let piped = try CommandText("a | b")
    #expect(piped.arguments(throughShell: false) == ["sh", "-c", "a | b"])
    #expect(try CommandText("a 'b c'").arguments(throughShell: true) == ["sh", "-c", "a 'b c'"])
    for wrong in ["", "  \t", "a 'b", "a \"b", #"a b\"#, "a\0b"] {
      #expect(throws: Complaint.self, "\(wrong)") { try CommandText(wrong) }
    }
  }

  // MARK: - Readers

  private func read(_ reader: NumberReader, _ text: String) throws(NumberReader.Problem) -> [String: Double] {
    let numbers = try reader.numbers(in: Array(text.utf8))
    return Dictionary(uniqueKeysWithValues: numbers.map { ("\($0.key.name)|\($0.key.metric.unit)", $0.value) })
  }

  private func problem(_ reader: NumberReader, _ text: String) -> String? {
    do throws(NumberReader.Problem) {
      _ = try read(reader, text)
      return nil
    } catch { return error.words }
  }

  @Test func googleBenchmark() throws {
    let runs = """
      2026-11-28T10:00:00+00:00 Running ./bench
      {"context": {"num_cpus": 2}, "benchmarks": [
        {"name": "sort/8", "run_name": "sort/8", "run_type": "iteration", "real_time": 1.5, "cpu_time": 9, "time_unit": "us"},
        {"name": "sort/8", "run_name": "sort/8", "run_type": "iteration", "real_time": 2.5, "cpu_time": 9, "time_unit": "us"},
        {"name": "sort/8", "run_name": "sort/8", "run_type": "iteration", "real_time": 9, "cpu_time": 9, "time_unit": "us"},
        {"name": "sort/8_mean", "run_name": "sort/8", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 7,
         "time_unit": "us"}]}
      """
    #expect(try read(.googleBenchmark, runs) == ["sort/8|ns": 2_500])
    let aggregates = """
      {"benchmarks": [
        {"name": "a_mean", "run_name": "a", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 1, "time_unit": "ms"},
        {"name": "a_median", "run_name": "a", "run_type": "aggregate", "aggregate_name": "median", "real_time": 2, "time_unit": "ms"}]}
      """
    #expect(try read(.googleBenchmark, aggregates) == ["a|ns": 2e6])
    let failed = #"{"benchmarks": [{"name": "a", "error_occurred": true, "error_message": "no file"}]}"#
    #expect(problem(.googleBenchmark, failed) == "says that a failed: no file")
    for wrong in ["", "a 1 ns", "{", "{}", #"{"benchmarks": []}"#, #"{"benchmarks": [{"title": 1}]}"#, "[1]"] {
      #expect(problem(.googleBenchmark, wrong)?.contains("--benchmark_format=json") == true, "\(wrong)")
    }
  }

  @Test func criterion() throws {
    let messages = """
      Compiling bench v0.1.0
      {"reason":"benchmark-complete","id":"fib 20","typical":{"estimate":30,"unit":"us"},"median":{"estimate":25,"unit":"us"}}
      {"reason":"benchmark-complete","id":"fib 10","typical":{"estimate":300,"unit":"ns"}}
      {"reason":"group-complete","group_name":"fib"}
      """
    #expect(try read(.criterion, messages) == ["fib 20|ns": 25_000, "fib 10|ns": 300])
    #expect(problem(.criterion, "{}")?.contains("benchmark-complete") == true)
    let folder = TemporaryFolder()
    for (name, time) in [("fib/20", 12.5), ("sort", 3.5)] {
      _ = ProcessRunner.run("mkdir", ["-p", "\(folder.path)/\(name)/new", "\(folder.path)/\(name)/base"], timeout: 60)
      _ = folder.write(
        #"{"median":{"point_estimate":\#(time)},"mean":{"point_estimate":1}}"#, to: "\(name)/new/estimates.json")
      _ = folder.write("old", to: "\(name)/base/estimates.json")
    }
    let numbers = try NumberReader.criterion.numbers(inFolder: folder.path)
    #expect(Set(numbers.map { "\($0.key.name) \($0.value)" }) == ["fib/20 12.5", "sort 3.5"])
    #expect(throws: NumberReader.Problem.self) { try NumberReader.criterion.numbers(inFolder: "\(folder.path)/none") }
    _ = folder.write("{", to: "sort/new/estimates.json")
    #expect(
      throws: NumberReader.Problem(words: "left sort/new/estimates.json, which is no file of estimates of Criterion")
    ) {
      try NumberReader.criterion.numbers(inFolder: folder.path)
    }
  }

  @Test func linesOfGoAndOfNumbers() throws {
    let go = """
      goos: linux
      BenchmarkSort-2      \t     1000\t   1500 ns/op\t  64 B/op\t   2 allocs/op
      BenchmarkSort-2      \t     1000\t   2500 ns/op\t  64 B/op\t   2 allocs/op
      BenchmarkCopy-2   200   10.5 ns/op   95.25 MB/s
      BenchmarkBroken
      PASS
      """
    #expect(
      try read(.go, go) == [
        "BenchmarkSort-2|ns": 2_000, "BenchmarkSort-2|bytes": 64, "BenchmarkSort-2|allocs/op": 2,
        "BenchmarkCopy-2|ns": 10.5, "BenchmarkCopy-2|bytes/s": 95.25e6,
      ])
    #expect(problem(.go, "PASS\nok x 1.2s\n") == "printed no line of a benchmark, as go test -bench does")
    let lines = """
      starting up
      parse small file  12.5 ms
      rss 3 MiB
      rate 7 items/s
      odd nan ns
      odd -1 ns
      odd 1e999 ns
      """
    #expect(
      try read(.lines, lines) == ["parse small file|ns": 12.5e6, "rss|bytes": 3_145_728, "rate|items/s": 7])
    #expect(problem(.lines, "one two\n") != nil)
    let hyperfine =
      #"{"results": [{"command": "a b", "mean": 0.5, "median": 0.25, "times": [1]}, {"command": "c", "mean": 2}]}"#
    #expect(try read(.hyperfine, hyperfine) == ["a b|ns": 2.5e8, "c|ns": 2e9])
    #expect(problem(.hyperfine, #"{"version": 2}"#)?.contains("hyperfine --export-json") == true)
  }

  // MARK: - Runs in turns

  /// Commands that only exist here.
  private final class FakeCommands {
    /// The time of a run in nanoseconds, by the command and how many ran before.
    var time: (String, Int) -> Double = { _, _ in 1e8 }
    var ending: (String, Int) -> Ending = { _, _ in .exited(0) }
    var output: (String) -> String = { _ in "" }
    var isCrowded: (Int) -> Bool = { _ in false }
    var launched: [CommandLaunch] = []
    var said: [String] = []
    var interruptedAfter = Int.max
    private var clock = 0.0
    private var watched = 0

    func runner(_ conditions: CommandConditions, _ base: String = "old", _ head: String = "new") throws -> CommandRunner
    {
      CommandRunner(
        base: CommandSide("base", try CommandText(base)), head: CommandSide("head", try CommandText(head)), conditions,
        effects: CommandEffects(
          run: { launch, _, _ in
            let name = launch.words.last!
            let nanoseconds = self.time(name, self.launched.count)
            let ending = self.ending(name, self.launched.count)
            self.launched.append(launch)
            self.clock += nanoseconds
            var usage = ProcessUsage()
            (usage.cpuSeconds, usage.peakBytes) = (nanoseconds / 1e9, 1e6)
            return (
              ProcessOutcome(
                ending: ending, lines: [], lastWords: "oh", nanoseconds: UInt64(nanoseconds), usage: usage),
              Array(self.output(name).utf8)
            )
          },
          watch: {
            self.watched += 1
            let index = self.watched
            return { _ in self.isCrowded(index) }
          }, showProgress: { _, _, _ in }, isInterrupted: { self.launched.count >= self.interruptedAfter },
          now: { UInt64(self.clock) }, say: { self.said.append($0) }))
    }

    func findings(_ conditions: CommandConditions = CommandConditions()) throws -> (
      findings: [GateFinding], notes: [String]
    ) {
      var runner = try runner(conditions)
      let judge = CommandJudge(threshold: 1.02)
      return try judge.findings(try runner.blocks { judge.isDone($0, most: $1) })
    }

    func verdict(_ metric: Metric) throws -> GateVerdict? {
      try findings().findings.first { $0.metric == metric.name }?.verdict
    }
  }

  @Test func equalsPassAndSlowdownsAreRegressions() throws {
    let fake = FakeCommands()
    #expect(try fake.verdict(NamedNumber.wall) == .pass)
    #expect(fake.launched.count == 2 + 3 * (6 * 2 - 1), "six blocks of two runs of each, but for the first")
    fake.time = { name, index in (name == "new" ? 1.03e8 : 1e8) + Double(index % 5) * 1e5 }
    #expect(try fake.verdict(NamedNumber.wall) == .regression)
    #expect(try fake.verdict(NamedNumber.cpu) == .pass, "3 % of the CPU time are within 5 %")
    fake.time = { name, _ in name == "new" ? 0.9e8 : 1e8 }
    #expect(try fake.verdict(NamedNumber.wall) == .improvement)
    #expect(try fake.verdict(NamedNumber.peak) == .pass)
  }

  @Test func theBudgetIsKeptAndFewBlocksAreInconclusive() throws {
    let fake = FakeCommands()
    fake.time = { _, index in index.isMultiple(of: 2) ? 1e8 : 2e8 }
    var conditions = CommandConditions()
    conditions.budget = 30
    let noisy = try fake.findings(conditions).findings[0]
    #expect(noisy.verdict == .inconclusive || noisy.verdict == .pass)
    #expect(Double(fake.launched.count) * 1.5e8 <= 31e9)
    let slow = FakeCommands()
    slow.time = { _, _ in 5e9 }
    conditions.budget = 40
    let found = try slow.findings(conditions).findings[0]
    #expect(found.verdict == .inconclusive && found.reason == "2 blocks instead of 6", "\(found)")
  }

  @Test func crowdedBlocksDoNotCount() throws {
    let fake = FakeCommands()
    fake.time = { name, _ in name == "new" ? 2e8 : 1e8 }
    fake.isCrowded = { !$0.isMultiple(of: 3) }
    let found = try fake.findings().findings[0]
    #expect(found.verdict == .inconclusive && found.reason?.contains("lost CPU time to others") == true, "\(found)")
  }

  /// What the ticks of two CPUs say in a block of one second, when a command took that long of one CPU.
  @Test func othersCountWhereNoCPUIsIdle() {
    let hertz = Double(sysconf(Int32(_SC_CLK_TCK)))
    let cpus = Double(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    func isCrowded(others: Double, idle: Double, stolen: Double = 0) -> Bool {
      // Everything in seconds of CPU time; the command takes all that is left.
      let ours = cpus - others - idle - stolen
      let end = SystemLoad(
        ticks: cpus * hertz, stolen: stolen * hertz, idle: idle * hertz, pressure: nil, swapped: nil)
      return end.isCrowded(since: SystemLoad(ticks: 0, stolen: 0, pressure: nil, swapped: nil), ours: ours)
    }
    #expect(isCrowded(others: 0.5, idle: 0) && isCrowded(others: 0.5, idle: 0.4))
    #expect(!isCrowded(others: 0.5, idle: 0.6) && !isCrowded(others: 0.05, idle: 0) && !isCrowded(others: 0, idle: 0))
    #expect(!isCrowded(others: 0, idle: 0, stolen: 0.5), "what other guests took is judged as stolen time")
    let still = SystemLoad(ticks: 0, stolen: 0, pressure: nil, swapped: nil)
    #expect(!still.isCrowded(since: still, ours: 0))
  }

  @Test func shortCommandsRunOftenInABlock() throws {
    let fake = FakeCommands()
    fake.time = { _, _ in 1e6 }
    var runner = try fake.runner(CommandConditions())
    let blocks = try runner.blocks { blocks, _ in blocks.count >= 6 }
    #expect(runner.runsPerBlock == 100 && blocks.count == 6)
    #expect(runner.runs.count == 3 + 5 * 300)
    #expect(Set(runner.runs.map(\.arm)) == ["base", "head", "base again"])
  }

  @Test func whatFails() throws {
    func failure(_ change: (FakeCommands) -> Void, _ conditions: CommandConditions = CommandConditions()) throws
      -> CommandRunner.Failure?
    {
      let fake = FakeCommands()
      change(fake)
      var runner = try fake.runner(conditions)
      do throws(CommandRunner.Failure) {
        _ = try runner.blocks { blocks, _ in blocks.count >= 6 }
        return nil
      } catch { return error }
    }
    let code = try failure { $0.ending = { name, index in name == "new" && index > 20 ? .exited(3) : .exited(0) } }
    #expect(code == .init(isBase: false, reason: "head: 'new' ended with exit code 3, its last words: oh"))
    let killed = try failure { $0.ending = { name, _ in name == "old" ? .signalled(11) : .exited(0) } }
    #expect(killed == .init(isBase: true, reason: "base: 'old' was killed by signal 11, its last words: oh"))
    let absent = try failure { $0.ending = { _, _ in .notStarted(ENOENT) } }
    #expect(absent == .init(isBase: true, reason: "base: there is no program 'old'"))
    var any = CommandConditions()
    any.mayFail = true
    #expect(try failure({ $0.ending = { _, _ in .exited(3) } }, any) == nil)
    #expect(try failure({ $0.ending = { _, _ in .signalled(11) } }, any) != nil, "a crash is none of the exit codes")
    var same = CommandConditions()
    same.comparesOutput = true
    #expect(try failure({ $0.output = { _ in "1\n" } }, same) == nil)
    let differs = try failure({ $0.output = { "same\n\($0)\n" } }, same)
    #expect(differs == .init(isBase: false, reason: "head: printed 'new' where the first run printed 'old'"))
    let shorter = try failure({ $0.output = { $0 == "old" ? "a\nb\n" : "a\n" } }, same)
    #expect(shorter == .init(isBase: false, reason: "head: printed nothing more where the first run printed 'b'"))
  }

  @Test func preparationWarmUpAndInput() throws {
    let fake = FakeCommands()
    var conditions = CommandConditions()
    conditions.prepare = try CommandText("clean | all")
    conditions.warmUps = 3
    conditions.input = "/data"
    var runner = try fake.runner(conditions)
    let blocks = try runner.blocks { blocks, _ in blocks.count >= 6 }
    #expect(blocks.count == 6)
    let prepared = fake.launched.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
    #expect(prepared.allSatisfy { $0.words == ["sh", "-c", "clean | all"] && $0.input == nil })
    let commands = fake.launched.enumerated().filter { !$0.offset.isMultiple(of: 2) }.map(\.element)
    #expect(commands.allSatisfy { ["old", "new"].contains($0.words[0]) && $0.input == "/data" && !$0.keepsOutput })
    #expect(commands.prefix(6).map(\.words[0]) == ["old", "new", "old", "new", "old", "new"])
    #expect(commands.count == 6 + runner.runs.count)
    // When one needs a shell, both get one.
    var shelled = try fake.runner(CommandConditions(), "old", "new | cat")
    fake.launched = []
    _ = try shelled.blocks { _, _ in true }
    #expect(fake.launched.allSatisfy { $0.words.prefix(2) == ["sh", "-c"] })
  }

  @Test func anInterruptEndsTheBlocks() throws {
    let fake = FakeCommands()
    fake.interruptedAfter = 25
    var runner = try fake.runner(CommandConditions())
    let blocks = try runner.blocks { _, _ in false }
    #expect(fake.launched.count == 25 && blocks.count == 4)
  }

  @Test func numbersOfOneSideAreSaid() throws {
    let fake = FakeCommands()
    fake.output = { $0 == "old" ? "a 1 ns\ngone 2 ns\nzero 0 ns\n" : "a 1 ns\nnew 3 ns\nzero 1 ns\n" }
    var conditions = CommandConditions()
    conditions.reader = .lines
    let found = try fake.findings(conditions)
    #expect(found.findings.map(\.benchmark) == ["a"])
    #expect(
      found.notes == [
        "zero time is 0 on one side alone, so there is no ratio",
        "gone is gone: the base has it, and the head has not", "new is new: the base has no such benchmark",
      ])
    var runner = try fake.runner(conditions)
    let strict = CommandJudge(threshold: 1.02, failsOnMissing: true)
    let all = try strict.findings(try runner.blocks { strict.isDone($0, most: $1) })
    #expect(all.findings.first { $0.benchmark == "gone" }?.verdict == .regression)
    let chosen = CommandJudge(threshold: 1.02) { $0 == "none" }
    let blocks = try runner.blocks { blocks, _ in blocks.count >= 6 }
    #expect(throws: Complaint.self) { try chosen.findings(blocks) }
  }

  /// Of a rate less is worse, and the report shows the ratio of the numbers.
  @Test func ratesAreWorseWhenTheyFall() throws {
    let fake = FakeCommands()
    fake.output = { $0 == "old" ? "a 100 items/s" : "a 90 items/s" }
    var conditions = CommandConditions()
    conditions.reader = .lines
    let finding = try fake.findings(conditions).findings[0]
    #expect(finding.verdict == .regression && finding.change == "x0.900 [0.900, 0.900]")
    #expect(
      GateScale.rate.effect(90, 100)! > 0 && abs(GateScale.rate.shown(GateScale.rate.effect(90, 100)!) - 0.9) < 1e-9)
    #expect(
      GateScale.difference.effect(0, 0) == 0 && GateScale.ratio.effect(0, 0) == 0 && GateScale.ratio.effect(1, 0) == nil
    )
  }

  @Test func aDuelSaysWhatIsSure() throws {
    func report(_ fake: FakeCommands, budget: Double = 30) throws -> DuelReport {
      var conditions = CommandConditions()
      conditions.budget = budget
      var runner = try fake.runner(conditions)
      let judge = CommandJudge(threshold: 1.02)
      let blocks = try runner.blocks { judge.isNarrow($0, most: $1) }
      return DuelReport(
        a: "old", b: "new", blocks, runsPerBlock: runner.runsPerBlock, goal: 0.01, seconds: 1,
        provenance: GateFilesTests.provenance, notes: [])
    }
    let fake = FakeCommands()
    #expect(try report(fake).verdict == .same)
    fake.time = { name, index in (name == "new" ? 2e8 : 1e8) + Double(index % 7) * 1e5 }
    let slower = try report(fake)
    #expect(
      slower.verdict == .more && slower.answer.hasPrefix("A is faster: B takes 2.00 times as long"), "\(slower.answer)")
    fake.time = { name, index in (name == "new" ? 0.9e8 : 1e8) + Double(index % 7) * 1e5 }
    let faster = try report(fake)
    #expect(faster.verdict == .less && faster.answer.hasPrefix("B takes x0."), "\(faster.answer)")
    #expect(faster.text.contains("A: old\nB: new\n") && faster.markdown.contains("| wall_ns | "))
    fake.isCrowded = { _ in true }
    let crowded = try report(fake, budget: 15)
    #expect(crowded.verdict == .inconclusive && crowded.answer.contains("lost CPU time to others"), "\(crowded.answer)")
    fake.isCrowded = { _ in false }
    fake.time = { _, _ in 5e9 }
    #expect(try report(fake, budget: 40).answer == "inconclusive: 2 blocks instead of 6; --budget gives more time")
  }
}

/// What the kernel says of a command.
@Suite(.ownThread) struct CommandProcessTests {
  private func run(_ words: String..., change: (inout CommandLaunch) -> Void = { _ in }) -> (
    outcome: ProcessOutcome, output: String
  ) {
    var launch = CommandLaunch(words)
    launch.keepsOutput = true
    change(&launch)
    let (outcome, output) = ProcessRunner.run(launch, timeout: 60)
    return (outcome, String(decoding: output, as: UTF8.self))
  }

  @Test func folderInputEnvironmentAndOutput() throws {
    let folder = TemporaryFolder()
    let file = folder.write("hello\n", to: "in")
    let (outcome, output) = run("sh", "-c", "pwd; cat; echo $MINE; echo no >&2") {
      $0.folder = folder.path
      $0.input = file
      $0.environment = ["MINE": "yes"]
    }
    #expect(outcome.ending == .exited(0) && output == "\(folder.path)\nhello\nyes\n" && outcome.lastWords == "no")
    #expect(run("sh", "-c", "echo unseen") { $0.keepsOutput = false }.output == "")
    // Nothing waits for a user.
    #expect(run("cat").output == "")
    #expect(run("sh", "-c", "exec 2>/dev/null; read x </dev/tty || echo none").output == "none\n")
    #expect(
      run("/no/such").outcome.ending == .notStarted(ENOENT) && run("nosuch").outcome.ending == .notStarted(ENOENT))
    #expect(run("true") { $0.folder = "/no/such" }.outcome.ending == .notStarted(ENOENT))
    #expect(run("true") { $0.input = "/no/such" }.outcome.ending == .notStarted(ENOENT))
    folder.writeProgram("#!/bin/sh\necho own\n", to: "own")
    #expect(run("./own") { $0.folder = folder.path }.output == "own\n", "a path is one of the folder")
  }

  @Test func usageIsThatOfTheProgram() throws {
    let big = run("sh", "-c", "head -c 100000000 /dev/zero | tail -c 100000000 >/dev/null; :").outcome.usage
    #expect(big.peakBytes > 9e7 && big.cpuSeconds > 0 && big.voluntarySwitches > 0)
    // What this process holds when it makes the command is the least that a command is seen to have, and no more.
    let small = run("true").outcome.usage.peakBytes
    #expect(small > 0 && small < ProcessUsage.own.peakBytes + 1e8)
  }

  @Test func whatIsLeftOfItsGroupIsKilled() throws {
    let folder = TemporaryFolder()
    let (outcome, _) = run("sh", "-c", "sleep 300 >/dev/null 2>&1 & echo $! >\(folder.path)/id")
    #expect(outcome.ending == .exited(0) && outcome.isOutputHeld)
    let identifier = try #require(pid_t(folder.read("id")?.split(separator: "\n").first ?? ""))
    for _ in 0..<1_000 where kill(identifier, 0) == 0 { usleep(10_000) }
    #expect(kill(identifier, 0) != 0)
    #expect(!run("true").outcome.isOutputHeld)
  }

  @Test func theTimeEndsWithTheProgram() throws {
    // The reader waits for what holds the outputs; that time is not the program's.
    let began = Clock.now()
    let (outcome, _) = run("sh", "-c", "setsid sleep 2 & exit 0")
    #expect(outcome.isOutputHeld && Clock.now() - began >= outcome.nanoseconds + WatchedProcess.patience)
  }
}
