import Glibc

/// What the kernel has counted for this process up to one moment; the difference of two is the cost of what lay
/// between.
public struct Counters: Sendable {
  public let wall: UInt64
  public let cpu: UInt64
  public let voluntarySwitches: Int
  public let involuntarySwitches: Int

  public static func read() -> Counters {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return Counters(
      wall: Clock.now(), cpu: Clock.processCPU(), voluntarySwitches: usage.ru_nvcsw,
      involuntarySwitches: usage.ru_nivcsw)
  }
}

/// Wall-clock time, CPU time of all threads and context switches of one measured stretch.
public struct Elapsed: Sendable {
  public var wall: UInt64 = 0
  public var cpu: UInt64 = 0
  /// A thread gave up its CPU to wait for something.
  public var voluntarySwitches = 0
  /// A thread lost its CPU to another.
  public var involuntarySwitches = 0

  public init() {}

  /// Adds what passed since `start`, so that one value can be the sum of several timed stretches.
  public mutating func add(since start: Counters) {
    let end = Counters.read()
    wall += end.wall - start.wall
    cpu += end.cpu - start.cpu
    voluntarySwitches += end.voluntarySwitches - start.voluntarySwitches
    involuntarySwitches += end.involuntarySwitches - start.involuntarySwitches
  }

  /// The readings that every benchmark of operations per second gives.
  public func readings(operations: Int) -> [Reading] {
    let count = Double(operations)
    return [
      Reading(.nsPerOp, Double(wall) / count, count: operations),
      Reading(.cpuNsPerOp, Double(cpu) / count, count: operations),
      Reading(.voluntarySwitchesPerOp, Double(voluntarySwitches) / count, count: operations),
      Reading(.involuntarySwitchesPerOp, Double(involuntarySwitches) / count, count: operations),
    ]
  }
}
