import FoundationEssentials
import HarnessPlanning
import HarnessResults
import HarnessWords
import VirtualScheduling

/// The CSV of a simulation: a row for each run. The first column says that no CPU ran the tasks.
package enum SimulationRows: RowForm {
  package static let schema = SimulationHeader.schema
  package static let header = SimulationHeader.columns

  package static func line(
    _ cell: SimulationPlan.Cell, seed: UInt64, model: String, _ result: SimulationResult
  ) -> String {
    let counts = result.statistics
    let numbers: [Double] = [
      Double(result.tasks), Double(result.edges), Double(result.makespan), result.efficiency, result.utilisation,
      Double(result.totalWork), Double(result.criticalPath), result.workShare, result.pathShare,
      result.schedulerShare, Double(counts.pool.steals), Double(counts.pool.failedSearches), Double(counts.looksInVain),
      Double(counts.lostRaces), Double(counts.pool.fromOutside), Double(counts.pool.wakes), Double(counts.pool.sleeps),
      Double(counts.idle), result.rankError, Double(counts.worstRankError),
    ]
    return CSV.line(
      [
        "simulated", "\(schema)", cell.graph.name, cell.graph.sizes, CSV.number(cell.work), cell.backend,
        "\(cell.workers)", "\(seed)", model,
      ] + numbers.map(CSV.number))
  }

  package static func rows(_ bytes: Data, of record: RunRecord, plan: Plan, source: String) throws -> [ShardRow] {
    var reader = CSVReader(bytes, source: source)
    guard try reader.next()?.fields == header else {
      throw Complaint(.badInput, "\(source): these are no rows of opbench simulate of schema \(schema)")
    }
    let cells = Set(plan.sharedCells)
    var rows: [ShardRow] = []
    while let line = try reader.next() {
      guard let place = place(line.fields, firstSeed: plan.seed), 1...plan.effort.blocks ~= place.block else {
        throw Complaint(.badInput, "\(source), line \(line.line): this is no row of the simulation")
      }
      guard cells.contains(place.cell) else {
        throw Complaint(
          .badInput,
          "\(source) has rows of \(place.cell), which is not in \(plan.shard.map { "shard \($0) of" } ?? "") its plan")
      }
      rows.append(ShardRow(place.cell, block: place.block, line: CSV.line(line.fields)))
    }
    return rows
  }

  /// The cell of a row, and the number of its seed; nil when the fields are not those of a row.
  private static func place(_ fields: [String], firstSeed: UInt64) -> (cell: CellKey, block: Int)? {
    guard fields.count == header.count else { return nil }
    let row = Dictionary(uniqueKeysWithValues: zip(header, fields))
    guard let sizes = row["sizes"].flatMap({ Parameters($0) }), let workers = row["workers"].flatMap({ Int($0) }),
      let seed = row["seed"].flatMap({ UInt64($0) }), seed >= firstSeed, seed - firstSeed < UInt64(Int.max)
    else { return nil }
    let scenario = Scenario(SimulationConditions.benchmark(row["graph"]!), sizes)
    return (CellKey(scenario, Arm(subject: row["backend"]!, workers: workers)), Int(seed - firstSeed) + 1)
  }
}
