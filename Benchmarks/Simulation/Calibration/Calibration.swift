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
    func estimate(_ key: String, from origin: String) -> CostModel.Value {
      let estimate = Statistics.estimate(rounds.map { $0[key]! })
      return CostModel.Value(
        ns: estimate.median.toTenth, low: estimate.interval?.lowerBound.toTenth,
        high: estimate.interval?.upperBound.toTenth, from: origin)
    }
    for (key, origin) in ModelMeasurement.origins { values[key] = estimate(key, from: origin) }
    for (_, suffix) in ModelMeasurement.distances where suffix != "" {
      for base in ModelMeasurement.byDistance {
        let key = base + suffix
        if rounds.allSatisfy({ $0[key] != nil }) {
          values[key] = estimate(key, from: ModelMeasurement.origins[base]! + ", by CPUs that far apart")
        } else {
          // This machine has no CPUs that far apart.
          let published = CostModel.manyCPUs.values
          let factor = published[key]!.ns / published[base]!.ns
          values[key] = CostModel.Value(
            ns: (values[base]!.ns * factor).toTenth,
            from: "\(NumberFormat.significant(factor)) times \(base), as published elsewhere: not measured")
        }
      }
    }
    let folder = source.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    let cpu = CPUs.modelName ?? "unknown CPU"
    let groups = CPUGroups()
    func part(_ size: Int) -> Int? {
      1..<CPUs.affinity ~= size && groups.socketSize % groups.groupSize == 0 ? size : nil
    }
    return CostModel(
      name: name ?? "measured: \(Count.of(CPUs.available, "CPU")) of \(cpu)",
      machine: CostModel.Machine(
        cpu: cpu, cpus: CPUs.available, kernel: SystemFile.read("/proc/sys/kernel/osrelease") ?? "not visible",
        group: part(groups.groupSize), socket: part(groups.socketSize)),
      date: String(Date().formatted(.iso8601).prefix(10)),
      commit: Revision(of: folder, countsNewFiles: true)?.commit, values: values)
  }
}

extension Double {
  fileprivate var toTenth: Double { (self * 10).rounded() / 10 }
}
