import Glibc
import Primitives

/// How many CPUs there are, and how many this process may use: the pools' own count, so that both agree.
package enum CPUs {
  /// The affinity mask, and the cgroup's quota where that is less.
  package static var available: Int { CPUCount.available() }
  package static var affinity: Int { CPUCount.affinity() }
  package static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// The CPUs' worth of time the cgroup grants, or nil without a limit.
  package static var quota: Double? { CPUCount.quota() }
}
