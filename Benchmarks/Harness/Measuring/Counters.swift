import Glibc

/// What the kernel has counted for this process up to one moment. The difference of two readings is the cost of the
/// stretch between them.
package struct Counters: Sendable {
  package let wall: UInt64
  package let cpu: UInt64
  package let voluntarySwitches: Int
  package let involuntarySwitches: Int

  package static func read() -> Counters {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Counters(
      wall: Clock.now(), cpu: Clock.processCPU(), voluntarySwitches: usage.ru_nvcsw,
      involuntarySwitches: usage.ru_nivcsw)
  }
}
