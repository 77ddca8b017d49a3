import ArgumentParser
import Glibc
import HarnessMeasuring
import HarnessResults
import HarnessWords
import Laboratory
import Simulation

/// `opbench check-model`: how far simulated makespans are from bounds and from the real pools.
struct CheckModel: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check-model",
    abstract: "Compare simulated makespans with proven bounds, published results, and the real pools here.",
    discussion: """
      Four tables: Graham's bounds on random graphs, the bound of work stealing with steal latency, what others have published \
      of pools with up to 128 threads, and the makespans of the real pools at one and two workers. With --against instead of \
      them: whether the simulator orders the strategies of a result as the result does. Exit code 70: a row does not hold.
      """)

  @Option(
    help: """
      The costs, as calibrate-model writes them on this machine (default: a built-in model of a machine with two CPUs; with \
      --against that of simulate).
      """,
    completion: .file(extensions: ["json"]))
  var model: String?

  @Option(
    parsing: .unconditional, help: "Blocks of processes of the real pools; 0 leaves the real pools out (default: 7).",
    transform: OptionNumber.count(in: 0...1_000))
  var blocks: Int?

  @Option(
    help: ArgumentHelp(
      "Instead of the four tables, compare the order of strategies in this result of run with the simulated order.",
      valueName: "file.csv"),
    completion: .file(extensions: ["csv", "gz"]))
  var against: String?

  @Option(parsing: .unconditional, help: "The seed of every random choice.", transform: OptionNumber.seed)
  var seed: UInt64 = 1

  @Option(help: "Where to write the tables too.")
  var output: String?

  @Flag(help: "Replace the file of --output.")
  var overwrite = false

  func run() throws {
    if against != nil, let blocks {
      throw Complaint(.usage, "--against measures nothing, so --blocks \(blocks) has no place beside it: leave one out")
    }
    let model = try self.model.map(CostModel.read) ?? (against == nil ? .builtIn : .manyCPUs)
    if let output {
      try ResultFiles.checkPlace(output, mayReplace: overwrite, holding: "holds finished tables")
    }
    Interrupt.install()
    let tables =
      if let against {
        [try RankCheck(try ResultSet.read(path: against), model: model, seed: seed).table()]
      } else {
        try usual(model)
      }
    let head = "simulated makespans, checked. The costs are those of: \(model.name), \(model.date)\n\n"
    let text = head + tables.map { $0.text() }.joined(separator: "\n")
    if let output { try ResultFiles.replace(output, with: text, syncs: true) }
    try DescriptorOutput.write(text, to: STDOUT_FILENO, name: "standard output")
    let failures = tables.flatMap(\.failures)
    guard failures.isEmpty else {
      throw Complaint(.software, "\(Count.of(failures.count, "row")) of the check failed, such as \(failures[0])")
    }
  }

  /// The tables of the simulator alone, and of the real pools here.
  private func usual(_ model: CostModel) throws -> [CheckTable] {
    var tables = [BoundChecks.graham(), BoundChecks.stealLatency(), PublishedChecks.table()]
    let blocks = blocks ?? 7
    if blocks > 0 {
      let check = try RealPoolCheck(
        backends: SimulatedBackend.list(["stealing", "threadpool"]), workers: Array(1...min(2, CPUs.available)),
        seed: seed, model: model)
      tables.append(try check.table(try measure(check, blocks: blocks)))
    }
    return tables
  }

  /// How long a process works before it measures, in nanoseconds.
  private static let leadIn: UInt64 = 20_000_000

  /// Measures every cell once in each block.
  private func measure(_ check: RealPoolCheck, blocks: Int) throws -> [CellKey: RealPoolCheck.Measured] {
    let progress = Progress()
    for warning in MachineWarnings.before() { progress.say(warning) }
    let spin = Spin.calibrated()
    let suite = OpbenchSuite()
    var measured: [CellKey: RealPoolCheck.Measured] = [:]
    let start = Clock.now()
    let cells = check.cells
    var repeats: [CellKey: Int] = [:]
    func launch(_ cell: CellKey, _ mode: MeasureRequest.Mode) throws -> [ResultLine] {
      try suite.results(of: cell, mode, seed: seed, spin: spin)
    }
    for block in 0..<blocks {
      for (index, cell) in cells.enumerated() {
        if repeats[cell] == nil {
          for line in try launch(cell, .calibrate(target: 60_000_000, limit: .max, leadIn: Self.leadIn)) {
            if case .repeats(let count) = line { repeats[cell] = max(1, count) }
          }
        }
        measured[cell, default: .init()].peaks.append(MachinePeak.measure(threads: cell.arm.workers, spin: spin))
        for line in try launch(cell, .time(repeats: repeats[cell] ?? 1, values: 1, leadIn: Self.leadIn)) {
          if case .reading(_, let reading) = line, reading.metric == .makespan {
            measured[cell]!.makespans.append(reading.value)
          }
        }
        let done = block * cells.count + index + 1
        let elapsed = Double(Clock.now() - start) / 1e9
        progress.show(
          done: done, total: blocks * cells.count, what: "\(cell)",
          secondsLeft: elapsed / Double(done) * Double(blocks * cells.count - done))
      }
    }
    progress.clear()
    return measured
  }
}
