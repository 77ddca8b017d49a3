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

  /// How many CPUs the process may use, for a look while the program runs. Nil where the files cannot be read, as
  /// without a descriptor or behind `chroot`: a quota that nobody can read is not gone.
  package static func availableIfKnown(root: String = "") -> Int? {
    var isRefused = false
    guard readText("\(root)/proc/self/cgroup", &isRefused) != nil else { return nil }
    let quota = quota(root: root, &isRefused)
    return isRefused ? nil : max(1, min(affinity(), quota.map { Int($0.rounded(.up)) } ?? .max))
  }

  /// How many CPUs the affinity mask of the main thread has: that is the process's mask, on every
  /// calling thread.
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

  /// The CPUs that the tightest quota on the way from this process's cgroup up to the root grants; nil for no limit.
  /// - Parameter root: the folder in which "proc" and the mounted cgroup hierarchies lie: "" for the system's.
  package static func quota(root: String = "") -> Double? {
    var isRefused = false
    return quota(root: root, &isRefused)
  }

  private static func quota(root: String, _ isRefused: inout Bool) -> Double? {
    let groups = readText("\(root)/proc/self/cgroup", &isRefused) ?? ""
    let mounts = CgroupMount.mounts(readText("\(root)/proc/self/mountinfo", &isRefused) ?? "")
    return mounts.compactMap { mount -> Double? in
      guard let folders = mount.folders(of: groups) else { return nil }
      return folders.compactMap { quota(in: root + $0, mount.version, &isRefused) }.min()
    }.min()
  }

  /// The quota that the files of one folder of a hierarchy grant.
  private static func quota(in folder: String, _ version: CgroupMount.Version, _ isRefused: inout Bool) -> Double? {
    switch version {
    case .two: return readText("\(folder)/cpu.max", &isRefused).flatMap(quota(cpuMax:))
    case .one:
      guard let quota = readText("\(folder)/cpu.cfs_quota_us", &isRefused).flatMap(firstInteger),
        let period = readText("\(folder)/cpu.cfs_period_us", &isRefused).flatMap(firstInteger)
      else { return nil }
      return Self.quota(microseconds: quota, period: period)
    }
  }

  private static func firstInteger(_ text: String) -> Int? {
    text.split(separator: "\n").first.flatMap { Int($0) }
  }

  /// - Parameter isRefused: becomes true when a file is there, or may be there, and cannot be opened.
  private static func readText(_ path: String, _ isRefused: inout Bool) -> String? {
    guard let file = fopen(path, "re") else {
      if errno != ENOENT, errno != ENOTDIR { isRefused = true }
      return nil
    }
    defer { fclose(file) }
    var (bytes, buffer) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    while case let length = fread(&buffer, 1, buffer.count, file), length > 0 { bytes += buffer[..<length] }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A mounted cgroup hierarchy that can limit CPU time: that of cgroup 2, or the one of cgroup 1 with the controller
/// `cpu`.
package struct CgroupMount: Equatable {
  package enum Version { case one, two }

  package let version: Version
  /// The group that is seen at `point`: "/", or a container's own group.
  package let group: String
  /// Where the group is mounted.
  package let point: String

  package init(_ version: Version, group: String, point: String) {
    (self.version, self.group, self.point) = (version, group, point)
  }

  /// The mounts that the text of /proc/self/mountinfo names. A line is
  /// `36 35 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct`.
  package static func mounts(_ text: String) -> [CgroupMount] {
    text.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ").map(String.init)
      // A line has any number of optional fields before the hyphen.
      guard let hyphen = fields.firstIndex(of: "-"), hyphen >= 6, fields.count >= hyphen + 4 else { return nil }
      let (group, point, options) = (fields[3], fields[4], fields[hyphen + 3].split(separator: ","))
      switch fields[hyphen + 1] {
      case "cgroup2": return CgroupMount(.two, group: group, point: point)
      case "cgroup" where options.contains("cpu"): return CgroupMount(.one, group: group, point: point)
      default: return nil
      }
    }
  }

  /// The folders of this process's group and of the groups around it, up to the mount's own, innermost first; nil when
  /// the process is in no group of the hierarchy.
  /// - Parameter text: that of /proc/self/cgroup.
  package func folders(of text: String) -> [String]? {
    guard var path = Self.path(text, version) else { return nil }
    // A container may see its own group at the mount's point, and yet be told the group's path from outside.
    if group != "/", path == group || path.hasPrefix("\(group)/") { path = String(path.dropFirst(group.count)) }
    var folders: [String] = []
    while let slash = path.lastIndex(of: "/") {
      if path != "/" { folders.append(point + path) }
      path = String(path[..<slash])
    }
    return folders + [point]
  }

  /// This process's path in a hierarchy: "0::/user.slice/…" for cgroup 2, "4:cpu,cpuacct:/docker/…" for cgroup 1.
  package static func path(_ text: String, _ version: Version) -> String? {
    for line in text.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      switch version {
      case .one: if fields[1].split(separator: ",").contains("cpu") { return String(fields[2]) }
      case .two: if fields[0] == "0", fields[1].isEmpty { return String(fields[2]) }
      }
    }
    return nil
  }
}

/// The most workers that a backend may have. The pools count threads in fields of 16 bits.
package let mostWorkers = 16_384

/// The environment variable with which an operator says how many workers a backend has. A number that the program names
/// goes first.
package enum WorkersVariable {
  package static let name = "OPERATIONS_WORKERS"

  /// Nil when the variable is not set, and when its value is no number of workers: the first look then prints one line.
  package static let value: Int? = {
    guard let text = getenv(name).map({ String(cString: $0) }), !text.isEmpty else { return nil }
    if let workers = workers(text) { return workers }
    let line =
      "Operations: \(name) is \"\(text)\": it must be a whole number from 1 to \(mostWorkers). A backend has one worker"
      + " for each CPU, which is \(CPUCount.available())"
    line.withCString { cplatform_print_error($0) }
    return nil
  }()

  /// The number that the text is; nil when it is no number of workers.
  package static func workers(_ text: String) -> Int? {
    guard text.allSatisfy({ $0.isASCII && $0.isNumber }), let workers = Int(text), workers >= 1 else { return nil }
    return workers <= mostWorkers ? workers : nil
  }
}
