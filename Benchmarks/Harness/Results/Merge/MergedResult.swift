import FoundationEssentials

/// The rows of all shards, and one environment that keeps that of every machine.
package struct MergedResult: Sendable {
  package let rows: [Row]
  package let environment: String

  /// The keys whose values all shards share. The merged environment has each of them once.
  private static let common: Set<String> = [
    "cells", "subjects", "reference", "metrics", "primary_times", "strategies", "effort", "seed", "context", "plan",
    "schema", "commit", "dirty", "optimisation", "shard", "run_id",
  ]

  /// - Parameter isWhole: whether no process of the plan is missing.
  package init(_ campaign: Campaign, isWhole: Bool) throws {
    rows = campaign.files.flatMap(\.rows)
    var document = campaign.files[0].environment
    let documents = campaign.files.map(\.environment)
    document["run_id"] = .string("\(campaign.record.runID)-merged")
    document["shard"] = nil
    document["plan"] = nil
    document["spin"] = documents[0]["spin"]
    document["started_at"] = documents.compactMap { $0["started_at"]?.text }.min().map(JSONValue.string)
    document["arguments"] = .array(MissingShard.without(campaign.record.arguments ?? []).map(JSONValue.string))
    for key in ["host", "toolchain", "cpu_model", "kernel", "governor", "aslr", "counting_allocator", "allocator"] {
      document[key] = Self.joined(documents.map { $0[key] })
    }
    for key in ["cpus_online", "cpus_allowed", "cpu_quota"] {
      document[key] = documents.compactMap { $0[key] }.filter { $0.double != nil }.min { $0.double! < $1.double! }
    }
    document["load_average_at_start"] = documents.compactMap { $0["load_average_at_start"] }.filter { $0.double != nil }
      .max { $0.double! < $1.double! }
    for key in ["metrics", "primary_times", "peers", "strategies"] {
      document[key] = .object(
        documents.compactMap { $0[key]?.fields }.reduce(into: [:]) { $0.merge($1) { first, _ in first } })
    }
    document["machines"] = .array(try campaign.files.flatMap(\.sittings).map { try JSONValue($0) })
    document["shards"] = .array(
      try campaign.files.map { file in
        var own = file.environment.fields.filter { !Self.common.contains($0.key) }
        own["run_id"] = .string(file.record.runID)
        own["shard"] = try JSONValue(file.shard)
        own["file"] = .string(String(file.path.split(separator: "/").last ?? ""))
        return .object(own)
      })
    document["outcome"] = try JSONValue(Self.outcome(campaign, rows: rows.count, isWhole: isWhole))
    environment = try document.document()
  }

  /// The one value that all have, or all values.
  private static func joined(_ values: [JSONValue?]) -> JSONValue? {
    var texts: [String] = []
    for text in values.compactMap({ $0?.text }) where !texts.contains(text) { texts.append(text) }
    return texts.isEmpty ? nil : .string(texts.joined(separator: "; "))
  }

  private static func outcome(_ campaign: Campaign, rows: Int, isWhole: Bool) -> RunOutcome {
    let all = campaign.files.map(\.record.outcome)
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
    for (key, spent) in all.flatMap({ $0.spent.map { ($0.key, $0.value) } }) {
      var sum = outcome.spent[key] ?? RunResult.Spent()
      sum.processes += spent.processes
      sum.seconds += spent.seconds
      sum.cpuSeconds += spent.cpuSeconds
      sum.estimatedSeconds += spent.estimatedSeconds
      outcome.spent[key] = sum
    }
    return outcome
  }
}
