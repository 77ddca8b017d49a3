import Glibc
import HarnessWords

/// The machines of a result, by kind.
package struct Machines: Sendable {
  package struct Kind: Hashable, Sendable {
    /// The CPU model and the number of CPUs.
    package let name: String
    package let hosts: [String]
  }

  /// The kind with the most machines first.
  package let kinds: [Kind]
  private let kindOfHost: [String: String]

  /// The machines that the rows name. A machine that the environment does not describe is of an unknown kind.
  package init(hosts: Set<String>, sittings: [MachineSitting]) {
    var kinds: [String: String] = [:]
    for host in hosts { kinds[host] = sittings.last { $0.host == host }?.kind ?? "machines of unknown kind" }
    kindOfHost = kinds
    self.kinds = Dictionary(grouping: hosts) { kinds[$0]! }.map { Kind(name: $0.key, hosts: $0.value.sorted()) }
      .sorted { ($1.hosts.count, $0.name) < ($0.hosts.count, $1.name) }
  }

  package var count: Int { kindOfHost.count }
  package func kind(of host: String) -> String? { kindOfHost[host] }

  /// A sentence such as "on 3 machines of 2 kinds: …"; nil for a single machine.
  package var text: String? {
    guard count > 1 else { return nil }
    let of = kinds.count == 1 ? "one kind" : Count.of(kinds.count, "kind")
    let parts = kinds.map { kind in
      let shown = kind.hosts.prefix(Self.mostNamed).joined(separator: ", ")
      let more = kind.hosts.count > Self.mostNamed ? " and \(kind.hosts.count - Self.mostNamed) more" : ""
      return "\(kind.hosts.count) x \(kind.name) (\(shown)\(more))"
    }
    let absolute = kinds.count == 1 ? "" : "; absolute numbers are medians over machines of different kinds"
    return
      "on \(count) machines of \(of): \(parts.joined(separator: "; ")); ratios pair blocks of one machine\(absolute)"
  }

  /// The most machines of a kind that a sentence names.
  private static let mostNamed = 8
}
