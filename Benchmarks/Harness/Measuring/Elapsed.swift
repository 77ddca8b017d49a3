/// Wall-clock time, CPU time of all threads and context switches of one measured stretch.
package struct Elapsed: Sendable {
  package var wall: UInt64 = 0
  package var cpu: UInt64 = 0
  /// How often a thread gave up its CPU to wait for something.
  package var voluntarySwitches = 0
  /// How often a thread lost its CPU to another thread.
  package var involuntarySwitches = 0

  package init() {}

  /// What passed since `start`.
  package init(since start: Counters) { add(since: start) }

  /// Adds what passed since `start`, so that one value can be the sum of several timed stretches.
  package mutating func add(since start: Counters) {
    let end = Counters.read()
    wall += end.wall - start.wall
    cpu += end.cpu - start.cpu
    voluntarySwitches += end.voluntarySwitches - start.voluntarySwitches
    involuntarySwitches += end.involuntarySwitches - start.involuntarySwitches
  }

  /// The readings that every benchmark of operations per second gives.
  package func readings(operations: Int) -> [Reading] {
    let count = Double(operations)
    return [
      Reading(.nsPerOp, Double(wall) / count, count: operations),
      Reading(.cpuNsPerOp, Double(cpu) / count, count: operations),
      Reading(.voluntarySwitchesPerOp, Double(voluntarySwitches) / count, count: operations),
      Reading(.involuntarySwitchesPerOp, Double(involuntarySwitches) / count, count: operations),
    ]
  }
}
