import HarnessMeasuring

extension Benchmark {
  /// How much one operation handles. The results then say how much that is per second; more is better.
  public struct Throughput: Sendable {
    let metric: Metric
    let perOperation: Double

    /// A number of items per operation, such as words or requests: the metric `items_per_second`.
    public static func items(perOperation number: Double) -> Throughput {
      Throughput(metric: .itemsPerSecond, perOperation: number)
    }

    /// A number of bytes per operation: the metric `bytes_per_second`.
    public static func bytes(perOperation number: Double) -> Throughput {
      Throughput(metric: .bytesPerSecond, perOperation: number)
    }

    /// The throughput of operations that took the given nanoseconds together.
    func reading(operations: Int, nanoseconds: UInt64) -> Reading {
      let seconds = Double(max(1, nanoseconds)) / 1e9
      return Reading(metric, perOperation * Double(operations) / seconds, count: operations)
    }
  }
}
