import Testing

@testable import HarnessMeasuring

@Suite struct CPUGroupsTests {
  /// Two sockets of four CPUs: two groups each of two cores, and no CPU 5 for this process.
  private let groups = CPUGroups { path in
    if path == "/proc/self/status" { return "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0-4,6-7" }
    let parts = path.split(separator: "/")
    guard let number = parts.first(where: { $0.hasPrefix("cpu") && $0 != "cpu" }).flatMap({ Int($0.dropFirst(3)) })
    else { return nil }
    switch parts.suffix(2).joined(separator: "/") {
    case "topology/physical_package_id": return "\(number / 4)"
    case "topology/thread_siblings_list": return "\(number)"
    case "index3/shared_cpu_list": return "\(number / 2 * 2)-\(number / 2 * 2 + 1)"
    default: return nil
    }
  }

  @Test func pairsAreOfTheDistanceThatIsAskedFor() {
    #expect(groups.pair(.sameGroup)! == (0, 1))
    #expect(groups.pair(.otherGroup)! == (0, 2))
    #expect(groups.pair(.otherSocket)! == (0, 4))
    #expect(groups.groupSize == 2 && groups.socketSize == 4)
  }

  /// Two threads of one core are no pair. A kernel that says nothing has no pairs.
  @Test func whatAMachineHasNotIsNil() {
    let one = CPUGroups { path in
      switch path.split(separator: "/").last {
      case "status": "Cpus_allowed_list: 0-1"
      case "physical_package_id": "0"
      default: "0-1"
      }
    }
    #expect(CPUGroups.Distance.allCases.allSatisfy { one.pair($0) == nil } && one.groupSize == 2)
    let silent = CPUGroups { _ in nil }
    #expect(silent.pair(.sameGroup) == nil && silent.groupSize == 0)
  }

  @Test func aListOfCPUsIsRead() {
    #expect(CPUGroups.numbers(in: "0-3,8") == [0, 1, 2, 3, 8])
    #expect(CPUGroups.numbers(in: " 5") == [5] && CPUGroups.numbers(in: "").isEmpty)
  }
}
