import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// Merges the shards of `simulate --shard K/N`.
struct SimulatedMerge {
  let shards: [String]
  let output: String?
  let plan: String?
  let partial: Bool
  let missing: Bool
  let overwrite: Bool

  func run() throws {
    let progress = Progress()
    let files = try ShardReading.all(shards, allowsUnreadable: missing || plan != nil, progress) {
      try SimulatedShard(path: $0)
    }
    let campaign = try SimulatedCampaign(files, plan: plan, say: progress.say)
    let lacking = campaign.missing
    if missing {
      let numbers = lacking.map { "\($0.number)" }.joined(separator: ",")
      return try DescriptorOutput.write(numbers + "\n", to: STDOUT_FILENO, name: "standard output")
    }
    let folder = shards[0].split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    for shard in lacking.prefix(MergeCommand.mostSaid) {
      progress.say("shard \(shard) is missing; this runs it: \(campaign.command(shard, folder: folder))")
    }
    if lacking.count > MergeCommand.mostSaid {
      let numbers = lacking.dropFirst(MergeCommand.mostSaid).map { "\($0.number)" }.joined(separator: ", ")
      progress.say("and shards \(numbers), with the same command and their numbers")
    }
    let words = "\(campaign.missingCellCount) of \(Count.of(campaign.cellCount, "cell")) are missing"
    guard lacking.isEmpty || partial else {
      throw Complaint(.noInput, "nothing was written: \(words); --partial merges what is there")
    }
    try campaign.write(output!, mayReplace: overwrite)
    progress.say("wrote \(output!) and its .env.json, of \(Count.of(files.count, "shard"))")
    if !lacking.isEmpty { progress.say(words) }
  }
}
