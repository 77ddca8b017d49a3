import CPlatform

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// How many CPUs this process may use: the smaller of its affinity mask and its cgroup's quota.
package enum CPUCount {
  /// At least 1; a quota of 1.5 CPUs counts as 2. Each call reads a few small files.
  package static func available() -> Int {
    let affinity = affinity()
    guard let quota = quota() else { return affinity }
    return max(1, Int(min(Double(affinity), quota.rounded(.up))))
  }

  /// How many CPUs the affinity mask of the calling thread has.
  package static func affinity() -> Int { Int(cplatform_affinity_count()) }

  /// The CPUs that `cpu.max` of cgroup 2 ("max 100000", "150000 100000") grants; nil when the text gives no limit or
  /// makes no sense.
  package static func quota(cpuMax text: String) -> Double? {
    let fields = text.split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard fields.count >= 2, let granted = Int(fields[0]), let period = Int(fields[1]) else { return nil }
    return quota(microseconds: granted, period: period)
  }

  /// The CPUs that the two numbers of cgroup 1 grant (`cpu.cfs_quota_us`, -1 for none, and `cpu.cfs_period_us`).
  package static func quota(microseconds quota: Int, period: Int) -> Double? {
    guard quota > 0, period > 0 else { return nil }
    return Double(quota) / Double(period)
  }

  /// The path of this process in the cgroup-2 hierarchy, from the text of /proc/self/cgroup ("0::/user.slice/…").
  package static func cgroupPath(_ text: String) -> String? {
    for line in text.split(separator: "\n") where line.hasPrefix("0::") { return String(line.dropFirst(3)) }
    return nil
  }

  /// The CPUs that the tightest quota on the way from this process's cgroup up to the root grants; nil for no limit.
  package static func quota() -> Double? {
    var tightest: Double?
    var path = readText("/proc/self/cgroup").flatMap(cgroupPath) ?? "/"
    while true {
      let folder = path == "/" ? "" : path
      if let found = readText("/sys/fs/cgroup\(folder)/cpu.max").flatMap(quota(cpuMax:)) {
        tightest = min(tightest ?? found, found)
      }
      guard let slash = path.lastIndex(of: "/"), path != "/" else { break }
      path = slash == path.startIndex ? "/" : String(path[..<slash])
    }
    if tightest == nil,
      let quota = readText("/sys/fs/cgroup/cpu/cpu.cfs_quota_us").flatMap(firstInteger),
      let period = readText("/sys/fs/cgroup/cpu/cpu.cfs_period_us").flatMap(firstInteger)
    {
      tightest = Self.quota(microseconds: quota, period: period)
    }
    return tightest
  }

  private static func firstInteger(_ text: String) -> Int? {
    text.split(separator: "\n").first.flatMap { Int($0) }
  }

  private static func readText(_ path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 4096)
    let length = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<length], as: UTF8.self)
  }
}

/// The most workers that a backend may have. The pools count threads in fields of 16 bits.
package let mostWorkers = 16_384

/// How many workers a backend has: the number asked for, or else one worker for each CPU. Traps when the number is
/// less than one, or more than `mostWorkers`.
package func checkedWorkerCount(_ workers: Int?) -> Int {
  guard let workers else { return CPUCount.available() }
  if workers < 1 { fatalError("Operations: a backend needs at least one worker, not \(workers)") }
  if workers > mostWorkers { fatalError("Operations: a backend has at most \(mostWorkers) workers, not \(workers)") }
  return workers
}
