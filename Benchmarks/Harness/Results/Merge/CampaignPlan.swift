import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessWords

/// What all shards of a campaign share: a file beside them. The shard that begins first writes the file, so the plan is
/// that of a machine that measures. Every later shard compares its own plan before it measures, and `merge` compares
/// what it reads.
package struct CampaignPlan: Codable, Hashable, Sendable {
  /// The shard that wrote the file. Of other shards only the count must be the same.
  package let shard: Shard
  package let seed: UInt64
  package let effort: Effort
  package let allocator: String?
  package let context: String?
  package let commit: String?
  package let dirty: Bool?
  package let optimisation: String?
  package let plan: PlanRecord
  /// What a simulation depends on; nil in a campaign that measures.
  package let simulation: SimulationConditions?
  /// The command of the shard that wrote the file.
  package let arguments: [String]?
  /// The machine of that shard, and how many CPUs the shard could use there.
  package let host: String?
  package let cpus: Int?

  /// The facts of a shard that is about to run here.
  package init(_ plan: Plan, shard: Shard, context: String, arguments: [String], source: String) {
    let revision = Revision.ofBuild(source: source)
    self.shard = shard
    (seed, effort, allocator, self.context) = (plan.seed, plan.effort, plan.allocator.rawValue, context)
    (commit, dirty) = (revision?.commit, revision?.hasChanges)
    optimisation = Build.kind
    self.plan = PlanRecord(plan)
    simulation = nil
    self.arguments = arguments
    (host, cpus) = (Host.name, CPUs.affinity)
  }

  /// The facts of a shard that has run; nil when the record is not that of a shard.
  package init?(_ record: RunRecord) {
    guard let shard = record.shard, let plan = record.plan else { return nil }
    self.shard = shard
    (seed, effort, allocator, context) = (record.seed, record.effort, record.allocatorName, record.context)
    (commit, dirty, optimisation) = (record.commit, record.dirty, record.optimisation)
    self.plan = plan
    (simulation, arguments) = (record.simulation, record.arguments)
    (host, cpus) = (record.machines.last?.host, record.machines.last?.cpusAllowed)
  }

  /// The plan of a shard, or of the whole campaign.
  package func plan(of shard: Shard?) -> Plan {
    var plan = plan.plan(effort: effort, seed: seed)
    plan.shard = shard
    return plan
  }

  /// In what a shard differs from this plan, as the end of a sentence that begins with the shard; nil when the shard
  /// belongs to it.
  /// - Parameter other: what the plan is called in the sentence.
  func difference(of own: CampaignPlan, from other: String) -> String? {
    func differs(_ what: String, _ own: String, _ others: String) -> String {
      "does not belong to \(other): it has \(what) \(own), the other has \(others)"
    }
    func revision(_ facts: CampaignPlan) -> String {
      (facts.commit ?? "unknown") + (facts.dirty == true ? " with changes" : "")
    }
    if own.shard.count != shard.count { return differs("shard", "\(own.shard)", "\(shard)") }
    if own.seed != seed { return differs("seed", "\(own.seed)", "\(seed)") }
    if revision(own) != revision(self) { return differs("commit", revision(own), revision(self)) }
    if own.optimisation != optimisation {
      return differs("a build of kind", own.optimisation ?? "unknown", optimisation ?? "unknown")
    }
    if let difference = own.plan.difference(from: plan) {
      return "is of another plan than \(other): it has \(difference)"
        + (own.cpus == cpus ? "" : " (machines with other numbers of CPUs need --workers to have the same plan)")
    }
    if own.effort != effort { return differs("effort", "\(own.effort)", "\(effort)") }
    if own.allocator != allocator {
      return differs("allocator", own.allocator ?? "none", allocator ?? "none")
    }
    if let simulation, let words = own.simulation?.difference(from: simulation) {
      return "does not belong to \(other): it has \(words)"
    }
    if own.context != context { return differs("other input:", own.context ?? "none", context ?? "none") }
    return nil
  }

  package static func read(_ path: String) throws -> CampaignPlan {
    let found = try JSONFile.content(
      Data(try ResultSet.bytes(path)), path, as: CampaignPlan.self,
      what: "the plan of a campaign, which its first shard writes with --plan")
    guard found.shard.isPossible, found.plan.isPossible, found.plan.blocks == found.effort.blocks else {
      throw Complaint(.badInput, "\(path) has numbers that no plan has")
    }
    return found
  }

  /// Writes the file unless another shard has. Throws one line when the plan of the file is another one, before
  /// anything is measured: this machine then has to wait for its own campaign.
  /// - Parameter earlier: the file that the shard goes on with; nil when the shard begins anew.
  package func fix(_ path: String, goingOnWith earlier: String?) throws {
    let fixed = try FixedFile.write(try JSONFile.text(self), to: path) ? self : Self.read(path)
    if let words = fixed.difference(of: self, from: path) {
      throw Complaint(
        .unavailable,
        "nothing is \(simulation == nil ? "measured" : "simulated") on \(Host.name), because what would be \(words); "
          + "\(fixed.host ?? "another machine") has fixed the plan")
    }
    guard let earlier else { return }
    for file in [try ResultFiles.unfinished(environmentOf: earlier), RunRecord.path(csv: earlier)] {
      guard let record = try RunRecord.read(path: file) else { continue }
      guard let own = CampaignPlan(record) else { throw Complaint(.badInput, "\(file) is not of a shard") }
      if let words = fixed.difference(of: own, from: path) { throw Complaint(.badInput, "\(file) \(words)") }
    }
  }
}

/// A file that the first of many processes writes, and that none replaces.
package enum FixedFile {
  /// - Returns: whether this process has written the file. Otherwise another one has, and the file is whole.
  package static func write(_ text: String, to path: String) throws -> Bool {
    guard access(path, F_OK) != 0 else { return false }
    let own = "\(path).\(RunRecord.newRunID(host: Host.name))"
    try ResultFiles.replace(own, with: text, syncs: true)
    defer { unlink(own) }
    if link(own, path) == 0 { return true }
    guard errno == EEXIST else {
      throw Complaint(.cannotCreate, "cannot write \(path): \(String(cString: strerror(errno)))")
    }
    return false
  }
}
