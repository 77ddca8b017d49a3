import CPlatform
import Glibc
import Primitives
import Testing

@Suite struct CPUCountTests {
  private static let cpuMaxTexts: [(String, Double?)] = [
    ("max 100000\n", nil), ("100000 100000\n", 1), ("150000 100000", 1.5), ("200000 100000\n", 2),
    ("50000 100000\n", 0.5), ("1 100000\n", 0.000_01), ("1600000 50000\n", 32), ("", nil), ("max", nil),
    ("100000", nil),
    ("0 100000", nil), ("-1 100000", nil), ("100000 0", nil), ("nonsense 100000", nil),
  ]

  @Test(arguments: cpuMaxTexts)
  func `cpu.max of cgroup 2`(text: String, quota: Double?) { #expect(CPUCount.quota(cpuMax: text) == quota) }

  private static let periods: [(Int, Int, Double?)] = [
    (-1, 100_000, nil), (0, 100_000, nil), (100_000, 0, nil), (100_000, 100_000, 1), (150_000, 100_000, 1.5),
    (10_000, 100_000, 0.1), (400_000, 100_000, 4),
  ]

  @Test(arguments: periods)
  func `quota and period of cgroup 1`(microseconds: Int, period: Int, quota: Double?) {
    #expect(CPUCount.quota(microseconds: microseconds, period: period) == quota)
  }

  private static let cgroupTexts: [(String, one: String?, two: String?)] = [
    ("0::/\n", nil, "/"), ("0::/user.slice/session.scope\n", nil, "/user.slice/session.scope"),
    ("12:cpu,cpuacct:/docker/abc\n0::/docker/two\n", "/docker/abc", "/docker/two"),
    ("12:cpuacct,cpu:/docker/abc\n", "/docker/abc", nil), ("3:cpuset:/a\n2:cpu:/b:c\n", "/b:c", nil), ("", nil, nil),
    ("nonsense\n", nil, nil),
  ]

  @Test(arguments: cgroupTexts)
  func `path in the cgroup hierarchies`(text: String, one: String?, two: String?) {
    #expect(CgroupMount.path(text, .one) == one)
    #expect(CgroupMount.path(text, .two) == two)
  }

  @Test func `mounts of cgroup hierarchies`() {
    let text = """
      30 23 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755
      31 30 0:27 / /sys/fs/cgroup/unified rw shared:5 - cgroup2 cgroup2 rw
      36 30 0:32 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw shared:9 master:1 - cgroup cgroup rw,cpu,cpuacct
      37 30 0:33 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
      a line that is cut -
      """
    #expect(
      CgroupMount.mounts(text) == [
        CgroupMount(.two, group: "/", point: "/sys/fs/cgroup/unified"),
        CgroupMount(.one, group: "/docker/abc", point: "/sys/fs/cgroup/cpu,cpuacct"),
      ])
  }

  @Test func `the groups around a process`() {
    func folders(_ group: String, _ path: String) -> [String]? {
      CgroupMount(.two, group: group, point: "/c").folders(of: "0::\(path)\n")
    }
    #expect(folders("/", "/") == ["/c"])
    #expect(folders("/", "/a/b") == ["/c/a/b", "/c/a", "/c"])
    // In a container whose own group is at the mount's point.
    #expect(folders("/docker/abc", "/docker/abc/x") == ["/c/x", "/c"])
    #expect(folders("/docker/abc", "/docker/abc") == ["/c"])
    #expect(CgroupMount(.one, group: "/", point: "/c").folders(of: "0::/a\n") == nil)
  }

  /// Writes a file, and the folders around it.
  /// - Returns: what has been made, outermost first.
  private func write(_ text: String, to path: String) -> [String] {
    var (made, folder) = ([String](), "")
    for part in path.split(separator: "/").dropLast() {
      folder += "/\(part)"
      if mkdir(folder, 0o700) == 0 { made.append(folder) }
    }
    guard let file = fopen(path, "w") else { return made }
    fputs(text, file)
    fclose(file)
    return made + [path]
  }

  @Test func `a quota of cgroup 1 below the root counts, and the tightest one around it`() throws {
    var name = Array("/tmp/cgroups-XXXXXX".utf8CString)
    let root = String(cString: try #require(mkdtemp(&name)))
    var made = [root]
    defer { for path in made.reversed() { remove(path) } }
    let mount = "/sys/fs/cgroup/cpu,cpuacct"
    made += write("5:cpu,cpuacct:/slurm/job_7/step_0\n", to: "\(root)/proc/self/cgroup")
    made += write("36 30 0:32 / \(mount) rw - cgroup cgroup rw,cpu,cpuacct\n", to: "\(root)/proc/self/mountinfo")
    #expect(CPUCount.quota(root: root) == nil)
    for (group, quota) in [("", -1), ("/slurm", 800_000), ("/slurm/job_7", 150_000), ("/slurm/job_7/step_0", -1)] {
      made += write("\(quota)\n", to: "\(root)\(mount)\(group)/cpu.cfs_quota_us")
      made += write("100000\n", to: "\(root)\(mount)\(group)/cpu.cfs_period_us")
    }
    #expect(CPUCount.quota(root: root) == 1.5)
    #expect(CPUCount.availableIfKnown(root: root) == min(2, CPUCount.affinity()))
    // A quota that cannot be read is not gone: here a loop of links is in the place of the file.
    let file = "\(root)\(mount)/slurm/job_7/cpu.cfs_quota_us"
    #expect(remove(file) == 0 && symlink(file, file) == 0)
    #expect(CPUCount.availableIfKnown(root: root) == nil)
  }

  private static let workerTexts: [(String, Int?)] = [
    ("1", 1), ("16", 16), ("16384", 16_384), ("16385", nil), ("0", nil), ("-1", nil), ("+2", nil), ("1.5", nil),
    ("four", nil), ("", nil), (" 2", nil), ("99999999999999999999", nil),
  ]

  @Test(arguments: workerTexts)
  func `numbers of workers in the environment`(text: String, workers: Int?) {
    #expect(WorkersVariable.workers(text) == workers)
  }

  @Test func `what is available is at least one and at most the affinity mask`() {
    let available = CPUCount.available()
    #expect(available >= 1)
    #expect(available <= Int(cplatform_affinity_count()))
  }
}
