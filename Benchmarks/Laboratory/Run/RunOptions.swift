import ArgumentParser
import Glibc
import Harness

/// The options of `run` that opbench and programs made with `Laboratory` share.
package struct RunOptions: ParsableArguments {
  @Option(
    help:
      "Blocks: fresh processes per cell (default: as many as five minutes allow, or a minute and a half with --quick).")
  package var blocks: Int?

  @Option(help: "Values per process.")
  package var values: Int?

  @Flag(help: "A first look in a minute and a half, with wider intervals.")
  package var quick = false

  @OptionGroup package var place: PlaceOptions

  @Option(help: "The seed of every random choice.")
  package var seed: UInt64 = 1

  @Option(
    help: "What the timed processes allocate from: \(Allocator.allCases.map(\.rawValue).joined(separator: " or ")).",
    completion: .list(Allocator.allCases.map(\.rawValue)))
  package var allocator: String = Allocator.system.rawValue

  @Option(help: "Where to write the CSV.", completion: .file(extensions: ["csv"]))
  package var output: String?

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
    if resume, output == nil {
      throw Complaint(.usage, "--resume needs --output: the CSV of the run to go on with")
    }
    if overwrite, output == nil {
      throw Complaint(.usage, "--overwrite needs --output: the CSV of the result to replace")
    }
    if resume, overwrite { throw Complaint(.usage, "--resume and --overwrite contradict each other: leave one out") }
    if resume, dryRun { throw Complaint(.usage, "--resume and --dry-run contradict each other: leave one out") }
    try place.bind()
  }

  /// Whether the user left the effort open. The program may then take less effort to keep to its time.
  package var leavesEffortOpen: Bool { blocks == nil && values == nil }

  package func effort(full: Effort, quick: Effort) throws -> Effort {
    func checked(_ value: Int, _ option: String) throws -> Int {
      guard 1...1_000 ~= value else { throw Complaint(.usage, "\(option) takes a count from 1 to 1000, not \(value)") }
      return value
    }
    var effort = self.quick ? quick : full
    if let blocks {
      effort.blocks = try checked(blocks, "--blocks")
      effort.longBlocks = effort.blocks
    }
    if let values {
      effort.values = try checked(values, "--values")
      // A user who gives the number of values gets that number, however long the values take.
      effort.budget = .max
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

  /// Carries out the plan; with `--dry-run`, prints the plan.
  package func run(_ suite: any Suite, _ plan: Plan, context: String = "", trace: String? = nil) throws {
    if dryRun { return try ResultFiles.write(DryRun(plan).text, to: STDOUT_FILENO, name: "standard output") }
    try RunJob(
      suite, plan, context: context, output: output, trace: trace, resume: resume, overwrite: overwrite
    ).run()
  }
}
