import FoundationEssentials
import HarnessMeasuring
import HarnessResults
import HarnessStatistics
import HarnessWords

/// A cost model from rounds of measurements, each in a process of its own.
package struct ModelCalibration {
  /// The values of each round.
  private var rounds: [[String: Double]] = []

  package init() {}

  /// Adds the lines that a round wrote: a name and a number each. Throws one line when a value is missing.
  package mutating func add(_ lines: [String]) throws {
    var values: [String: Double] = [:]
    for line in lines {
      let fields = line.split(separator: " ")
      if fields.count == 2, let number = Double(fields[1]) { values[String(fields[0])] = number }
    }
    if let missing = ModelMeasurement.origins.keys.sorted().first(where: { values[$0] == nil }) {
      throw Complaint(.software, "a round of calibrate-model gave no number for \(missing)")
    }
    rounds.append(values)
  }

  /// The lines of one round.
  package static func lines(of values: [String: Double]) -> String {
    values.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)\n" }.joined()
  }

  /// The model: the median of each value over the rounds, with its 95 % interval.
  /// - Parameters:
  ///   - name: what the model is called.
  ///   - source: a file of the checkout that this program was built from.
  package func model(name: String?, source: String) -> CostModel {
    var values: [String: CostModel.Value] = [:]
    for (key, origin) in ModelMeasurement.origins {
      let estimate = Statistics.estimate(rounds.map { $0[key]! })
      values[key] = CostModel.Value(
        ns: estimate.median.toTenth, low: estimate.interval?.lowerBound.toTenth,
        high: estimate.interval?.upperBound.toTenth, from: origin)
    }
    // One machine has no other group and no other socket that could be told apart here.
    for (key, factor) in [("other_group", 2.0), ("other_socket", 4.0)] {
      for base in ["steal", "miss"] {
        values["\(base)_\(key)"] = CostModel.Value(
          ns: (values[base]!.ns * factor).toTenth, from: "\(Int(factor)) times \(base): not measured")
      }
    }
    let folder = source.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let cpu = CPUs.modelName ?? "unknown CPU"
    return CostModel(
      name: name ?? "measured: \(Count.of(CPUs.available, "CPU")) of \(cpu)",
      machine: CostModel.Machine(
        cpu: cpu, cpus: CPUs.available, kernel: SystemFile.read("/proc/sys/kernel/osrelease") ?? "not visible"),
      date: String(Date().formatted(.iso8601).prefix(10)),
      commit: Revision(of: folder, countsNewFiles: true)?.commit, values: values)
  }
}

extension Double {
  fileprivate var toTenth: Double { (self * 10).rounded() / 10 }
}
