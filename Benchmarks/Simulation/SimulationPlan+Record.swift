import HarnessMeasuring
import HarnessPlanning
import HarnessResults

extension SimulationPlan {
  /// The record of a simulation, for `X.env.json`.
  /// - Parameter source: a file of the checkout that this program was built from.
  package func record(arguments: [String], source: String) -> RunRecord {
    let plan = plan
    var record = RunRecord(
      runID: RunRecord.newRunID(host: shard.map { _ in Host.name }), seed: plan.seed, effort: plan.effort,
      cells: plan.scenarios.flatMap(\.cells))
    record.startedAt = MachineSitting.now
    record.describeBuild(source: source)
    record.arguments = arguments
    (record.shard, record.plan) = (shard, shard.map { _ in PlanRecord(plan) })
    func limited(_ count: Int) -> Int? { count > 1_024 ? nil : count }
    record.simulation = SimulationConditions(
      model: model, works: sweeps ? nil : works, workersPerGroup: limited(topology.workersPerGroup),
      workersPerSocket: limited(topology.workersPerSocket), countsAdding: countsAdding, forks: forks)
    return record
  }
}
