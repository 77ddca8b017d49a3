import FoundationEssentials
import HarnessMeasuring
import HarnessWords

/// A machine on which a run has run, from a beginning to an end. A run that was resumed has several of these, in order.
package struct MachineSitting: Codable, Hashable, Sendable {
  package let host: String
  package let cpuModel: String?
  package let cpusOnline: Int
  package let cpusAllowed: Int
  package let cpuQuota: Double?
  package let kernel: String
  package let governor: String
  package let spin: Spin
  /// By the machine's clock, in ISO 8601 and UTC.
  package let startedAt: String
  /// The last time that is known of it.
  package var endedAt: String

  /// This machine, from now on.
  static func here(_ spin: Spin) -> MachineSitting {
    let now = Self.now
    return MachineSitting(
      host: Host.name, cpuModel: CPUs.modelName, cpusOnline: CPUs.online, cpusAllowed: CPUs.affinity,
      cpuQuota: CPUs.quota, kernel: Host.kernelRelease, governor: CPUs.governor, spin: spin,
      startedAt: now, endedAt: now)
  }

  package static var now: String { Date().formatted(.iso8601) }

  /// What the machine is, apart from its name: machines of one kind are expected to give the same ratios.
  package var kind: String { "\(cpuModel ?? "a CPU of unknown model"), \(Count.of(cpusAllowed, "CPU"))" }

  /// A line for each step back of the clock, from one sitting to the next or within one. A clock that is behind by less
  /// than what passed between the sittings is not noticed.
  package static func clockComplaints(_ sittings: [MachineSitting], of run: String) -> [String] {
    var lines = sittings.compactMap { one -> String? in
      Self.seconds(from: one.startedAt, to: one.endedAt).flatMap { seconds in
        seconds < 0
          ? "\(run): the clock of \(one.host) went back, from \(one.startedAt) to \(one.endedAt), during the run" : nil
      }
    }
    for (before, after) in zip(sittings, sittings.dropFirst()) {
      guard let seconds = seconds(from: before.endedAt, to: after.startedAt), seconds < 0 else { continue }
      let least = Progress.duration(-seconds)
      lines.append(
        before.host == after.host
          ? "\(run): the clock of \(after.host) went back by \(least) or more before the run went on"
          : "\(run): the clock of \(after.host) is behind that of \(before.host) by \(least) or more: the run went on there "
            + "at \(after.startedAt), and had stopped at \(before.endedAt)")
    }
    return lines
  }

  /// Nil when one of the two is no time.
  package static func seconds(from: String, to: String) -> Double? {
    guard let first = try? Date(from, strategy: .iso8601), let second = try? Date(to, strategy: .iso8601) else {
      return nil
    }
    return second.timeIntervalSince(first)
  }
}
