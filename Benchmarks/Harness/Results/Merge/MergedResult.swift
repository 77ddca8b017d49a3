/// The rows of all shards, and one record that keeps what the shards' records say of their machines.
package struct MergedResult: Sendable {
  package let header: [String]
  package let rows: [ShardRow]
  package let record: RunRecord

  /// - Parameter isWhole: whether no process of the plan is missing.
  package init(_ campaign: Campaign, isWhole: Bool) {
    header = campaign.files[0].form.header
    rows = campaign.inOrder(campaign.files.flatMap(\.rows))
    let records = campaign.files.map(\.record)
    var merged = records[0]
    merged.runID += "-merged"
    (merged.shard, merged.plan) = (nil, nil)
    merged.startedAt = records.compactMap(\.startedAt).min()
    merged.arguments = merged.arguments.map(MissingShard.without)
    merged.toolchain = records.compactMap(\.toolchain).joinedOnce
    merged.allocator = records.compactMap(\.allocator).joinedOnce
    merged.countingAllocator = records.compactMap(\.countingAllocator).joinedOnce
    merged.aslr = records.compactMap(\.aslr).joinedOnce
    merged.loadAverageAtStart = records.compactMap(\.loadAverageAtStart).max()
    for record in records.dropFirst() {
      merged.metrics.merge(record.metrics) { first, _ in first }
      merged.primaryTimes.merge(record.primaryTimes) { first, _ in first }
      merged.strategies.merge(record.strategies) { first, _ in first }
      merged.peers.merge(record.peers) { first, _ in first }
    }
    merged.machines = records.flatMap(\.machines)
    merged.outcome = Self.outcome(records.map(\.outcome), rows: rows.count, isWhole: isWhole)
    merged.shards = campaign.files.map {
      RunRecord.MergedShard($0.record, file: String($0.path.split(separator: "/").last ?? ""))
    }
    record = merged
  }

  /// The lines of the rows.
  package var lines: String { rows.map(\.line).joined() }

  private static func outcome(_ all: [RunOutcome], rows: Int, isWhole: Bool) -> RunOutcome {
    var outcome = RunOutcome()
    outcome.seconds = all.reduce(0) { $0 + $1.seconds }
    // Of the time of all machines.
    outcome.stealShare = outcome.seconds > 0 ? all.reduce(0) { $0 + $1.stealShare * $1.seconds } / outcome.seconds : 0
    let pressures = all.compactMap(\.cpuPressureSeconds)
    outcome.cpuPressureSeconds = pressures.isEmpty ? nil : pressures.reduce(0, +)
    let swapped = all.compactMap(\.swappedPages)
    outcome.swappedPages = swapped.isEmpty ? nil : swapped.reduce(0, +)
    outcome.disturbedBlocks = all.flatMap(\.disturbedBlocks)
    outcome.blockCount = all.reduce(0) { $0 + ($1.blockCount ?? 0) }
    outcome.excludedBlocks = outcome.disturbedBlocks.count < outcome.blockCount! ? outcome.disturbedBlocks : []
    let crowded = all.compactMap(\.crowdedBlocks)
    outcome.crowdedBlocks = crowded.isEmpty ? nil : crowded.flatMap { $0 }
    for failure in all.flatMap(\.failures)
    where !outcome.failures.contains(where: {
      ($0.benchmark, $0.params, $0.backend, $0.workers)
        == (failure.benchmark, failure.params, failure.backend, failure.workers)
    }) { outcome.failures.append(failure) }
    outcome.wasInterrupted = !isWhole
    outcome.rowCount = rows
    for spent in all.flatMap(\.spent) { outcome.spent.add(spent) }
    return outcome
  }
}
