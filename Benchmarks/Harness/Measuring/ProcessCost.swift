import Glibc

/// The costs of a whole measuring process beside time. The costs are read before the first value of the process and
/// after its last, outside every timed region.
struct ProcessCost {
  private let runDelay: UInt64?

  init() { runDelay = Self.runDelay() }

  /// One reading of each metric per process. `operations` is the number of operations of all its values.
  func readings(operations: Int) -> [Reading] {
    var readings: [Reading] = []
    // The threads count from the start of the process, because the subject's threads exist before its first value.
    if let threads = ThreadsCreated.count {
      readings.append(Reading(.threadsCreated, Double(threads), count: operations))
    }
    if let peak = Self.peakRSS() { readings.append(Reading(.peakRSS, Double(peak), count: operations)) }
    if let runDelay, let now = Self.runDelay(), operations > 0 {
      // The delay of a thread that has ended is no longer in the sum.
      let delay = now > runDelay ? now - runDelay : 0
      readings.append(Reading(.runDelayNsPerOp, Double(delay) / Double(operations), count: operations))
    }
    return readings
  }

  /// The largest resident size since the program began, in bytes, including the memory of the harness itself.
  /// `ru_maxrss` would not do, because a process takes that number over from the process that started it.
  static func peakRSS() -> Int? {
    let line = SystemFile.read("/proc/self/status")?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line?.split { !$0.isNumber }.first.flatMap { Int($0) }.map { $0 * 1_024 }
  }

  /// How long the threads that exist now have been ready to run without a CPU, in nanoseconds: the second number of
  /// `schedstat`.
  static func runDelay() -> UInt64? {
    let delays = threads().compactMap { thread in
      SystemFile.read("/proc/self/task/\(thread)/schedstat")?.split(separator: " ").dropFirst().first.flatMap {
        UInt64($0)
      }
    }
    return delays.isEmpty ? nil : delays.reduce(0, +)
  }

  /// The threads of this process.
  static func threads() -> [pid_t] {
    guard let folder = opendir("/proc/self/task") else { return [] }
    defer { closedir(folder) }
    var found: [pid_t] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if let thread = pid_t(name) { found.append(thread) }
    }
    return found
  }
}
