import LaboratorySupport
import TestSupport
import Testing

@testable import HarnessComparing
@testable import HarnessMeasuring
@testable import HarnessResults
@testable import HarnessWords

/// The program as a user meets it.
@Suite(.ownThread) struct CommandLineTests {
  let folder = TemporaryFolder()

  @Test func wrongNamesAndNumbers() {
    expectComplaint(64, ["'['", "regular expression"], ["run", "--benchmark", "["])
    expectComplaint(64, ["--nonsense"], ["--nonsense"])
    expectComplaint(64, ["request"], ["measure", "nonsense"])
    expectComplaint(64, ["'--quik'. Did you mean '--quick'?"], ["--quik"])
    expectComplaint(
      64, ["Please provide one of the following: table, markdown, csv"], ["compare", "a", "--format", "x"])
  }

  /// Every option with a number says which numbers it takes. A negative number is not taken for another option.
  @Test func numbersAreExplained() {
    for value in ["-1", "0", "many", "1001", "--quick", "99999999999999999999"] {
      for option in ["--blocks", "--values"] {
        expectComplaint(
          64, ["'\(value)' is invalid for '\(option) ", "it takes a count from 1 to 1000"], [option, value])
      }
    }
    for command in [["run"], ["compare", "a.csv"], ["gate"], ["validate"]] {
      for value in ["-3", "x", "1.5"] {
        expectComplaint(
          64, ["'\(value)' is invalid for '--seed", "a whole number from 0 to 18446744073709551615"],
          command + ["--seed", value])
      }
    }
    for value in ["-1", "two", "1,two", "0", "1,-2", "100000"] {
      expectComplaint(
        64, ["--workers takes counts from 1 to 1024, such as 1,2,4; not '\(value)'"], ["--workers", value])
    }
    expectComplaint(64, ["--calibrate", "30 to 1000", "'3'"], ["gate", "--calibrate", "3", "--output", "a.json"])
    expectComplaint(64, ["--runs", "1 to 10000", "'-2'"], ["gate", "--self-test", "--runs", "-2"])
    expectComplaint(64, ["--rounds", "4 to 100", "'x'"], ["validate", "--rounds", "x"])
    expectComplaint(64, ["Missing value for '--blocks"], ["--blocks"])
    for value in ["3", "0%", "101%", "-3%", "x%", "nan%"] {
      expectComplaint(
        64, ["'\(value)' is invalid for '--until", "it takes a half-width from 0.1% to 100%, such as 3%"],
        ["--until", value])
    }
    for value in ["90", "0s", "-1m", "1.5h", "10d", "m", "200h", "99999999999999999999s"] {
      expectComplaint(
        64, ["'\(value)' is invalid for '--budget", "it takes a time up to a week, such as 90s, 10m or 1h"],
        ["--budget", value])
    }
    expectComplaint(
      64, ["--blocks and --until contradict each other", "--blocks fixes what --until and --budget decide"],
      ["--blocks", "9", "--until", "3%"])
    expectComplaint(64, ["--blocks and --budget contradict"], ["--blocks", "9", "--budget", "1m"])
  }

  /// A wrong strategy is one line with the right words.
  @Test func strategiesAreExplained() {
    let wrong = [
      "stealing(own=newest)": "'own' has no choice 'newest': it takes fifo, lifo or lifo:N (N from 2 to 1000)",
      "stealing(ends=lifo)": "there is no decision 'ends': there are own, successor, run, steal, ",
      "stealing(own=lifo:1)": "'own=lifo:1' is out of range: N is from 2 to 1000",
      "stealing(own=lifo;own=fifo)": "'own' is given twice: it takes one choice",
      "stealing,threadpool(own=lifo)":
        "there is no decision 'own': there are order, locks, successor, run, waking, sleeper, search, waiting",
      "foundation(own=lifo)":
        "'foundation' has no strategy to choose: openmp-gcc, openmp-llvm, starpu, stealing, stealing-bare, threadpool, "
        + "threadpool-bare, tokio have",
      "nobody(own=lifo)": "'nobody' has no strategy to choose: openmp-gcc, ",
    ]
    for (name, says) in wrong { expectComplaint(64, ["--backend '", says], ["--backend", name, "--dry-run"]) }
    expectComplaint(64, ["there is no subject 'stealin'"], ["--backend", "stealin"])
  }

  /// Worker counts stay in their order, and each counts once.
  @Test func aWorkerCountCountsOnce() throws {
    let dry = BuiltOpbench.run(
      "--dry-run", "--benchmark", "external-add", "--workers", "4,1,4", "--backend", "stealing")
    #expect(dry.output.first?.contains("on stealing@4 stealing@1 foundation@") == true, "\(dry.output)")
  }

  /// Variants are arms like all others, under a name that says what differs from the default, in the order of
  /// decisions.
  @Test func strategiesAreSubjects() throws {
    let dry = BuiltOpbench.run(
      "--dry-run", "--benchmark", "external-add", "--workers", "2", "--backend",
      "stealing, stealing(steal=half;own=lifo),threadpool(order=fifo),stealing(own=fifo)")
    #expect(
      dry.output.first?.contains(
        "on stealing@2 stealing(own=lifo;steal=half)@2 threadpool(order=fifo)@2 foundation@2 raw-dispatch@2") == true,
      "\(dry.output)")
    let list = BuiltOpbench.run("list", "stealing")
    #expect(list.output.contains { $0.contains("own=lifo:N") && $0.contains("N from 2 to 1000") })
    #expect(list.output.contains { $0.contains("own=fifo") && $0.contains("(default)") })
    #expect(
      list.output.contains { $0.contains("priorities=ignored") && $0.contains("gives up row 20 of the contract") })
    #expect(list.output.contains { $0.contains("the default is 64") })
    #expect(list.output.allSatisfy { $0.count <= 120 })
    #expect(BuiltOpbench.run("list", "threadpool").output.contains { $0.contains("order=fifo") })
    #expect(!BuiltOpbench.run("list", "dispatch").output.contains { $0.contains("strategies") })
  }

  /// From end to end: the measuring process makes its backends with the strategy.
  @Test func aStrategyIsMeasured() throws {
    let run = BuiltOpbench.run(
      "--quick", "--blocks", "1", "--values", "1", "--backend", "stealing(own=lifo),threadpool-bare(search=us:0)",
      "--benchmark", "overhead/local", "--output", "\(folder.path)/a.csv")
    #expect(run.code == 0, "\(run.output)")
    let rows = try #require(folder.read("a.csv"))
    #expect(rows.contains(",stealing(own=lifo),"))
    #expect(rows.contains(",threadpool-bare(search=us:0),"))
    let record = try #require(try RunRecord.read(path: "\(folder.path)/a.env.json"))
    let subject = try #require(record.subjects.first { $0.name == "stealing(own=lifo)" })
    #expect(subject.givesUp == [20] && subject.summary.hasSuffix(", with own=lifo"), "\(subject)")
    #expect(subject.line.hasSuffix("with own=lifo; gives up row 20 of the contract"), "\(subject)")
    let choices = record.strategies["stealing"]?.first { $0.name == "own" }?.choices
    let choice = try #require(choices?.first { $0.text == "lifo:N" })
    #expect(choice.givesUp == [20] && choice.range == 2...1_000 && !choice.summary.contains("N from"), "\(choice)")
  }

  /// A name in the place of a command, also behind `help`.
  @Test func aNameIsNoCommand() {
    for help in [[], ["help"]] {
      for name in ["external-add", "overhead", "overhead/external-add"] {
        expectComplaint(
          64, ["no command '\(name)'; opbench run --benchmark \(name) measures"], help + [name])
      }
      expectComplaint(64, ["no command 'tbb'; opbench run --backend tbb measures"], help + ["tbb"])
      expectComplaint(64, ["'external-ad'; did you mean opbench run --benchmark external-add?"], help + ["external-ad"])
      expectComplaint(64, ["no command 'comapre'; did you mean compare?"], help + ["comapre"])
      expectComplaint(64, ["no command 'zzz'; there are run, load, queueing, ablate, explain"], help + ["zzz"])
    }
    #expect(BuiltOpbench.run("help").code == 0 && BuiltOpbench.run("help", "run").code == 0)
  }

  @Test func benchmarksThatAreNotThere() {
    expectComplaint(64, ["matches 'extenal-add'", "; did you mean external-add?"], ["--benchmark", "extenal-add"])
    expectComplaint(64, ["; did you mean overhead?"], ["--benchmark", "overhed"])
    expectComplaint(
      64, ["matches 'nothere'", "the families overhead, dependencies,", "opbench list has all"],
      ["--benchmark", "nothere"])
    expectComplaint(64, ["; did you mean stealing?"], ["list", "stealng"])
    expectComplaint(
      64, ["no parameters of external-add match 'ops=3'; opbench list external-add has"],
      ["--benchmark", "external-add ops=3"])
    expectComplaint(
      64, ["'nothere'; there are the families overhead, dependencies"],
      ["gate", "--tiers", "0", "--benchmark", "nothere"])
    expectComplaint(
      64, ["no subject 'stealng'; did you mean stealing?"], ["gate", "--tiers", "0", "--backend", "stealng"])
  }

  /// No subject disappears without a word.
  @Test func subjectsThatCannotRunAnyOfIt() {
    let command = ["--benchmark", "nested-wait", "--dry-run"]
    let some = ProcessRunner.run(
      "sh", ["-c", "\"$0\" \"$@\" 2>&1", BuiltOpbench.path, "--backend", "stealing,serial,nio"] + command, timeout: 60)
    #expect(some.ending == .exited(0))
    #expect(
      some.lines.contains {
        $0.hasPrefix("opbench: serial, nio, raw-dispatch cannot run blocking/nested-wait: it has no")
      }, "\(some.lines)")
    expectComplaint(
      64, ["nothing to measure: serial cannot run blocking/nested-wait: it has no"], ["--backend", "serial"] + command)
  }

  /// More workers than CPUs, and a reference whose workers cannot be set.
  @Test func unevenWorkersAreSaid() {
    let run = ["--blocks", "1", "--values", "1", "--quick", "--benchmark", "local-add"]
    for (options, words) in [
      (["--workers", "99"], ["99 workers on ", "they take turns on a CPU"]),
      (
        ["--one-cpu", "--workers", "2"],
        ["2 workers on 1 CPU:", "compared are stealing@2 with foundation@1", "not those of equal widths"]
      ),
    ] {
      let outcome = ProcessRunner.run(
        "sh", ["-c", "\"$0\" \"$@\" 2>&1", BuiltOpbench.path] + options + run, environment: ["CI": ""], timeout: 300)
      #expect(outcome.ending == .exited(0))
      for word in words { #expect(outcome.lines.contains { $0.contains(word) }, "\(word): \(outcome.lines)") }
      #expect(
        outcome.lines.contains { $0.contains("1 block of 5 ms + 1 value of 2 ms a process: ") }, "\(outcome.lines)")
      let dry = ProcessRunner.run(
        "sh", ["-c", "\"$0\" \"$@\" 2>&1", BuiltOpbench.path] + options + run + ["--dry-run"], timeout: 300)
      #expect(dry.ending == .exited(0))
      for word in words { #expect(dry.lines.contains { $0.contains(word) }, "\(word): \(dry.lines)") }
    }
  }

  @Test func badGraphsAndOutputsLeaveEarlierResultsAlone() throws {
    let output = folder.write("earlier", to: "a.csv")
    let dangling = folder.write(
      """
      {"workflow":{"specification":{"tasks":[{"id":"a","parents":["ghost"],"children":[]}]},
       "execution":{"tasks":[{"id":"a","runtimeInSeconds":1}]}}}
      """, to: "dangling.json")
    let empty = folder.write("", to: "empty.json")
    let before = folder.contents
    expectComplaint(66, ["no.json"], ["--graph", "\(folder.path)/no.json", "--output", output])
    expectComplaint(65, ["'a'", "'ghost'", "dangling.json"], ["--graph", dangling, "--output", output])
    expectComplaint(65, ["empty.json"], ["--graph", empty, "--output", output])
    expectComplaint(64, ["fast"], ["--backend", "fast", "--output", output])
    expectComplaint(73, ["/no/such/folder/a.csv"], ["--output", "/no/such/folder/a.csv"])
    #expect(folder.contents == before && folder.read("a.csv") == "earlier")
  }

  @Test func contradictions() {
    expectComplaint(64, ["--resume", "--output"], ["--resume"])
    expectComplaint(64, ["--resume needs --output FILE.csv"], ["--resume", "--output", "-"])
    expectComplaint(64, ["--overwrite needs --output FILE.csv"], ["--overwrite", "--output", "-"])
    expectComplaint(64, ["--resume", "--dry-run"], ["--resume", "--dry-run", "--output", "a.csv"])
    expectComplaint(66, ["nothing to resume", "/no/such/a.csv"], ["--resume", "--output", "/no/such/a.csv"])
    expectComplaint(64, ["'tcmalloc'", "system or jemalloc"], ["--allocator", "tcmalloc"])
    expectComplaint(64, [".csv", "'a.txt'"], ["--output", "a.txt"])
    for rounds in ["0", "1", "3", "101"] {
      expectComplaint(64, ["--rounds", "4 to 100", "5 %"], ["validate", "--rounds", rounds])
    }
    expectComplaint(73, ["/proc/x"], ["validate", "--rounds", "4", "--output", "/proc/x"])
  }

  /// Before any work, and with what is there as it was.
  @Test func resultsThatAreThereOrBeingWritten() throws {
    let output = folder.write("earlier", to: "a.csv")
    let run = ["--benchmark", "overhead/local", "--output"]
    expectComplaint(73, ["a.csv", "finished", "--overwrite", "--resume"], run + [output])
    expectComplaint(64, ["--resume", "--overwrite"], run + [output, "--resume", "--overwrite"])
    expectComplaint(64, ["--overwrite", "--output"], ["--overwrite"])
    _ = folder.write("earlier", to: "validate.txt")
    expectComplaint(73, ["validate.txt", "--overwrite"], ["validate", "--output", folder.path])
    let other = try ResultFiles(csv: output, mayReplace: true)
    expectComplaint(73, ["another run is writing", "a.csv"], run + [output, "--overwrite"])
    other.discard()
    #expect(folder.contents == ["a.csv", "validate.txt"] && folder.read("a.csv") == "earlier")
  }

  @Test func badResults() throws {
    let good = folder.write(Sample.csv, to: "good.csv")
    let cut = folder.write(String(Sample.csv.dropLast(7)), to: "cut.csv")
    expectComplaint(64, ["one or two", "3"], ["compare", good, good, good])
    expectComplaint(64, ["files"], ["compare"])
    expectComplaint(66, ["\(folder.path)/no.csv"], ["compare", "\(folder.path)/no.csv"])
    expectComplaint(66, [folder.path], ["compare", folder.path])
    expectComplaint(65, ["cut.csv, line 7", "cut off"], ["compare", cut])
    expectComplaint(64, ["'yaml'"], ["compare", good, "--format", "yaml"])
    for suffix in ["good", "cut"] { _ = folder.write("{", to: "\(suffix).env.json") }
    expectComplaint(65, ["good.env.json"], ["compare", good])
    _ = folder.write(try Sample.environment(), to: "good.env.json")
    expectComplaint(64, ["'nobody'", "stealing"], ["compare", good, "--reference", "nobody"])
    expectComplaint(64, ["--metric", "'('"], ["compare", good, "--metric", "("])
    expectComplaint(64, ["no metric is 'ns' as a whole; there are ns_per_op"], ["compare", good, "--metric", "ns"])
    expectComplaint(64, ["did you mean ns_per_op?"], ["compare", good, "--metric", "ns_pre_op"])
    expectComplaint(64, ["'stealng'", "did you mean stealing?"], ["compare", good, "--reference", "stealng"])
    expectComplaint(65, ["did you mean external-add?"], ["compare", good, "--benchmark", "extenal-add"])
    expectComplaint(65, ["good.csv", "'x/y'"], ["compare", good, "--benchmark", "x/y"])
    expectComplaint(65, ["no ratio"], ["compare", good, "--reference", "stealing"])
    #expect(BuiltOpbench.run("compare", good, good).code == 0)
  }

  @Test func resultsForTheGitHubAction() throws {
    let good = folder.write(Sample.csv, to: "good.csv")
    let compare = ["compare", good, "--format", "github-action-benchmark"]
    let outcome = ProcessRunner.run(BuiltOpbench.path, compare, timeout: 60)
    #expect(outcome.ending == .exited(0), "\(outcome.lastWords ?? "")")
    let text = try GitHubBenchmark.text(ResultSet.read(path: good))
    #expect(text.contains("ns_per_op") && outcome.lines == text.split(separator: "\n").map(String.init))
    expectComplaint(64, ["one CSV file"], ["compare", good, good, "--format", "github-action-benchmark"])
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completion(shell: String) {
    let script = BuiltOpbench.run("--generate-completion-script", shell)
    #expect(script.code == 0)
    for word in ["--backend", "--benchmark", "compare", "validate", "jemalloc"] {
      #expect(script.output.contains { $0.contains(word) }, "\(word)")
    }
    #expect(!script.output.contains { $0.contains("Measure one cell") })
  }

  @Test func theBenchmarksRunOnTheAllocatorThatWasAskedFor() throws {
    try #require(Jemalloc.library() != nil, "the tests need libjemalloc-dev and pkg-config")
    let arguments = [
      "--quick", "--blocks", "1", "--values", "1", "--backend", "raw-dispatch", "--benchmark", "overhead/local",
    ]
    for allocator in ["system", "jemalloc"] {
      let run = ProcessRunner.run(
        BuiltOpbench.path, arguments + ["--allocator", allocator, "--output", "\(folder.path)/\(allocator).csv"],
        timeout: 300)
      #expect(run.ending == .exited(0), "\(run.lastWords ?? "")")
      #expect(try #require(folder.read("\(allocator).env.json")).contains("\"allocator\" : \"\(allocator) ("))
    }
    let files = ["\(folder.path)/system.csv", "\(folder.path)/jemalloc.csv"]
    expectComplaint(65, ["system", "jemalloc", "--across-allocators"], ["compare"] + files)
    #expect(BuiltOpbench.run("compare", files[0], files[1], "--across-allocators").code == 0)
    // A timed process that finds itself on jemalloc unasked gives no number.
    let library = try #require(Jemalloc.library())
    let preloaded = ProcessRunner.run(
      BuiltOpbench.path, arguments, environment: ["LD_PRELOAD": library], timeout: 300)
    #expect(preloaded.ending == .exited(70))
  }

  @Test func misspeltNames() {
    expectComplaint(64, ["no command 'RUN'; did you mean run?"], ["RUN", "--quick"])
    expectComplaint(64, ["'stealng'; did you mean stealing? There are", "foundation"], ["--backend", "stealng"])
    expectComplaint(64, ["no subject 'raw_dispatch'; did you mean raw-dispatch?"], ["--backend", "raw_dispatch"])
    expectComplaint(64, ["no subject 'fast'; there are", "stealing", "foundation"], ["--backend", "fast"])
  }

  @Test func version() {
    let version = BuiltOpbench.run("--version")
    #expect(version.code == 0 && version.output.count == 1)
    #expect(version.output.first?.hasPrefix("opbench 0.") == true && version.output.first?.contains("Swift 6") == true)
  }

  @Test func theHelpOfRunSaysItsExitCodes() {
    let help = BuiltOpbench.run("run", "--help").output.joined(separator: " ")
    for code in ["0", "64", "65, 66", "69", "70", "73", "74", "130"] {
      #expect(help.contains(" \(code): "), "\(code)")
    }
  }

  @Test func listAndHelp() {
    let list = BuiltOpbench.run("list")
    #expect(list.code == 0)
    for word in ["stealing", "raw-dispatch", "graph", "list overhead"] {
      #expect(list.output.contains { $0.contains(word) }, "\(word)")
    }
    #expect(list.output.allSatisfy { $0.count <= 120 } && list.output.count <= 60)
    let narrow = ProcessRunner.run(BuiltOpbench.path, ["list"], environment: ["COLUMNS": "70"], timeout: 60)
    #expect(narrow.lines.allSatisfy { $0.count <= 70 } && narrow.lines.contains { $0.count > 60 })
    #expect(BuiltOpbench.run("list", "overhead").output.contains { $0.contains("ns_per_op (ns)") })
    #expect(BuiltOpbench.run("list", "--json").output.first == "{")
    expectComplaint(64, ["'nothing'", "families overhead,"], ["list", "nothing"])
    #expect(BuiltOpbench.run("--help").code == 0)
  }

  @Test func dryRunWritesNothing() throws {
    let run = BuiltOpbench.run(
      "--dry-run", "--backend", "all", "--benchmark", "external|late", "--output", "\(folder.path)/a.csv")
    #expect(run.code == 0 && folder.contents.isEmpty)
    #expect(run.output.contains { $0.contains("overhead/external-add ops=10000") && $0.contains("threadpool@") })
    #expect(run.output.contains { $0.contains("late-starts") && $0.contains("empty: ") && $0.contains("raw-dispatch") })
    #expect(run.output.contains { $0.contains("processes first (") })
    #expect(
      run.output.contains { $0.hasPrefix("then the time goes where intervals narrow most per second, until 5 % or ") })
    #expect(run.output.contains { $0.contains("variants left out") && $0.contains("--variants") })
    let whole = BuiltOpbench.run("--dry-run", "--benchmark", "external-batch", "--variants")
    #expect(whole.output.count { $0.hasPrefix("overhead/external-batch") } == 4)
    #expect(!whole.output.contains { $0.contains("left out") })
    let bound = BuiltOpbench.run("--dry-run", "--benchmark", "external-add", "--one-cpu")
    #expect(bound.output.first?.contains("on stealing@1 foundation@1 raw-dispatch@1") == true, "\(bound.output)")
    // Processes that take long run in few blocks, but in as many as are asked for.
    let few = BuiltOpbench.run("--dry-run", "--benchmark", "sleepers")
    #expect(few.output.contains { $0.hasPrefix("21 processes first (3 calibrate,") }, "\(few.output)")
    // What the time cannot reach is said before it is spent.
    let asked = BuiltOpbench.run("--dry-run", "--benchmark", "sleepers", "--until", "0.5%", "--budget", "1m")
    #expect(asked.output.last?.contains("half of the intervals will come to about") == true, "\(asked.output)")
    let fixed = BuiltOpbench.run("--dry-run", "--benchmark", "sleepers", "--blocks", "11")
    #expect(fixed.output.last?.hasPrefix("36 processes (3 calibrate,") == true, "\(fixed.output.suffix(1))")
  }

  /// One small run from end to end, on the subject that needs least.
  @Test func aRunWritesWhatItMeasured() throws {
    let arguments = [
      "--quick", "--blocks", "2", "--values", "2", "--backend", "raw-dispatch", "--benchmark", "overhead/local",
    ]
    let toFile = ProcessRunner.run(BuiltOpbench.path, arguments + ["--output", "\(folder.path)/a.csv"], timeout: 300)
    #expect(toFile.ending == .exited(0), "\(toFile.lastWords ?? "")")
    #expect(toFile.lines.contains { $0.contains("ns_per_op") })
    #expect(toFile.lines.allSatisfy { $0.count <= 120 || $0.contains(folder.path) })
    let verdict = try #require(toFile.lines.first { $0.hasPrefix("overhead: ") })
    #expect(verdict.contains("raw-dispatch") && verdict.contains("foundation"), "\(verdict)")
    #expect(toFile.lines.suffix(6).contains { $0.contains("opbench compare \(folder.path)/a.csv") })
    #expect(folder.contents == ["a.csv", "a.env.json"])
    let records = parseCSV(try #require(folder.read("a.csv")))
    #expect(records.first == CSV.header)
    let timed = records.filter { $0[8] == "raw-dispatch" && $0[10] == "ns_per_op" }
    #expect(timed.map { $0[2] }.sorted() == ["1", "1", "2", "2"])
    #expect(Set(timed.map { $0[3] }).count == 2)
    #expect(try #require(folder.read("a.env.json")).contains("\"schema\" : 3"))
  }
}
