import HarnessMeasuring
import HarnessResults
import HarnessWords

/// What the numbers of a run depend on beside the code that is measured. A name of a machine says none of it: a machine
/// gets another CPU, toolchain or kernel under the same name.
struct Conditions {
  /// A condition in words, such as "the kernel", and its value; nil when the result does not say the value.
  private let values: [(what: String, value: String?)]

  /// The conditions of the whole run.
  init(_ record: RunRecord) {
    let effort = record.effort
    values = [
      ("the build", record.optimisation), ("the toolchain", record.toolchain), ("the allocator", record.allocator),
      ("address space layout randomisation", record.aslr), ("the seed of inputs and orders", "\(record.seed)"),
      ("what the benchmarks read", record.context),
      ("the lead-in of a process", NumberFormat("ns", Double(effort.leadIn)).text(Double(effort.leadIn))),
      ("the time of a value", NumberFormat("ns", Double(effort.target)).text(Double(effort.target))),
      ("the number of values of a process", "\(effort.values)"),
    ]
  }

  /// The conditions of a machine.
  private init(_ sitting: MachineSitting) {
    let quota = sitting.cpuQuota.map { ", \(NumberFormat.significant($0)) by its quota" } ?? ""
    values = [
      ("the CPU", sitting.cpuModel ?? "of unknown model"),
      ("the number of CPUs", "\(sitting.cpusAllowed) of \(sitting.cpusOnline)\(quota)"), ("the kernel", sitting.kernel),
      ("the governor", sitting.governor),
    ]
  }

  /// A line for each condition in which two results differ.
  static func differences(before: RunRecord?, after: RunRecord?) -> [String] {
    guard let before, let after else { return [] }
    var lines = Conditions(before).lines(to: Conditions(after), of: "")
    let (old, new) = (before.machines, after.machines)
    let common = Set(old.map(\.host)).intersection(new.map(\.host)).sorted()
    for host in common {
      guard let first = old.last(where: { $0.host == host }), let second = new.last(where: { $0.host == host }) else {
        continue
      }
      lines += Conditions(first).lines(to: Conditions(second), of: common.count > 1 ? "\(host): " : "")
    }
    if common.isEmpty, Set(old.map(\.host)).count == 1, Set(new.map(\.host)).count == 1 {
      lines += Conditions(old.last!).lines(to: Conditions(new.last!), of: "")
    }
    lines += before.peers.sorted { $0.key < $1.key }.compactMap { name, version in
      guard let other = after.peers[name], other != version else { return nil }
      return "the version of \(name) differs: \(version) before, \(other) after"
    }
    if before.optimisation == "debug", after.optimisation == "debug" {
      lines.append("both results are of debug builds, whose numbers mean nothing")
    }
    return lines
  }

  private func lines(to later: Conditions, of host: String) -> [String] {
    zip(values, later.values).compactMap { before, after in
      guard before.value != after.value else { return nil }
      return "\(host)\(before.what) differs: \(Self.shown(before.value)) before, \(Self.shown(after.value)) after"
    }
  }

  private static func shown(_ value: String?) -> String {
    guard let value else { return "not known" }
    return value.isEmpty ? "nothing" : value.split(whereSeparator: \.isNewline).joined(separator: ", ")
  }
}
