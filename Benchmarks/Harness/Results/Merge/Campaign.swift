import FoundationEssentials
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// Shards that belong together: of one plan, one cut and one commit, and no process of the plan twice among them.
package struct Campaign: Sendable {
  /// In the order of their numbers.
  package let files: [ShardFile]

  /// What all of them share: the fixed plan, or what the first of them has.
  private let facts: CampaignPlan
  /// The files that do not belong to the fixed plan. Their shards have to run again.
  package let refused: [ShardFile]

  /// Throws one line that names what does not belong together.
  /// - Parameters:
  ///   - plan: the plan that was fixed when the campaign began, and the name of its file. A file that does not belong
  ///     to it is left out. Without a plan nobody knows which of two files is the wrong one, so all are refused.
  ///   - say: gets a line for each file that is left out.
  package init(
    _ found: [ShardFile], plan: (facts: CampaignPlan, path: String)? = nil, say: (String) -> Void = { _ in }
  ) throws {
    let sorted = found.sorted { ($0.shard.number, $0.path) < ($1.shard.number, $1.path) }
    guard let facts = plan?.facts ?? sorted.first?.facts else {
      throw Complaint(.badInput, "none of these files is a shard")
    }
    self.facts = facts
    var (kept, refused): ([ShardFile], [ShardFile]) = ([], [])
    var (owners, hosts): ([ShardRow.Place: String], [ScenarioBlock: String]) = ([:], [:])
    for file in sorted {
      do throws(Complaint) {
        if let words = facts.difference(of: file.facts, from: plan?.path ?? sorted[0].path) {
          throw Complaint(.badInput, "\(file.path) \(words)")
        }
        try Self.checkDoubled(file, &owners)
        try Self.checkHosts(file, &hosts)
        kept.append(file)
      } catch {
        guard plan != nil else { throw Complaint(.badInput, "\(error); nothing was merged") }
        say("\(error); its shard has to run again")
        refused.append(file)
      }
    }
    (files, self.refused) = (kept, refused)
  }

  package var cut: Shard { facts.shard }
  /// The command of one of the shards.
  package var arguments: [String]? { facts.arguments }

  /// A process that measures, or a run of a simulation.
  package var stepNoun: String { facts.plan.stepNoun }

  /// The rows of all shards in the order of a merged file. Shards that share cells are put in the order of the plan:
  /// the rows are then those of a run without shards.
  func inOrder(_ rows: [ShardRow]) -> [ShardRow] {
    let plan = facts.plan(of: nil)
    guard plan.sharesCells else { return rows }
    let places = Dictionary(uniqueKeysWithValues: zip(plan.sharedCells, 0...))
    return rows.enumerated().sorted {
      let (first, second) = (places[$0.element.place.cell] ?? 0, places[$1.element.place.cell] ?? 0)
      return (first, $0.offset) < (second, $1.offset)
    }.map(\.element)
  }

  private static func checkDoubled(_ file: ShardFile, _ owners: inout [ShardRow.Place: String]) throws(Complaint) {
    let places = file.places
    if let place = places.first(where: { owners[$0] != nil }), let other = owners[place] {
      let what = place.block == 0 ? "the count of \(place.cell)" : "block \(place.block) of \(place.cell)"
      throw Complaint(.badInput, "\(other) and \(file.path) both have \(what): give one of them")
    }
    for place in places { owners[place] = file.path }
  }

  /// All arms of a block are of one machine, because ratios pair them.
  private static func checkHosts(_ file: ShardFile, _ hosts: inout [ScenarioBlock: String]) throws(Complaint) {
    var own: [ScenarioBlock: String] = [:]
    for row in file.rows {
      let place = ScenarioBlock(row.place.cell.scenario, block: row.place.block)
      let earlier = own.updateValue(row.host, forKey: place) ?? hosts[place]
      guard let other = earlier, other != row.host else { continue }
      throw Complaint(
        .badInput,
        "block \(place.block) of \(place.scenario) is of two machines, \(other) and \(row.host): its ratios would compare the "
          + "machines")
    }
    hosts.merge(own) { first, _ in first }
  }

  /// The shards of which something is missing, in order.
  package var missing: [MissingShard] {
    let byNumber = Dictionary(grouping: files, by: \.shard.number)
    return cut.all.compactMap { shard in
      let own = byNumber[shard.number] ?? []
      let plan = facts.plan(of: shard)
      var there: Set<ShardRow.Place> = []
      var failed: Set<CellKey> = []
      for file in own {
        there.formUnion(file.places)
        failed.formUnion(file.failed)
      }
      let counts = own.isEmpty || own.contains { $0.record.countingAllocator != nil }
      let steps = plan.blockNumbers.flatMap { plan.timedSteps(block: $0) } + (counts ? plan.countings : [])
      let lacking = steps.filter { step in
        let block = if case .time(_, let block) = step { block } else { 0 }
        return !failed.contains(step.cell) && !there.contains(ShardRow.Place(cell: step.cell, block: block))
      }
      return lacking.isEmpty
        ? nil
        : MissingShard(
          shard: shard, file: own.last, missing: lacking, of: steps.count,
          isRefused: refused.contains { $0.shard.number == shard.number }, plan: facts.plan)
    }
  }

  /// How many processes the plan has, over all shards.
  package var processes: Int {
    let whole = facts.plan(of: nil)
    return (1...whole.effort.blocks).reduce(whole.countings.count) { $0 + whole.timedSteps(block: $1).count }
  }

  /// Lines about clocks that do not agree. `now` is the time of the machine that merges.
  package func clockComplaints(now: String = MachineSitting.now) -> [String] {
    files.flatMap { file in
      var lines = MachineSitting.clockComplaints(file.record.machines, of: file.path)
      if let last = file.record.machines.last, let seconds = MachineSitting.seconds(from: last.endedAt, to: now),
        seconds < -1
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
    var shards: [CellKey: [ShardFile]] = [:]
    var reasons: [CellKey: String] = [:]
    for file in files {
      for failure in file.record.outcome.failures {
        guard let cell = failure.cell else { continue }
        shards[cell, default: []].append(file)
        reasons[cell] = reasons[cell] ?? failure.reason
      }
    }
    return shards.sorted { "\($0.key)" < "\($1.key)" }.map { cell, files in
      let numbers = files.map { "\($0.shard.number)" }.joined(separator: ", ")
      return
        "\(cell) has no number: it failed in \(files.count == 1 ? "shard" : "shards") \(numbers) (\(reasons[cell]!)); a shard whose "
        + "files are removed runs it again"
    }
  }

  /// Lines about shards on machines without a counter of allocations.
  package var uncounted: [String] {
    let without = files.filter { $0.record.countingAllocator == nil && !facts.plan(of: $0.shard).countings.isEmpty }
    guard !without.isEmpty else { return [] }
    let names = Set(without.flatMap { $0.record.machines.map(\.host) }).sorted().joined(separator: ", ")
    return ["no allocations were counted on \(names), which \(without.count == 1 ? "has" : "have") no jemalloc"]
  }
}
