import HarnessWords

/// Says in plain words what disturbs measuring on this machine, and what would help.
package enum MachineWarnings {
  /// Warnings before a run of this program, or of another program that says how it was built.
  package static func before(isOptimised: Bool = Build.isOptimised) -> [String] {
    warnings(
      load: SystemLoad.average, isOptimised: isOptimised,
      governor: SystemFile.read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
      // Zero when turbo is switched off, and one when turbo is on. Intel's driver reports the opposite.
      boost: SystemFile.read("/sys/devices/system/cpu/cpufreq/boost")
        ?? SystemFile.read("/sys/devices/system/cpu/intel_pstate/no_turbo").map { $0 == "1" ? "0" : "1" })
  }

  static func warnings(load: Double?, isOptimised: Bool, governor: String?, boost: String?) -> [String] {
    var lines: [String] = []
    if let load, load > 0.5 {
      lines.append(
        "other programs are busy (load average \(load)): the numbers will be steadier once they have stopped")
    }
    if !isOptimised { lines.append("this is a debug build, its numbers mean nothing: build with -c release") }
    switch (governor, boost) {
    case (nil, nil):
      lines.append("the CPU's frequency governor and turbo are not visible here: its speed may change during the run")
    case (let governor?, _) where governor != "performance":
      lines.append(
        "the CPU's governor is '\(governor)': its speed changes with the load; cpupower frequency-set -g performance helps"
      )
    case (_, "1"):
      lines.append("turbo is on: the CPU's speed depends on its heat; switching it off gives steadier numbers")
    default: break
    }
    return lines
  }

  /// Warnings about worker counts: more workers than CPUs, and subjects that stand against a reference of another
  /// width.
  package static func workers(_ arms: [Arm], reference: String, available: Int = CPUs.available) -> [String] {
    var lines: [String] = []
    let crowded = Set(arms.map(\.workers).filter { $0 > available }).sorted().map(String.init)
    if !crowded.isEmpty {
      lines.append(
        "\(crowded.joined(separator: " and ")) workers on \(Count.of(available, "CPU")): they take turns on a CPU, and the "
          + "numbers are about that too")
    }
    let uneven = arms.compactMap { arm -> String? in
      guard arm.subject != reference, let base = Arm.reference(reference, for: arm, among: arms),
        base.workers != arm.workers
      else { return nil }
      return "\(arm) with \(base)"
    }
    if !uneven.isEmpty {
      lines.append(
        "compared are \(uneven.joined(separator: ", ")): \(reference) has as many workers as the system gives it, so the "
          + "ratios are not those of equal widths")
    }
    return lines
  }
}
