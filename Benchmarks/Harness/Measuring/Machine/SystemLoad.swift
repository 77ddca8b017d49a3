import Glibc

/// How much the rest of the machine took from this run, up to one moment.
package struct SystemLoad: Sendable {
  /// A block during which more than this share of CPU time was stolen does not count.
  package static let largestStolenShare = 0.01

  /// With this variable in the environment, the clock ticks are read from that file, and not from `/proc/stat`. So a
  /// test of the program does not depend on what other guests do on the machine.
  package static let ticksVariable = "OPBENCH_TICKS_FROM"

  private static let ticksFile = getenv(ticksVariable).map { String(cString: $0) } ?? "/proc/stat"

  /// The clock ticks of all CPUs, idle CPUs included, and the ticks that a hypervisor gave to others.
  let ticks: Double
  let stolen: Double
  /// The ticks in which CPUs did nothing.
  var idle = 0.0
  /// The microseconds in which some task waited for a CPU; nil when the kernel does not report the time.
  let pressure: Double?
  /// The pages read from swap and written to swap; nil when the kernel does not report the number.
  let swapped: Int?

  package static func read() -> SystemLoad {
    let fields = (SystemFile.read(ticksFile) ?? "").split(separator: "\n").first?.split(separator: " ") ?? []
    // The fields are user nice system idle iowait irq softirq steal. The fields behind them are contained in the first
    // two.
    let ticks = fields.dropFirst().prefix(8).compactMap { Double($0) }
    let some = (SystemFile.read("/proc/pressure/cpu") ?? "").split(separator: "\n").first { $0.hasPrefix("some") }
    let total = some?.split(separator: " ").last { $0.hasPrefix("total=") }?.dropFirst("total=".count)
    let swaps = (SystemFile.read("/proc/vmstat") ?? "").split(separator: "\n")
      .filter { $0.hasPrefix("pswpin ") || $0.hasPrefix("pswpout ") }
      .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }
    return SystemLoad(
      ticks: ticks.reduce(0, +), stolen: ticks.count == 8 ? ticks[7] : 0,
      idle: ticks.count == 8 ? ticks[3] + ticks[4] : 0, pressure: total.flatMap { Double($0) },
      swapped: swaps.count == 2 ? swaps[0] + swaps[1] : nil)
  }

  /// The number of tasks that ran or waited for a CPU, averaged over the last minute.
  package static var average: Double? {
    SystemFile.read("/proc/loadavg")?.split(separator: " ").first.flatMap { Double($0) }
  }

  /// The share of CPU time that was stolen since `start`.
  package func stealShare(since start: SystemLoad) -> Double {
    let passed = ticks - start.ticks
    return passed > 0 ? (stolen - start.stolen) / passed : 0
  }

  /// Whether other programs had CPUs since `start` that `seconds` of CPU time of our own needed: they ran for more than
  /// `largestShareOfOthers` of the time, and longer than all CPUs were idle. Beside idle CPUs others may run.
  package func isCrowded(since start: SystemLoad, ours seconds: Double) -> Bool {
    let passed = ticks - start.ticks
    guard passed > 0 else { return false }
    let idle = idle - start.idle
    let others = passed - idle - (stolen - start.stolen) - seconds * Self.ticksPerSecond
    return others > idle && others > Self.largestShareOfOthers * passed / Double(Self.cpus)
  }

  /// The most that other programs may run in a block on a machine without idle CPUs, as a share of one CPU.
  static let largestShareOfOthers = 0.1
  private static let ticksPerSecond = Double(sysconf(Int32(_SC_CLK_TCK)))
  private static let cpus = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  /// The number of pages swapped in and out since `start`.
  package func swappedPages(since start: SystemLoad) -> Int? {
    guard let swapped, let before = start.swapped else { return nil }
    return swapped - before
  }

  /// The seconds in which some task of the machine waited for a CPU since `start`.
  package func pressureSeconds(since start: SystemLoad) -> Double? {
    guard let pressure, let before = start.pressure else { return nil }
    return (pressure - before) / 1e6
  }
}
