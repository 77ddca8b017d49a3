import FoundationEssentials
import Glibc
import HarnessWords
import Primitives

/// A cgroup of this process's own, whose CPU time can be cut and given back. The process is back in its group, and the
/// new one is gone, when this ends. A process that is killed leaves an empty group, which the next one removes.
package final class QuotaGroup {
  private let mount: CgroupMount
  private let parent: String
  private let folder: String

  private static let prefix = "opbench-"
  /// The period of a quota, in microseconds: what the kernel takes when nobody says another.
  private static let period = 100_000

  /// Throws one line where this process can make no such group.
  package init() throws {
    let groups = SystemFile.read("/proc/self/cgroup") ?? ""
    let mounts = CgroupMount.mounts(SystemFile.read("/proc/self/mountinfo") ?? "")
    // A controller is mounted in one version only.
    let ordered = mounts.filter { $0.version == .one } + mounts.filter { $0.version == .two }
    for mount in ordered {
      guard let parent = mount.folders(of: groups)?.first else { continue }
      for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where Self.isLeft(name) {
        rmdir("\(parent)/\(name)")
      }
      let folder = "\(parent)/\(Self.prefix)\(getpid())"
      guard mkdir(folder, 0o755) == 0 else { continue }
      if Self.enter(folder) {
        if mount.version == .two { _ = Self.write("+cpu", to: "\(parent)/cgroup.subtree_control") }
        if access("\(folder)/\(Self.file(mount.version))", W_OK) == 0 {
          (self.mount, self.parent, self.folder) = (mount, parent, folder)
          return
        }
        _ = Self.enter(parent)
      }
      rmdir(folder)
    }
    throw Complaint(
      .unavailable,
      "no CPU quota can be set here: that needs a cgroup in which this process may make a group with the controller cpu"
    )
  }

  deinit {
    _ = Self.enter(parent)
    rmdir(folder)
  }

  /// Grants this many CPUs from now on; nil for all of them.
  package func grant(_ cpus: Double?) throws {
    let quota = cpus.map { "\(Int($0 * Double(Self.period)))" }
    let isSet =
      switch mount.version {
      case .one:
        Self.write("\(Self.period)", to: "\(folder)/cpu.cfs_period_us")
          && Self.write(quota ?? "-1", to: "\(folder)/cpu.cfs_quota_us")
      case .two: Self.write("\(quota ?? "max") \(Self.period)", to: "\(folder)/cpu.max")
      }
    guard isSet else { throw Complaint(.unavailable, "the quota of \(folder) cannot be set") }
  }

  /// Whether a group is that of a process which is gone. The group of a live one may be empty for an instant.
  private static func isLeft(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), let process = pid_t(name.dropFirst(prefix.count)) else { return false }
    return kill(process, 0) != 0 && errno == ESRCH
  }

  private static func file(_ version: CgroupMount.Version) -> String {
    switch version {
    case .one: "cpu.cfs_quota_us"
    case .two: "cpu.max"
    }
  }

  private static func enter(_ folder: String) -> Bool { write("\(getpid())", to: "\(folder)/cgroup.procs") }

  private static func write(_ text: String, to path: String) -> Bool {
    let file = open(path, O_WRONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    return Glibc.write(file, text, text.utf8.count) == text.utf8.count
  }
}
