import FoundationEssentials
import HarnessWords

/// The request of the parent to one process, as the single argument of the hidden subcommand `measure`.
package struct MeasureRequest: Codable, Hashable, Sendable {
  package enum Mode: Codable, Hashable, Sendable {
    /// Work for `leadIn` nanoseconds. Then find how many repeats fill `target` nanoseconds of timed work. A number
    /// above `limit` is not needed.
    case calibrate(target: UInt64, limit: Int, leadIn: UInt64 = 0)
    /// Work for `leadIn` nanoseconds, and at least for one value unless `leadIn` is 0. The times of the lead-in do not
    /// count. Then give `values` values of `repeats` repeats each; give fewer values, but at least one, when they have
    /// taken `budget` nanoseconds together. Every second value has `more` repeats more. With `countsEvents`, run one
    /// more value, during which the kernel counts and whose time does not count. With `takesTurns`, stop before each
    /// value until it is the process's turn, and then run one value whose time does not count.
    case time(
      repeats: Int, values: Int, leadIn: UInt64 = 0, budget: UInt64 = .max, more: Int = 0, countsEvents: Bool = false,
      takesTurns: Bool = false)
    /// Count allocations. The process runs on an allocator that can count.
    case count(values: Int)
    /// Record a timeline of a few repeats.
    case trace(TraceRequest)
  }

  /// The argument in the place of a request that measures nothing. The time of such a process is the time of starting a
  /// process.
  package static let nothing = "nothing"

  package let family: String
  package let benchmark: String
  package let parameters: String
  package private(set) var subject: String
  package let workers: Int
  package let mode: Mode
  package let seed: UInt64
  package let spin: Spin
  /// What the program was given beside the cell, such as files to replay. Only the suite that wrote the context knows
  /// its meaning.
  package let context: String
  /// The time in which the slowest subject completes one operation of an open loop, in nanoseconds.
  package let serviceTime: Double?
  /// The allocator on which a process that takes times must run.
  package let allocator: Allocator
  /// The CPU on which to begin, as an index among the CPUs that this process may use, modulo their number; with nil,
  /// the kernel chooses. The kernel may move the process at once.
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
    (self.mode, self.seed, self.spin) = (mode, seed, spin)
    (self.context, self.serviceTime, self.allocator) = (context, serviceTime, allocator)
  }

  /// Makes a copy of the request for another subject.
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
