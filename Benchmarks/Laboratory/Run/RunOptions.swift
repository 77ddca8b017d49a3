import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// The options of `run` that opbench and programs made with `Laboratory` share.
package struct RunOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: "Blocks: fresh processes per cell, all cells alike (default: what --until and --budget say).",
    transform: OptionNumber.count(in: OptionNumber.efforts))
  package var blocks: Int?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How narrow intervals are to become: half of their width.",
      discussion: """
        Six blocks of everything come first. Then the time goes where intervals narrow most per second, until none is wider or \
        --budget is over. (default: 5%)
        """, valueName: "share"),
    transform: OptionNumber.share)
  package var until: Double?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "How long the run may take, as 90s, 10m or 1h (default: five minutes, or a minute and a half with --quick; longer for more subjects).",
      valueName: "time"),
    transform: OptionNumber.duration)
  package var budget: Double?

  @Option(
    parsing: .unconditional, help: "Values per process.", transform: OptionNumber.count(in: OptionNumber.efforts))
  package var values: Int?

  @Flag(help: "A first look in a minute and a half, with wider intervals.")
  package var quick = false

  @OptionGroup package var place: PlaceOptions

  @Option(parsing: .unconditional, help: "The seed of every random choice.", transform: OptionNumber.seed)
  package var seed: UInt64 = 1

  @Option(
    help: "What the timed processes allocate from: \(Allocator.allCases.map(\.rawValue).joined(separator: " or ")).",
    completion: .list(Allocator.allCases.map(\.rawValue)))
  package var allocator: String = Allocator.system.rawValue

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Where to write the CSV; - is standard output.",
      discussion: """
        Without --output: to local-results/ on a terminal, to standard output when that is a file or a pipe, and then the \
        table to standard error. Nowhere when both are the same file or pipe, as with 2>&1, or when standard output is a \
        pipe and CI=true: a person reads that, and gets the table alone.
        """),
    completion: .file(extensions: ["csv"]))
  package var output: String?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Only this part of the plan, as 3/20: whole blocks, with all their subjects.",
      discussion: """
        Needs --blocks and --output FILE.csv. The seed says which blocks a shard has. Finished blocks are in FILE.csv as soon as \
        they are finished; merge puts the shards together.
        """, valueName: "k/n"),
    transform: OptionNumber.shard)
  package var shard: Shard?

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "With --shard: the file of the campaign's plan.",
      discussion: """
        The shard that begins first writes the file. A later shard whose plan is another one, as on a machine with another \
        number of CPUs, measures nothing and ends with 69.
        """, valueName: "file"),
    completion: .file(extensions: ["json"]))
  package var plan: String?

  @Flag(help: "Go on with the interrupted run of --output; the other options must be those it was begun with.")
  package var resume = false

  @Flag(help: "Replace the finished result of --output.")
  package var overwrite = false

  @Flag(help: "Say what would run and for how long, and stop.")
  package var dryRun = false

  package init() {}

  /// Complains about contradictions, and binds this process when that is asked for: to be called before anything counts
  /// the CPUs.
  package func prepare() throws {
    let hasFile = output != nil && output != Destination.standardOutputName
    if resume, !hasFile {
      throw Complaint(.usage, "--resume needs --output FILE.csv: the CSV of the run to go on with")
    }
    if overwrite, !hasFile {
      throw Complaint(.usage, "--overwrite needs --output FILE.csv: the CSV of the result to replace")
    }
    if resume, overwrite { throw Complaint(.usage, "--resume and --overwrite contradict each other: leave one out") }
    if blocks != nil, until != nil || budget != nil {
      throw Complaint(
        .usage,
        "--blocks and \(until != nil ? "--until" : "--budget") contradict each other: --blocks fixes what --until and --budget decide"
      )
    }
    if let shard {
      if until != nil || budget != nil {
        throw Complaint(
          .usage,
          "--shard \(shard) and \(until != nil ? "--until" : "--budget") contradict each other: the next block would depend on "
            + "results that other shards have; --blocks N fixes the plan")
      }
      if blocks == nil {
        throw Complaint(
          .usage,
          "--shard \(shard) needs --blocks N: a run without it decides by its results which blocks come next, and no shard "
            + "sees the results of the others")
      }
      if !hasFile, !dryRun {
        throw Complaint(.usage, "--shard \(shard) needs --output FILE.csv, which merge reads")
      }
    }
    if plan != nil, shard == nil || dryRun {
      throw Complaint(
        .usage,
        "--plan needs --shard K/N\(dryRun ? ", and a dry run fixes no plan" : ""): it is what the shards of a campaign share"
      )
    }
    if resume, dryRun { throw Complaint(.usage, "--resume and --dry-run contradict each other: leave one out") }
    try place.bind()
  }

  /// - Parameters:
  ///   - full: the effort of a run, `quick` that of a quick one, when it has no goal.
  ///   - usualSeconds: how long a run with a goal takes when the user does not say; nil: a run has a goal only when the
  ///     user gives one.
  package func effort(full: Effort, quick: Effort, usualSeconds: Double?) -> Effort {
    var effort = self.quick ? quick : full
    if let values {
      effort.values = values
      // A user who gives the number of values gets that number, however long the values take.
      effort.budget = .max
    }
    if let blocks {
      effort.blocks = blocks
      effort.longBlocks = effort.blocks
    } else if until != nil || budget != nil || usualSeconds != nil {
      let seconds = budget ?? usualSeconds ?? (self.quick ? Effort.quickBudget : Effort.fullBudget)
      effort = effort.with(goal: Goal(halfWidth: until ?? Goal.usualHalfWidth, seconds: seconds))
    }
    return effort
  }

  package func chosenAllocator() throws -> Allocator {
    guard let chosen = Allocator(rawValue: allocator) else {
      let names = Allocator.allCases.map(\.rawValue).joined(separator: " or ")
      throw Complaint(.usage, "there is no allocator '\(allocator)'; --allocator takes \(names)")
    }
    return chosen
  }

  func outputs(trace: String?) -> RunOutputs.Choice {
    RunOutputs.Choice(csv: output, trace: trace, resume: resume, overwrite: overwrite)
  }
}
