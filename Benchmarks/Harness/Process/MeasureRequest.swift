import FoundationEssentials

/// What the parent asks of one process, as the single argument of the hidden subcommand `measure`.
package struct MeasureRequest: Codable, Hashable, Sendable {
  package enum Mode: Codable, Hashable, Sendable {
    /// Find how many repeats fill `target` nanoseconds; more than `limit` need not be found.
    case calibrate(target: UInt64, limit: Int)
    /// Work for `leadIn` nanoseconds (unless 0 at least one value), whose times nobody takes, then give `values` values of `repeats` repeats each, or
    /// fewer, but one, when they have taken `budget` nanoseconds together. `countsEvents` asks for one more, during which
    /// the kernel counts and whose time nobody takes.
    case time(
      repeats: Int, values: Int, leadIn: UInt64 = 0, budget: UInt64 = .max, countsEvents: Bool = false)
    /// Count allocations: the process runs on an allocator that can.
    case count(values: Int)
    /// Record a timeline of a few repeats.
    case trace(TraceRequest)
  }

  /// Stands in the place of a request and measures nothing: what such a process takes is what starting one takes.
  package static let nothing = "nothing"

  package let family: String
  package let benchmark: String
  package let parameters: String
  package private(set) var subject: String
  package let workers: Int
  package let mode: Mode
  package let seed: UInt64
  package let spin: Spin
  /// What the program was given beside the cell, such as files to replay: the suite that wrote it alone knows its meaning.
  package let context: String
  /// The time in which the slowest subject completes one operation of an open loop, in nanoseconds.
  package let serviceTime: Double?
  /// What a process that takes times must find itself on.
  package let allocator: Allocator
  /// The CPU to begin on, as an index among those this process may use, modulo their number; nil: whichever the kernel
  /// chooses. The process may go elsewhere at once.
  package let place: Int?

  package init(
    cell: CellKey, mode: Mode, seed: UInt64, spin: Spin, context: String = "", serviceTime: Double? = nil,
    allocator: Allocator = .system, place: Int? = nil
  ) {
    self.place = place
    family = cell.scenario.name.family
    benchmark = cell.scenario.name.benchmark
    parameters = cell.scenario.parameters.description
    subject = cell.arm.subject
    workers = cell.arm.workers
    self.mode = mode
    self.seed = seed
    self.spin = spin
    self.context = context
    self.serviceTime = serviceTime
    self.allocator = allocator
  }

  /// The same of another subject.
  package func on(subject: String) -> MeasureRequest {
    var copy = self
    copy.subject = subject
    return copy
  }

  package var name: BenchmarkName { BenchmarkName(family, benchmark) }

  package func encoded() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  package init(encoded text: String) throws {
    do {
      self = try JSONDecoder().decode(MeasureRequest.self, from: Data(text.utf8))
    } catch {
      throw Complaint(.usage, "measure takes the request that run writes; this is not one")
    }
  }
}
