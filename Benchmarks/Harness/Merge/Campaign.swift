import FoundationEssentials

/// Shards that belong together: of one plan, one cut and one commit, and no process of the plan twice among them.
package struct Campaign: Sendable {
  /// In the order of their numbers.
  package let files: [ShardFile]

  /// Throws one line that names what does not belong together.
  package init(_ found: [ShardFile]) throws {
    files = found.sorted { ($0.shard.number, $0.path) < ($1.shard.number, $1.path) }
    for file in files.dropFirst() { try Self.check(file, against: files[0]) }
    try checkDoubled()
    try checkHosts()
  }

  private var first: ShardFile { files[0] }
  package var cut: Shard { first.shard }
  package var record: RunRecord { first.record }

  /// The plan of a shard of this campaign.
  package func plan(_ shard: Shard) -> Plan {
    var plan = first.plan.plan(effort: record.effort, seed: record.seed)
    plan.shard = shard
    return plan
  }

  private static func check(_ file: ShardFile, against first: ShardFile) throws {
    func refuse(_ what: String, _ own: String, _ others: String) -> Complaint {
      Complaint(
        .badInput,
        "\(file.path) does not belong to \(first.path): it has \(what) \(own), the other has \(others); nothing was merged"
      )
    }
    let (own, other) = (file.record, first.record)
    func revision(_ record: RunRecord) -> String {
      (record.commit ?? "unknown") + (record.dirty == true ? " with changes" : "")
    }
    if file.shard.count != first.shard.count { throw refuse("shard", "\(file.shard)", "\(first.shard)") }
    if own.seed != other.seed { throw refuse("seed", "\(own.seed)", "\(other.seed)") }
    if revision(own) != revision(other) { throw refuse("commit", revision(own), revision(other)) }
    if own.optimisation != other.optimisation {
      throw refuse("a build of kind", own.optimisation ?? "unknown", other.optimisation ?? "unknown")
    }
    if let difference = file.plan.difference(from: first.plan) {
      throw Complaint(
        .badInput,
        "\(file.path) is of another plan than \(first.path): it has \(difference); nothing was merged"
          + (own.machines?.last?.cpusAllowed == other.machines?.last?.cpusAllowed
            ? "" : " (machines with other numbers of CPUs need --workers to have the same plan)"))
    }
    if own.effort != other.effort { throw refuse("effort", "\(own.effort)", "\(other.effort)") }
    if own.allocatorName != other.allocatorName { throw refuse("allocator", own.allocatorName, other.allocatorName) }
    if own.context != other.context { throw refuse("other input:", own.context ?? "none", other.context ?? "none") }
  }

  private func checkDoubled() throws {
    var owners: [ShardFile.Place: String] = [:]
    for file in files {
      for place in file.places {
        guard let other = owners.updateValue(file.path, forKey: place) else { continue }
        let what = place.block == 0 ? "the count of \(place.cell)" : "block \(place.block) of \(place.cell)"
        throw Complaint(.badInput, "\(other) and \(file.path) both have \(what): give one of them; nothing was merged")
      }
    }
  }

  /// All arms of a block are of one machine, because ratios pair them.
  private func checkHosts() throws {
    var hosts: [ScenarioBlock: String] = [:]
    for row in files.lazy.flatMap(\.rows) {
      let place = ScenarioBlock(row.cell.scenario, block: row.block)
      guard let other = hosts.updateValue(row.host, forKey: place), other != row.host else { continue }
      throw Complaint(
        .badInput,
        "block \(row.block) of \(row.cell.scenario) is of two machines, \(other) and \(row.host): its ratios would compare the "
          + "machines; nothing was merged")
    }
  }

  /// The shards of which something is missing, in order.
  package var missing: [MissingShard] {
    let byNumber = Dictionary(grouping: files, by: \.shard.number)
    return cut.all.compactMap { shard in
      let own = byNumber[shard.number] ?? []
      let plan = plan(shard)
      var there: Set<ShardFile.Place> = []
      var failed: Set<CellKey> = []
      for file in own {
        there.formUnion(file.places)
        failed.formUnion(file.failed)
      }
      let counts = own.isEmpty || own.contains { $0.record.countingAllocator != nil }
      let steps = plan.blockNumbers.flatMap { plan.timedSteps(block: $0) } + (counts ? plan.countings : [])
      let lacking = steps.filter { step in
        let block = if case .time(_, let block) = step { block } else { 0 }
        return !failed.contains(step.cell) && !there.contains(ShardFile.Place(cell: step.cell, block: block))
      }
      return lacking.isEmpty ? nil : MissingShard(shard: shard, file: own.last, missing: lacking, of: steps.count)
    }
  }

  /// How many processes the plan has, over all shards.
  package var processes: Int {
    let whole = first.plan.plan(effort: record.effort, seed: record.seed)
    return (1...whole.effort.blocks).reduce(whole.countings.count) { $0 + whole.timedSteps(block: $1).count }
  }

  /// Lines about clocks that do not agree. `now` is the time of the machine that merges.
  package func clockComplaints(now: String = MachineSitting.now) -> [String] {
    files.flatMap { file in
      var lines = MachineSitting.clockComplaints(file.sittings, of: file.path)
      if let last = file.sittings.last, let seconds = MachineSitting.seconds(from: last.endedAt, to: now), seconds < -1
      {
        lines.append(
          "\(file.path): the clock of \(last.host) is ahead of this machine's by \(Progress.duration(-seconds)) or more"
        )
      }
      return lines
    }
  }

  /// A line for each cell without a number, with the shards in which it failed.
  package var failures: [String] {
    var shards: [String: [ShardFile]] = [:]
    var reasons: [String: String] = [:]
    for file in files {
      for failure in file.record.outcome.failures {
        let cell =
          "\(failure.benchmark) on \(failure.backend)@\(failure.workers)"
          + (failure.params.isEmpty ? "" : " (\(failure.params))")
        shards[cell, default: []].append(file)
        reasons[cell] = reasons[cell] ?? failure.reason
      }
    }
    return shards.sorted { $0.key < $1.key }.map { cell, files in
      let numbers = files.map { "\($0.shard.number)" }.joined(separator: ", ")
      return
        "\(cell) has no number: it failed in \(files.count == 1 ? "shard" : "shards") \(numbers) (\(reasons[cell]!)); a shard whose "
        + "files are removed runs it again"
    }
  }

  /// Lines about shards on machines without a counter of allocations.
  package var uncounted: [String] {
    let without = files.filter { $0.record.countingAllocator == nil && !plan($0.shard).countings.isEmpty }
    guard !without.isEmpty else { return [] }
    let names = Set(without.flatMap { $0.sittings.map(\.host) }).sorted().joined(separator: ", ")
    return ["no allocations were counted on \(names), which \(without.count == 1 ? "has" : "have") no jemalloc"]
  }
}
