import HarnessWords

/// Which of the CPUs that this process may use share a last-level cache, and which share a socket, as the kernel says.
package struct CPUGroups: Sendable {
  /// How far two CPUs are from each other.
  package enum Distance: CaseIterable, Sendable { case sameGroup, otherGroup, otherSocket }

  private struct CPU {
    /// The index among the CPUs that this process may use.
    let place: Int
    let core: String
    let group: String
    let socket: String
  }

  private let cpus: [CPU]

  /// Reads the groups of this machine.
  package init() { self.init { SystemFile.read($0) } }

  /// - Parameter read: gives the text of a file of the kernel; nil when there is no such file.
  init(read: (String) -> String?) {
    let allowed =
      read("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
      .map { Self.numbers(in: $0.drop { $0 != ":" }.dropFirst()) } ?? []
    cpus = allowed.enumerated().map { place, number in
      func fact(_ name: String) -> String? { read("/sys/devices/system/cpu/cpu\(number)/\(name)") }
      let socket = fact("topology/physical_package_id") ?? ""
      // The last-level cache is the third one, or the second where there is no third.
      let group = fact("cache/index3/shared_cpu_list") ?? fact("cache/index2/shared_cpu_list") ?? socket
      return CPU(
        place: place, core: fact("topology/thread_siblings_list") ?? "\(number)", group: group, socket: socket)
    }
  }

  /// The numbers of a list such as `0-3,8`.
  static func numbers(in list: some StringProtocol) -> [Int] {
    list.split(separator: ",").flatMap { part -> [Int] in
      let ends = part.split(separator: "-").compactMap { Int(String($0.filter(\.isNumber))) }
      guard let first = ends.first, let last = ends.last, first <= last else { return [] }
      return Array(first...last)
    }
  }

  /// How many of the CPUs the largest group has; 0 when the kernel does not say.
  package var groupSize: Int { largest(\.group) }
  /// How many of the CPUs the largest socket has; 0 when the kernel does not say.
  package var socketSize: Int { largest(\.socket) }

  private func largest(_ key: (CPU) -> String) -> Int {
    Dictionary(grouping: cpus, by: key).values.map(\.count).max() ?? 0
  }

  /// Two CPUs of different cores at a distance, each by its index among the CPUs that this process may use
  /// (`CPUs.begin`); nil when there are none.
  package func pair(_ distance: Distance) -> (first: Int, second: Int)? {
    for first in cpus {
      let second = cpus.first { other in
        switch distance {
        case .sameGroup: other.group == first.group && other.core != first.core
        case .otherGroup: other.socket == first.socket && other.group != first.group
        case .otherSocket: other.socket != first.socket
        }
      }
      if let second { return (first.place, second.place) }
    }
    return nil
  }
}
