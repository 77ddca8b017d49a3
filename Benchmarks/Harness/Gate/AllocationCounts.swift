/// Counts per operation, and threads per process.
package struct AllocationCounts: Hashable, Sendable {
  package let allocations: Double
  package let bytes: Double
  package let threads: Double
  /// What is in use after the operations and was not before; nil where a program does not say.
  package let retained: Retained?

  package struct Retained: Hashable, Sendable {
    package let bytesPerOp: Double
    package let operations: Int

    package init(bytesPerOp: Double, operations: Int) {
      self.bytesPerOp = bytesPerOp
      self.operations = operations
    }

    /// A leak of one object per operation leaves more behind than this; a queue that was never longer before, less.
    package static let mostPerOp = 16.0
    /// What is kept for the next time, whatever the number of operations.
    package static let mostBytes = 65_536.0

    package var isLeak: Bool { bytesPerOp > Self.mostPerOp && bytesPerOp * Double(operations) > Self.mostBytes }
  }

  package init(allocations: Double, bytes: Double, threads: Double, retained: Retained? = nil) {
    self.allocations = allocations
    self.bytes = bytes
    self.threads = threads
    self.retained = retained
  }

  /// How many processes a record is made from. Operations are used again as far as the worker keeps up with the thread that adds:
  /// the range must hold both ends, so a record is best made while other programs come and go.
  package static let recordedProcesses = 60

  /// How far outside the recorded range a count may lie: a tenth of an allocation and one percent, eight bytes and one
  /// percent, since how long a queue gets, and so how much is used again, varies; and one thread, since a pool may or may
  /// not get to start its watchdog before the process ends.
  package static func slack(_ metric: Metric, _ recorded: Double) -> Double {
    switch metric {
    case .allocationsPerOp: 0.1 + 0.01 * recorded
    case .bytesPerOp: 8 + 0.01 * recorded
    default: 1
    }
  }
}
