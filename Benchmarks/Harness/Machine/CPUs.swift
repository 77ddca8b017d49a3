import Glibc

/// How many CPUs this process may use: the affinity mask, and the cgroup's quota where that is less.
package enum CPUs {
  package static var available: Int { max(1, min(affinity, quota.map { Int($0.rounded(.up)) } ?? .max)) }

  /// From the process's own status file, since Swift's Glibc does not import `sched_getaffinity`.
  package static var affinity: Int {
    let status = SystemFile.read("/proc/self/status") ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed:") }
    return line.flatMap { allowed(mask: $0.dropFirst("Cpus_allowed:".count)) } ?? online
  }

  /// The mask is groups of hexadecimal digits with commas between them.
  static func allowed(mask: Substring) -> Int? {
    let digits = mask.filter { $0 != "," && !$0.isWhitespace }.compactMap(\.hexDigitValue)
    let count = digits.reduce(0) { $0 + $1.nonzeroBitCount }
    return count > 0 ? count : nil
  }

  package static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// The CPUs' worth of time the cgroup grants, or nil without a limit.
  package static var quota: Double? {
    if let limit = SystemFile.read("/sys/fs/cgroup/cpu.max") { return quota(version2: limit) }
    guard let quota = SystemFile.read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").flatMap(Double.init),
      let period = SystemFile.read("/sys/fs/cgroup/cpu/cpu.cfs_period_us").flatMap(Double.init), quota > 0, period > 0
    else { return nil }
    return quota / period
  }

  /// `cpu.max` holds a quota or "max", and a period, both in microseconds.
  static func quota(version2 text: String) -> Double? {
    let fields = text.split(separator: " ")
    guard fields.count == 2, let quota = Double(fields[0]), let period = Double(fields[1]), period > 0 else {
      return nil
    }
    return quota / period
  }
}
