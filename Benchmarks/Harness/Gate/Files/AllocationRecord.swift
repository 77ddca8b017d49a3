import FoundationEssentials
import HarnessMeasuring
import HarnessResults
import HarnessWords

/// The allocations per operation of each gated benchmark at one worker, and the number of threads that the benchmark
/// creates: a committed file.
package struct AllocationRecord: Codable, Sendable {
  package struct Entry: Codable, Hashable, Sendable {
    package let benchmark: String
    package let params: String
    package private(set) var backend: String
    /// The lowest and the highest count of some processes. The counts vary a little with what is set up once and with
    /// which thread helps which.
    package let allocationsPerOp: [Double]
    package let bytesPerOp: [Double]
    package let threadsCreated: [Double]
    /// Counts of processes that use no memory again; nil when the record is older than these counts.
    package let freshAllocationsPerOp: [Double]?
    package let freshBytesPerOp: [Double]?

    /// - Parameters:
    ///   - counts: at least one.
    ///   - threads: the numbers of threads, at least one; nil takes those of `counts`.
    package init(_ cell: CellKey, _ counts: [AllocationCounts], threads: [Double]? = nil) {
      func range(_ numbers: [Double], _ digits: Double) -> [Double] {
        [numbers.min()!, numbers.max()!].map { ($0 * digits).rounded() / digits }
      }
      let fresh = counts.compactMap(\.fresh)
      freshAllocationsPerOp = fresh.isEmpty ? nil : range(fresh.map(\.allocations), 1e4)
      freshBytesPerOp = fresh.isEmpty ? nil : range(fresh.map(\.bytes), 100)
      benchmark = "\(cell.scenario.name)"
      params = "\(cell.scenario.parameters)"
      backend = cell.arm.subject
      allocationsPerOp = range(counts.map(\.allocations), 1e4)
      bytesPerOp = range(counts.map(\.bytes), 100)
      threadsCreated = range(threads ?? counts.map(\.threads), 1)
    }

    /// Makes a copy of the entry under another subject's name; with nil, under its own name.
    package func on(backend: String?) -> Entry {
      var copy = self
      copy.backend = backend ?? self.backend
      return copy
    }

    /// A count beside the nearest recorded count.
    struct Judgement {
      let metric: Metric
      let now: Double
      let then: Double
      /// The distance from `then` that is within bounds.
      let slack: Double

      /// Fewer threads are no improvement and always pass.
      var verdict: GateVerdict {
        if now > then + slack { return .regression }
        return now < then - slack && metric != .threadsCreated ? .improvement : .pass
      }
    }

    fileprivate var measures: [(metric: Metric, range: [Double]?)] {
      [
        (.freshAllocationsPerOp, freshAllocationsPerOp), (.freshBytesPerOp, freshBytesPerOp),
        (.allocationsPerOp, allocationsPerOp), (.bytesPerOp, bytesPerOp), (.threadsCreated, threadsCreated),
      ]
    }

    func judgements(_ counts: AllocationCounts) -> [Judgement] {
      let measures: [(Metric, Double?, [Double]?)] = [
        (.freshAllocationsPerOp, counts.fresh?.allocations, freshAllocationsPerOp),
        (.freshBytesPerOp, counts.fresh?.bytes, freshBytesPerOp),
        (.allocationsPerOp, counts.allocations, allocationsPerOp), (.bytesPerOp, counts.bytes, bytesPerOp),
        (.threadsCreated, counts.threads, threadsCreated),
      ]
      return measures.compactMap { metric, now, range in
        guard let now, let range else { return nil }
        let then = min(max(now, range[0]), range[1])
        return Judgement(metric: metric, now: now, then: then, slack: AllocationCounts.slack(metric, then))
      }
    }
  }

  /// The counts of one kind of build. Each kind has its own, because the optimiser puts on the stack what a debug build
  /// allocates.
  package struct Build: Codable, Sendable {
    package let build: String
    package let provenance: Provenance
    package var entries: [Entry]
  }

  package let schema: Int
  package private(set) var builds: [Build]

  package init() {
    schema = 1
    builds = []
  }

  /// Replaces the entries of the same kind of build and the same subjects.
  package mutating func add(_ entries: [Entry], build: String, from provenance: Provenance) {
    for index in builds.indices where builds[index].build == build {
      builds[index].entries.removeAll { old in entries.contains { $0.isSameCell(as: old) } }
    }
    builds.removeAll { $0.entries.isEmpty }
    builds.append(Build(build: build, provenance: provenance, entries: entries))
  }

  package func entry(_ cell: CellKey, build: String) -> Entry? {
    builds.lazy.filter { $0.build == build }.flatMap(\.entries).first {
      $0.benchmark == "\(cell.scenario.name)" && $0.params == "\(cell.scenario.parameters)"
        && $0.backend == cell.arm.subject
    }
  }

  /// A line for each count of which this record allows more than an earlier one, and for each benchmark that it leaves
  /// out.
  package func raised(since earlier: AllocationRecord, build: String) -> [String] {
    earlier.builds.filter { $0.build == build }.flatMap(\.entries).flatMap { then -> [String] in
      let name = then.benchmark + (then.params.isEmpty ? "" : " \(then.params)")
      guard
        let now = builds.lazy.filter({ $0.build == build }).flatMap(\.entries).first(where: { $0.isSameCell(as: then) })
      else { return ["this change removes the record of \(name) on \(then.backend)"] }
      return zip(then.measures, now.measures).compactMap { then, now in
        guard let before = then.range?[1], let most = now.range?[1],
          most > before + AllocationCounts.slack(then.metric, before)
        else { return nil }
        let format = NumberFormat(then.metric.unit, most)
        return "this change raises its own record of \(name), \(then.metric.name): "
          + "\(format.format(before)) -> \(format.format(most))\(format.suffix)"
      }
    }
  }

  package static func read(_ path: String) throws -> AllocationRecord {
    try parse(try ResultSet.bytes(path), path: path)
  }

  package static func parse(_ data: Data, path: String) throws -> AllocationRecord {
    let what = "a record of allocations; \(ProgramName.own) gate --record FILE --head PROGRAM makes one"
    let found = try JSONFile.content(data, path, as: AllocationRecord.self, what: what)
    guard found.schema == 1 else {
      throw Complaint(.badInput, "\(path) has schema \(found.schema); this program reads records of schema 1")
    }
    for entry in found.builds.flatMap(\.entries) {
      let ranges = [
        entry.allocationsPerOp, entry.bytesPerOp, entry.threadsCreated, entry.freshAllocationsPerOp,
        entry.freshBytesPerOp,
      ]
      for range in ranges.compactMap({ $0 }) {
        guard range.count == 2, range[0] <= range[1], range[0] >= 0 else {
          throw Complaint(.badInput, "\(path): \(entry.benchmark) has a count that is not [lowest, highest]")
        }
      }
    }
    return found
  }

  package func text() throws -> String { try JSONFile.text(self) }
}

extension AllocationRecord.Entry {
  func isSameCell(as other: AllocationRecord.Entry) -> Bool {
    (benchmark, params, backend) == (other.benchmark, other.params, other.backend)
  }
}
