import HarnessWords

/// The outcome of a run: the part of `X.env.json` that is known only at the end of the run.
package struct RunOutcome: Codable, Hashable, Sendable {
  /// A scenario in one block. Its rows in the CSV have these parameters among theirs.
  package struct Block: Codable, Hashable, Sendable {
    package let benchmark: String
    package let params: String
    package let block: Int

    /// Nil when the texts are not those of a scenario.
    var scenario: Scenario? {
      guard let name = BenchmarkName(benchmark), let parameters = Parameters(params) else { return nil }
      return Scenario(name, parameters)
    }
  }

  /// A cell without a number. Rows of the cell that were written before the cell failed do not count.
  package struct FailedCell: Codable, Hashable, Sendable {
    package let benchmark: String
    package let params: String
    package let backend: String
    package let workers: Int
    package let reason: String

    /// Nil when the texts are not those of a cell.
    package var cell: CellKey? {
      Block(benchmark: benchmark, params: params, block: 0).scenario.map {
        CellKey($0, Arm(subject: backend, workers: workers))
      }
    }
  }

  /// The number of repeats for one value of a cell.
  package struct Repeats: Codable, Hashable, Sendable {
    package let cell: CellKey
    package let count: Int
  }

  /// The time that the processes of one kind took.
  package struct Spent: Codable, Hashable, Sendable {
    /// What the processes did, such as `calibrate`.
    package let step: String
    package let benchmark: String
    package var processes = 0
    package var seconds = 0.0
    package var cpuSeconds = 0.0
    /// The seconds that the plan had estimated.
    package var estimatedSeconds = 0.0
  }

  package var seconds = 0.0
  package var stealShare = 0.0
  package var cpuPressureSeconds: Double?
  package var swappedPages: Int?
  package var repeats: [Repeats] = []
  /// Blocks that lost more than 1 % of CPU time to other guests.
  package var disturbedBlocks: [Block] = []
  /// The disturbed blocks whose rows the table and `compare` leave out: all disturbed blocks, unless no other block is
  /// left.
  package var excludedBlocks: [Block] = []
  /// The blocks whose percentiles above the median, and maxima, the table and `compare` leave out, because a process
  /// saw that something else had its CPUs; nil where nothing looked.
  package var crowdedBlocks: [Block]?
  package var failures: [FailedCell] = []
  package var wasInterrupted = false
  /// The number of blocks that were run, over all scenarios; nil where it is not known.
  package var blockCount: Int?
  /// The number of rows; nil where it is not known. A file with fewer rows was cut off.
  package var rowCount: Int?
  /// The cells that were measured in a third of the blocks; nil when that was not decided.
  package var seldom: [CellKey]?
  /// Where the time went, and what was expected. A resumed run has only the figures of its last part.
  package var spent: [Spent] = []

  package init() {}
}

extension [RunOutcome.Spent] {
  /// Adds to what the processes of a kind have taken so far.
  package mutating func add(_ more: RunOutcome.Spent) {
    guard let index = firstIndex(where: { ($0.step, $0.benchmark) == (more.step, more.benchmark) }) else {
      return append(more)
    }
    self[index].processes += more.processes
    self[index].seconds += more.seconds
    self[index].cpuSeconds += more.cpuSeconds
    self[index].estimatedSeconds += more.estimatedSeconds
  }
}
