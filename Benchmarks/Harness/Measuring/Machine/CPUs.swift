import CMeasure
import Glibc
import HarnessWords
import Primitives

/// The number of CPUs that exist, and the number that this process may use: the thread pools' own count, so that the
/// laboratory and the pools agree.
package enum CPUs {
  /// The number of CPUs in the affinity mask, or the cgroup's quota when the quota is less.
  package static var available: Int { CPUCount.available() }
  package static var affinity: Int { CPUCount.affinity() }
  package static var online: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }

  /// The number of CPUs whose time the cgroup grants, or nil without a limit.
  package static var quota: Double? { CPUCount.quota() }

  /// The name of the CPU model, as the kernel gives the name.
  package static var modelName: String? {
    SystemFile.read("/proc/cpuinfo")?.split(separator: "\n").first { $0.hasPrefix("model name") }
      .flatMap { $0.split(separator: ":").last.map { String($0.drop { $0 == " " }) } }
  }

  /// The policy by which the kernel sets the frequency of the first CPU.
  package static var governor: String {
    SystemFile.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") ?? "not visible"
  }

  /// Moves the calling thread onto the CPU with that index among the CPUs that the thread may use, modulo their number.
  /// The kernel is free to move the thread on. A program that counts its CPUs must not be started meanwhile, because
  /// the program would count one CPU.
  package static func begin(on place: Int) { opbench_begin_on(UInt32(truncatingIfNeeded: place)) }

  /// Binds all threads of this process to the last `count` of the CPUs that the process had at the first call; nil: to
  /// all of them. Threads that start later have the CPUs of the thread that starts them.
  package static func limit(to count: Int?) throws {
    for thread in Threads.all() {
      let error = opbench_limit_cpus(thread, UInt32(count ?? 0))
      // A thread may have ended meanwhile.
      guard error == 0 || error == ESRCH else {
        throw Complaint(.unavailable, "cannot take CPUs from this process: \(String(cString: strerror(error)))")
      }
    }
  }

  /// Binds this process, which has no other threads yet, and all processes that it starts to its last `count` CPUs.
  package static func stay(onLast count: Int) throws {
    let error = opbench_stay_on_last(UInt32(count))
    guard error == 0 else {
      throw Complaint(
        .unavailable, "cannot bind this process to \(Count.of(count, "CPU")): \(String(cString: strerror(error)))")
    }
  }
}
