import CPlatform
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

  private static let cgroupTexts: [(String, String?)] = [
    ("0::/\n", "/"), ("0::/user.slice/session.scope\n", "/user.slice/session.scope"),
    ("12:cpu,cpuacct:/docker/abc\n0::/docker/abc\n", "/docker/abc"), ("12:cpu,cpuacct:/docker/abc\n", nil), ("", nil),
  ]

  @Test(arguments: cgroupTexts)
  func `path in the cgroup-2 hierarchy`(text: String, path: String?) { #expect(CPUCount.cgroupPath(text) == path) }

  @Test func `what is available is at least one and at most the affinity mask`() {
    let available = CPUCount.available()
    #expect(available >= 1)
    #expect(available <= Int(cplatform_affinity_count()))
  }
}
