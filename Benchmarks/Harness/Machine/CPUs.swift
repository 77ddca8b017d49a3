import CMeasure
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

  /// Moves the calling thread onto the CPU of that index among those it may use, modulo their number. The kernel is free to
  /// move the thread on. Not for another process: whatever counts the CPUs meanwhile would find one.
  package static func begin(on place: Int) { opbench_begin_on(UInt32(truncatingIfNeeded: place)) }
}
