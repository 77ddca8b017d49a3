import HarnessMeasuring
import HarnessWords

/// The input from which a benchmark is prepared.
package struct Setting: Sendable {
  package let parameters: Parameters
  package let workers: Int
  package let seed: UInt64
  package let spin: Spin
  /// The time in which the slowest subject completes one operation of an open loop, in nanoseconds. The time is unknown
  /// during calibration, and in every other benchmark.
  package let serviceTime: Double?

  package init(parameters: Parameters, workers: Int, seed: UInt64, spin: Spin, serviceTime: Double? = nil) {
    (self.parameters, self.workers, self.seed) = (parameters, workers, seed)
    (self.spin, self.serviceTime) = (spin, serviceTime)
  }

  /// A parameter that `parameterSets` has set.
  func integer(_ key: String) throws -> Int {
    guard let value = parameters.integer(key), value >= 0 else {
      throw Complaint(.usage, "parameter '\(key)' is missing or not a count in '\(parameters)'")
    }
    return value
  }

  func number(_ key: String) throws -> Double {
    guard let value = parameters.number(key), value >= 0 else {
      throw Complaint(.usage, "parameter '\(key)' is missing or not a number in '\(parameters)'")
    }
    return value
  }
}
