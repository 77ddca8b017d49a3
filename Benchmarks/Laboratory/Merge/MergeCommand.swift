import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// `merge`: makes one result of the shards of a plan.
package struct MergeCommand<Program: SuiteProgram>: ParsableCommand {
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "merge",
      abstract: "Put the shards of a campaign together, and say what is missing.",
      discussion: """
        Takes the files of one command with --shard K/N. The plan says what is missing, whatever a scheduler says of its jobs. Nothing is \
        written while a process is missing, unless --partial is given.

        Exit code 0: all is there, and written. 64: the command line is wrong. 65: files do not belong together, or one is cut \
        off. 66: something is missing; the lines above say what, with the command for it. 73: the output cannot be written there.
        """)
  }

  @Argument(help: "The shards: results of one command with --shard.", completion: .file(extensions: ["csv"]))
  var shards: [String]

  @Option(help: "Where to write the merged CSV.", completion: .file(extensions: ["csv"]))
  var output: String?

  @Option(
    help: ArgumentHelp(
      "The plan of the campaign, as run --shard K/N --plan FILE has fixed it: a shard that does not belong to it counts as missing.",
      valueName: "file"),
    completion: .file(extensions: ["json"]))
  var plan: String?

  @Flag(help: "Merge what is there, and say what is missing.")
  var partial = false

  @Flag(help: "Only print the numbers of the shards that are not whole, with commas, and write nothing.")
  var missing = false

  @Flag(help: "Replace the result of --output.")
  var overwrite = false

  package init() {}

  /// The most shards for which a line says what is missing.
  private static var mostSaid: Int { 10 }

  package func run() throws {
    guard missing || output != nil else {
      throw Complaint(.usage, "merge needs --output FILE.csv, or --missing to say only what is missing")
    }
    if missing, output != nil || partial || overwrite {
      throw Complaint(.usage, "--missing writes nothing: leave --output, --partial and --overwrite out")
    }
    try checkNames()
    let progress = Progress()
    let fixed = try plan.map { (facts: try CampaignPlan.read($0), path: $0) }
    let files = try files(fixed: fixed != nil, progress)
    let campaign = try Campaign(files, plan: fixed, say: progress.say)
    for line in campaign.clockComplaints() + campaign.uncounted + campaign.failures { progress.say(line) }
    let lacking = campaign.missing
    if missing {
      let numbers = lacking.map { "\($0.shard.number)" }.joined(separator: ",")
      return try DescriptorOutput.write(numbers + "\n", to: STDOUT_FILENO, name: "standard output")
    }
    say(lacking, campaign, progress)
    let count = lacking.reduce(0) { $0 + $1.missing.count }
    let words =
      "\(count) of \(Count.of(campaign.processes, campaign.stepNoun)) are missing, of \(Count.of(lacking.count, "shard"))"
    guard lacking.isEmpty || partial else {
      throw Complaint(.noInput, "nothing was written: \(words); --partial merges what is there")
    }
    try write(campaign, isWhole: lacking.isEmpty, progress)
    if !lacking.isEmpty { progress.say(words) }
  }

  /// Reads the shards.
  /// - Parameter fixed: whether the plan of the campaign is known. A shard that cannot be read is then said and left
  ///   out: it has to run again. It may be the only one, because the plan says what has to run.
  private func files(fixed: Bool, _ progress: Progress) throws -> [ShardFile] {
    var files: [ShardFile] = []
    for path in shards {
      do {
        files.append(try ShardFile(path: path, forms: Program.suite.rowForms))
      } catch  where missing || fixed {
        progress.say("\((error as? Complaint)?.description ?? "\(path): \(error)")")
      }
    }
    guard fixed || !files.isEmpty else { throw Complaint(.badInput, "none of these files is a shard") }
    return files
  }

  private func checkNames() throws {
    var seen: Set<String> = []
    for path in shards where !seen.insert(place(path)).inserted { throw Complaint(.usage, "\(path) is given twice") }
    if let output, seen.contains(place(output)) {
      throw Complaint(.usage, "--output \(output) is one of the shards: name another file")
    }
  }

  private func place(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private func say(_ lacking: [MissingShard], _ campaign: Campaign, _ progress: Progress) {
    let folder = shards[0].split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let arguments = campaign.arguments ?? [ProgramName.own, "run"]
    for one in lacking.prefix(Self.mostSaid) {
      progress.say("\(one.text); this runs it: \(one.command(arguments, folder: folder))")
    }
    if lacking.count > Self.mostSaid {
      let numbers = lacking.dropFirst(Self.mostSaid).map { "\($0.shard.number)" }.joined(separator: ", ")
      progress.say("and shards \(numbers), with the same command and their numbers")
    }
  }

  private func write(_ campaign: Campaign, isWhole: Bool, _ progress: Progress) throws {
    guard !campaign.files.isEmpty else { throw Complaint(.badInput, "none of these files is a shard of the campaign") }
    let merged = MergedResult(campaign, isWhole: isWhole)
    guard !merged.rows.isEmpty else { throw Complaint(.badInput, "the shards have no rows") }
    let files = try ResultFiles(csv: output!, header: merged.header, mayReplace: overwrite)
    let record = try merged.record.json()
    do {
      try files.begin(environment: record, keeping: merged.lines)
      try files.publish(environment: record)
    } catch {
      files.discard()
      throw error
    }
    let machines = Machines(
      hosts: Set(merged.rows.map(\.host)).subtracting([""]), sittings: merged.record.machines)
    progress.say(
      "wrote \(output!) and its .env.json: \(Count.of(merged.rows.count, "row")) of \(Count.of(campaign.files.count, "shard"))"
        + (machines.text.map { ", \($0)" } ?? ""))
  }
}
