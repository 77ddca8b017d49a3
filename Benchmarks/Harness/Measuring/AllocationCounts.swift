import HarnessWords

/// Counts per operation, and threads per process.
package struct AllocationCounts: Hashable, Sendable {
  package let allocations: Double
  package let bytes: Double
  package let threads: Double
  /// The counts of a process that uses no memory again; nil in records that have none.
  package let fresh: Fresh?
  /// The bytes that are in use after the operations and were not in use before; nil when the program does not report
  /// them.
  package let retained: Retained?

  package struct Fresh: Hashable, Sendable {
    package let allocations: Double
    package let bytes: Double

    package init(allocations: Double, bytes: Double) {
      self.allocations = allocations
      self.bytes = bytes
    }
  }

  package struct Retained: Hashable, Sendable {
    package let bytesPerOp: Double
    package let operations: Int

    package init(bytesPerOp: Double, operations: Int) {
      self.bytesPerOp = bytesPerOp
      self.operations = operations
    }

    /// A leak of one object per operation leaves more bytes behind than this. A queue that is longer than ever before
    /// leaves fewer.
    package static let mostPerOp = 16.0
    /// The bytes that a subject may keep for later use, with any number of operations.
    package static let mostBytes = 65_536.0

    /// The bytes per operation beyond which this is a leak. There are two bounds, and what exceeds only one of them is
    /// no leak: the higher one decides.
    package var bound: Double { max(Self.mostPerOp, Self.mostBytes / Double(max(1, operations))) }

    package var isLeak: Bool { bytesPerOp > bound }

    /// Where the deciding bound comes from, in words; nil for the bound of any number of operations.
    package var basis: String? {
      guard bound > Self.mostPerOp else { return nil }
      return "the bound is \(NumberFormat("bytes", Self.mostBytes).text(Self.mostBytes)) in all, of "
        + Count.of(operations, "operation")
    }

    /// How many times as many operations are run before a leak is reported.
    private static let patience = 4

    /// What is retained after `calls` calls. While the bytes look like a leak, more calls are made: what a subject
    /// keeps for later use goes up and down by a repeat's operations, and a leak grows with every repeat.
    static func settled(
      calls: Int, operationsPerCall: Int, bytes: () -> Int, callAgain: () throws -> Void
    ) rethrows -> Retained {
      func now(_ calls: Int) -> Retained {
        let operations = calls * operationsPerCall
        return Retained(bytesPerOp: Double(bytes()) / Double(operations), operations: operations)
      }
      var made = calls
      var kept = now(made)
      while kept.isLeak, made < calls * patience {
        try callAgain()
        made += 1
        kept = now(made)
      }
      return kept
    }
  }

  package init(
    allocations: Double, bytes: Double, threads: Double, fresh: Fresh? = nil, retained: Retained? = nil
  ) {
    (self.allocations, self.fresh, self.bytes) = (allocations, fresh, bytes)
    (self.threads, self.retained) = (threads, retained)
  }

  /// The number of processes from which a record is made. Operations are used again as long as the worker keeps up with
  /// the thread that adds, and the range must hold both extremes.
  package static let recordedProcesses = 60

  /// The number of threads that keep CPUs busy while a process is counted for a record: none, one, and one more than
  /// there are CPUs, by turns. What a gate counts beside other programs is then within the range as well.
  package static func busyThreads(process: Int, processors: Int) -> Int {
    [0, 1, processors + 1][process % 3]
  }

  /// How far outside the recorded range a count may lie. Allocations may differ by a tenth of an allocation and one
  /// percent, bytes by eight bytes and one percent, because the length of a queue varies, and so does the number of
  /// operations that are used again. Threads may differ by one thread, because a pool may or may not start its watchdog
  /// before the process ends.
  package static func slack(_ metric: Metric, _ recorded: Double) -> Double {
    switch metric {
    case .allocationsPerOp, .freshAllocationsPerOp: 0.1 + 0.01 * recorded
    case .bytesPerOp, .freshBytesPerOp: 8 + 0.01 * recorded
    default: 1
    }
  }
}
