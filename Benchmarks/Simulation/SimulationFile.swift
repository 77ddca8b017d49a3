import FoundationEssentials
import Glibc
import HarnessMeasuring
import HarnessPlanning
import HarnessResults
import HarnessWords

/// Where the rows of a simulation go: to a file with its facts beside it, to standard output, or nowhere.
package struct SimulationFile {
  private let csv: String?
  private let isStandardOutput: Bool

  /// Complains at once about a place that cannot be written, and about a result that must not be replaced.
  package init(_ output: String?, mayReplace: Bool) throws {
    isStandardOutput = output == "-"
    csv = isStandardOutput ? nil : output
    if mayReplace, csv == nil {
      throw Complaint(.usage, "--overwrite needs --output FILE.csv: the CSV of the result to replace")
    }
    guard let csv else { return }
    guard csv.hasSuffix(".csv"), !csv.hasSuffix("/.csv"), csv != ".csv" else {
      throw Complaint(.usage, "--output takes the name of a file that ends in .csv, not '\(csv)'")
    }
    guard mayReplace || access(csv, F_OK) != 0 else {
      throw Complaint(.cannotCreate, "\(csv) holds a finished result: --overwrite replaces it")
    }
    try ResultFiles.checkWritable(csv)
    try ResultFiles.checkWritable(Self.facts(csv))
  }

  /// The table goes to standard error when the rows go to standard output.
  package var tableDescriptor: Int32 { isStandardOutput ? STDERR_FILENO : STDOUT_FILENO }

  package func write(_ rows: String, facts: SimulationFacts) throws {
    if isStandardOutput { try DescriptorOutput.write(rows, to: STDOUT_FILENO, name: "standard output") }
    guard let csv else { return }
    try ResultFiles.replace(Self.facts(csv), with: try facts.json(), syncs: true)
    try ResultFiles.replace(csv, with: rows, syncs: true)
  }

  /// Writes the plan of a campaign unless another shard has. Throws one line when the plan of the file is another one, before
  /// anything is simulated.
  package static func fix(_ plan: String, _ facts: SimulationFacts) throws {
    let own = try facts.json()
    if try FixedFile.write(own, to: plan) { return }
    try SimulatedCampaign.check(facts: own, plan: plan)
  }

  private static func facts(_ csv: String) -> String { String(csv.dropLast(4)) + ".env.json" }
}

/// What the rows of a simulation depend on, for `X.env.json`.
package struct SimulationFacts: Encodable, Sendable {
  let kind = "simulated"
  let schema = SimulationRows.schema
  let commit: String?
  let dirty: Bool?
  let arguments: [String]
  let graphs: [String]
  let backends: [String]
  let workers: [Int]
  let seeds: [UInt64]
  /// The mean work of a task, in nanoseconds; nil in a sweep.
  let works: [Double]?
  /// The part of the plan whose rows these are; nil: all of it.
  let shard: Shard?
  /// How many rows the CSV has.
  let rows: Int
  /// How many workers share a group of CPUs, and a socket; nil when all do.
  let workersPerGroup: Int?
  let workersPerSocket: Int?
  let countsAdding: Bool
  let model: CostModel

  /// - Parameters:
  ///   - rows: how many rows the CSV has.
  ///   - source: a file of the checkout that this program was built from.
  package init(_ plan: SimulationPlan, rows: Int, arguments: [String], source: String) {
    let folder = source.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let revision = Revision.told ?? Revision(of: folder, countsNewFiles: true)
    (commit, dirty) = (revision?.commit, revision?.hasChanges)
    self.arguments = arguments
    self.rows = rows
    (shard, works) = (plan.shard, plan.sweeps ? nil : plan.works)
    graphs = plan.graphs.map(\.description)
    backends = plan.backends.map(\.name)
    (workers, seeds, countsAdding, model) = (plan.workers, plan.seeds, plan.countsAdding, plan.model)
    func limited(_ count: Int) -> Int? { count > 1_024 ? nil : count }
    workersPerGroup = limited(plan.topology.workersPerGroup)
    workersPerSocket = limited(plan.topology.workersPerSocket)
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
  }
}
