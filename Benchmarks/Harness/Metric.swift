/// A metric of schema 1. A name is never given another meaning or unit within a schema number.
public struct Metric: Hashable, Sendable {
  public let name: String
  public let unit: String

  public init(_ name: String, unit: String) {
    self.name = name
    self.unit = unit
  }

  public static let nsPerOp = Metric("ns_per_op", unit: "ns")
  public static let cpuNsPerOp = Metric("cpu_ns_per_op", unit: "ns")
  public static let voluntarySwitchesPerOp = Metric("voluntary_switches_per_op", unit: "switches")
  public static let nsPerEdge = Metric("ns_per_edge", unit: "ns")
  public static let makespan = Metric("makespan_ns", unit: "ns")
  public static let efficiency = Metric("efficiency", unit: "ratio")
  public static let allocationsPerOp = Metric("allocations_per_op", unit: "allocations")
  public static let bytesPerOp = Metric("bytes_per_op", unit: "bytes")
  public static let nsPerCancel = Metric("ns_per_cancel", unit: "ns")
  public static let lateStarts = Metric("late_starts", unit: "operations")

  /// The three readings of `Elapsed`.
  public static let cost = [nsPerOp, cpuNsPerOp, voluntarySwitchesPerOp]
  /// What the counting process reports.
  public static let allocation = [allocationsPerOp, bytesPerOp]

  /// `prefix_mean`, `prefix_p99` and `prefix_max`, counted in operations.
  public static func distribution(_ prefix: String) -> [Metric] {
    ["mean", "p99", "max"].map { Metric("\(prefix)_\($0)", unit: "operations") }
  }
}
