import ArgumentParser
import Glibc
import HarnessGate
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// `opbench duel`: two commands in turns.
package struct DuelCommand: ParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "duel",
    abstract:
      "Compare two commands, of any language: which takes less time, CPU time and memory, and how sure that is.",
    discussion: """
      Both run in turns, in blocks of A, B and A again, until the interval of B over A is narrow enough or the time is up. \
      A against itself shows what the machine adds. A command is words with quotes, as in a terminal; one that has pipes, \
      variables or patterns is run by sh.

      Example: opbench duel 'gzip -9 -k -c data' 'zstd -19 -c data'
      """)

  @Argument(help: "The command that is compared with.") var a: String
  @Argument(help: "The command that is judged.") var b: String

  @OptionGroup(title: "How the commands run") var commands: CommandOptions

  @Option(
    parsing: .unconditional, help: "The half-width of the interval of time at which the duel ends (default: 1%).",
    transform: OptionNumber.share)
  var goal: Double?

  @Option(help: "Where to write every run, as CSV.", completion: .file(extensions: ["csv"]))
  var csv: String?

  @Option(help: "Where to write the result as JSON.", completion: .file(extensions: ["json"]))
  var json: String?

  @Option(help: "Where to write the result as Markdown.", completion: .file(extensions: ["md"]))
  var markdown: String?

  @Option(parsing: .unconditional, help: "The seed of the order in a block.", transform: OptionNumber.seed)
  var seed: UInt64 = 1

  package init() {}

  package func run() throws {
    FileCall.ignoreSignals()
    Interrupt.install()
    let progress = Progress()
    let conditions = try commands.conditions(seed: seed)
    let (first, second) = (try CommandText(a), try CommandText(b))
    let files = [csv, json, markdown].compactMap { $0 }
    guard Set(files).count == files.count else {
      throw Complaint(.usage, "--csv, --json and --markdown name the same file: give each its own")
    }
    for file in files { try ResultFiles.checkWritable(file) }
    for warning in MachineWarnings.before(isOptimised: true) { progress.say(warning) }
    let goal = goal ?? 0.01
    let began = Clock.now()
    var runner = CommandRunner(
      base: CommandSide("A", first), head: CommandSide("B", second), conditions, effects: .machine(progress))
    let judge = CommandJudge(threshold: 1 + 2 * goal)
    let outcome = Result { () throws(CommandRunner.Failure) in try runner.blocks { judge.isNarrow($0, most: $1) } }
    progress.clear()
    try GateInvocation.stopIfInterrupted()
    let blocks: [CommandRunner.Block]
    switch outcome {
    case .success(let made): blocks = made
    case .failure(let failure): throw Complaint(.unavailable, failure.reason)
    }
    guard !CommandJudge.common(blocks).isEmpty else {
      throw Complaint(.badInput, "the commands have no benchmark in common")
    }
    let report = DuelReport(
      a: a, b: b, blocks, runsPerBlock: runner.runsPerBlock, goal: goal, seconds: Double(Clock.now() - began) / 1e9,
      provenance: .here(commit: nil, command: CommandLine.arguments),
      notes: CommandNotes.notes(blocks, conditions, throughShell: runner.throughShell))
    let names = Dictionary(uniqueKeysWithValues: zip(CommandRunner.arms, ["A", "B", "A again"]))
    // An output that cannot be written must not prevent the other outputs.
    let outcomes = [
      Result { try DescriptorOutput.write(report.text, to: STDOUT_FILENO, name: "standard output") },
      Result { if let csv { try ResultFiles.replace(csv, with: DuelReport.csv(runner.runs, names: names)) } },
      Result { if let json { try ResultFiles.replace(json, with: try report.json()) } },
      Result { if let markdown { try ResultFiles.replace(markdown, with: report.markdown) } },
    ]
    for outcome in outcomes { try outcome.get() }
  }
}
