import FoundationEssentials
import HarnessMeasuring

/// The origin of the numbers of a committed file.
package struct Provenance: Codable, Hashable, Sendable {
  package let date: String
  package let cpu: String
  package let cpus: Int
  package let kernel: String
  package let commit: String
  package let command: String

  package init(date: String, cpu: String, cpus: Int, kernel: String, commit: String, command: String) {
    (self.date, self.cpu, self.cpus) = (date, cpu, cpus)
    (self.kernel, self.commit, self.command) = (kernel, commit, command)
  }

  /// The provenance of numbers that are measured now on this machine. `commit` is the commit of the measured program,
  /// when it is known.
  package static func here(commit: String?, command: [String]) -> Provenance {
    Provenance(
      date: Date().formatted(.iso8601), cpu: CPUs.modelName ?? "unknown", cpus: CPUs.available,
      kernel: SystemFile.read("/proc/sys/kernel/osrelease") ?? "unknown", commit: commit ?? "unknown",
      // Without the folders of this machine.
      command: command.map { $0.hasPrefix("/") ? String($0.split(separator: "/").last ?? "") : $0 }
        .joined(separator: " "))
  }

  /// Says in what this machine differs from the described machine; nil when both are of the same kind.
  package var difference: String? {
    let cpu = CPUs.modelName ?? "unknown"
    guard (cpu, CPUs.available) != (self.cpu, cpus) else { return nil }
    return "on \(cpus) CPUs of \(self.cpu), not \(CPUs.available) of \(cpu)"
  }
}
