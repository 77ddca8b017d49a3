import HarnessMeasuring

/// What the steps of a pool cost on a machine, with the origin of each number: a file in JSON, and a part of the record
/// of a simulation.
package struct CostModel: Codable, Hashable, Sendable {
  /// The form of the file. A file of another form is refused.
  package static let currentSchema = 2

  /// One number.
  package struct Value: Codable, Hashable, Sendable {
    /// In nanoseconds.
    package var ns: Double
    /// The interval with 95 % confidence; nil for a number that was not measured.
    package var low: Double?
    package var high: Double?
    /// The measurement, or why this number was taken.
    package var from: String

    package init(ns: Double, low: Double? = nil, high: Double? = nil, from: String) {
      (self.ns, self.low, self.high, self.from) = (ns, low, high, from)
    }
  }

  /// Where the numbers are from.
  package struct Machine: Codable, Hashable, Sendable {
    package var cpu: String
    package var cpus: Int
    package var kernel: String
    /// How many CPUs share a last-level cache, and how many a socket has; nil for all of them.
    package var group: Int?
    package var socket: Int?

    package init(cpu: String, cpus: Int, kernel: String, group: Int? = nil, socket: Int? = nil) {
      (self.cpu, self.cpus, self.kernel, self.group, self.socket) = (cpu, cpus, kernel, group, socket)
    }
  }

  package let schema: Int
  /// A few words for readers.
  package let name: String
  package let machine: Machine
  /// The day, as 2026-11-25.
  package let date: String
  /// The commit of opbench that measured; nil outside of a checkout.
  package let commit: String?
  package let values: [String: Value]

  package init(name: String, machine: Machine, date: String, commit: String?, values: [String: Value]) {
    schema = Self.currentSchema
    (self.name, self.machine, self.date, self.commit, self.values) = (name, machine, date, commit, values)
  }
}
