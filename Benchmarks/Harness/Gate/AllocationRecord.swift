import FoundationEssentials

/// What each gated benchmark allocates per operation at one worker, and how many threads it makes: a committed file.
public struct AllocationRecord: Codable, Sendable {
  public struct Entry: Codable, Hashable, Sendable {
    public let benchmark: String
    public let params: String
    public private(set) var backend: String
    /// The lowest and the highest of some processes: what is set up once, and who helps whom, varies a little.
    public let allocationsPerOp: [Double]
    public let bytesPerOp: [Double]
    public let threadsCreated: [Double]

    /// `counts` must not be empty.
    public init(_ cell: CellKey, _ counts: [AllocationCounts]) {
      func range(_ numbers: [Double], _ digits: Double) -> [Double] {
        [numbers.min()!, numbers.max()!].map { ($0 * digits).rounded() / digits }
      }
      benchmark = "\(cell.scenario.name)"
      params = "\(cell.scenario.parameters)"
      backend = cell.arm.subject
      allocationsPerOp = range(counts.map(\.allocations), 1e4)
      bytesPerOp = range(counts.map(\.bytes), 100)
      threadsCreated = range(counts.map(\.threads), 1)
    }

    /// The same under another subject's name; nil: its own.
    public func on(backend: String?) -> Entry {
      var copy = self
      copy.backend = backend ?? self.backend
      return copy
    }

    /// Each count with the nearest recorded one, how far from it is within bounds, and what follows. Fewer threads are
    /// no improvement, only within the bound.
    func verdicts(_ counts: AllocationCounts) -> [(
      metric: Metric, now: Double, then: Double, slack: Double, GateVerdict
    )] {
      let measures: [(Metric, Double, [Double])] = [
        (.allocationsPerOp, counts.allocations, allocationsPerOp), (.bytesPerOp, counts.bytes, bytesPerOp),
        (.threadsCreated, counts.threads, threadsCreated),
      ]
      return measures.map { metric, now, range in
        let then = min(max(now, range[0]), range[1])
        let slack = AllocationCounts.slack(metric, then)
        let isLess = now < then - slack && metric != .threadsCreated
        return (metric, now, then, slack, now > then + slack ? .regression : isLess ? .improvement : .pass)
      }
    }
  }

  /// The optimiser puts on the stack what a debug build allocates, so each kind of build has its own.
  public struct Build: Codable, Sendable {
    public let build: String
    public let provenance: Provenance
    public var entries: [Entry]
  }

  public let schema: Int
  public private(set) var builds: [Build]

  public init() {
    schema = 1
    builds = []
  }

  /// Takes the place of what was there for the same kind of build and the same subjects.
  public mutating func add(_ entries: [Entry], build: String, from provenance: Provenance) {
    for index in builds.indices where builds[index].build == build {
      builds[index].entries.removeAll { old in entries.contains { $0.isSameCell(as: old) } }
    }
    builds.removeAll { $0.entries.isEmpty }
    builds.append(Build(build: build, provenance: provenance, entries: entries))
  }

  public func entry(_ cell: CellKey, build: String) -> Entry? {
    builds.lazy.filter { $0.build == build }.flatMap(\.entries).first {
      $0.benchmark == "\(cell.scenario.name)" && $0.params == "\(cell.scenario.parameters)"
        && $0.backend == cell.arm.subject
    }
  }

  public static func read(_ path: String) throws -> AllocationRecord {
    try parse(try ResultSet.bytes(path), path: path)
  }

  package static func parse(_ data: Data, path: String) throws -> AllocationRecord {
    let what = "a record of allocations; opbench gate --record FILE --head PROGRAM makes one"
    let found = try GateFile.content(data, path, as: AllocationRecord.self, what: what)
    guard found.schema == 1 else {
      throw Complaint(.badInput, "\(path) has schema \(found.schema); this program reads records of schema 1")
    }
    for entry in found.builds.flatMap(\.entries) {
      for range in [entry.allocationsPerOp, entry.bytesPerOp, entry.threadsCreated] {
        guard range.count == 2, range[0] <= range[1], range[0] >= 0 else {
          throw Complaint(.badInput, "\(path): \(entry.benchmark) has a count that is not [lowest, highest]")
        }
      }
    }
    return found
  }

  public func text() throws -> String { try GateFile.text(self) }
}

extension AllocationRecord.Entry {
  func isSameCell(as other: AllocationRecord.Entry) -> Bool {
    (benchmark, params, backend) == (other.benchmark, other.params, other.backend)
  }
}

/// Counts per operation, and threads per process.
public struct AllocationCounts: Hashable, Sendable {
  public let allocations: Double
  public let bytes: Double
  public let threads: Double
  /// What is in use after the operations and was not before; nil where a program does not say.
  public let retained: Retained?

  public struct Retained: Hashable, Sendable {
    public let bytesPerOp: Double
    public let operations: Int

    public init(bytesPerOp: Double, operations: Int) {
      self.bytesPerOp = bytesPerOp
      self.operations = operations
    }

    /// A leak of one object per operation leaves more behind than this; a queue that was never longer before, less.
    public static let mostPerOp = 16.0
    /// What is kept for the next time, whatever the number of operations.
    public static let mostBytes = 65_536.0

    public var isLeak: Bool { bytesPerOp > Self.mostPerOp && bytesPerOp * Double(operations) > Self.mostBytes }
  }

  public init(allocations: Double, bytes: Double, threads: Double, retained: Retained? = nil) {
    self.allocations = allocations
    self.bytes = bytes
    self.threads = threads
    self.retained = retained
  }

  /// How many processes a record is made from.
  public static let recordedProcesses = 5

  /// How far outside the recorded range a count may lie: a tenth of an allocation and one percent, eight bytes and one
  /// percent, since how long a queue gets, and so how much is used again, varies; and one thread, since a pool may or may
  /// not get to start its watchdog before the process ends.
  public static func slack(_ metric: Metric, _ recorded: Double) -> Double {
    switch metric {
    case .allocationsPerOp: 0.1 + 0.01 * recorded
    case .bytesPerOp: 8 + 0.01 * recorded
    default: 1
    }
  }
}
