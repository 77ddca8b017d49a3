/// Says in plain words what disturbs measuring on this machine, and what would help.
package enum MachineWarnings {
  /// Warnings before a run of this program, or of another program that says how it was built.
  package static func before(isOptimised: Bool = Environment.isOptimised) -> [String] {
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

  /// Warnings about worker counts: more workers than CPUs, and subjects that stand against a reference of another width.
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

  /// Warnings about what the run itself has shown. `more` is the option for more blocks.
  package static func after(_ result: RunResult, _ outcome: RunOutcome, more: String) -> [String] {
    var lines: [String] = []
    if let pages = outcome.swappedPages, pages > 0 {
      lines.append("the machine swapped \(Count.of(pages, "page")) during the run: free some memory and repeat it")
    }
    let tailed = Set(result.rows.lazy.filter { $0.reading.metric.isTail }.map(\.cell.scenario))
    let withTails = result.blocksRun.filter { tailed.contains($0.scenario) }
    let crowded = result.crowded.intersection(withTails)
    if !crowded.isEmpty {
      lines.append(
        "\(crowded.count) of \(Count.of(withTails.count, "block")) with percentiles had to wait for CPUs far longer than the "
          + "quietest, because of other programs or guests: percentiles above the median, and maxima, are without them")
    }
    let throughout = result.crowding.crowdedThroughout.intersection(tailed).map(\.description).sorted()
    if !throughout.isEmpty {
      lines.append(
        "no block was quiet for all subjects: percentiles above the median of \(throughout.joined(separator: ", ")) are "
          + "those of a busy machine")
    }
    let share = Double(result.disturbed.count) / Double(max(result.blocksRun.count, 1))
    guard share > 0 else { return lines }
    let percent = Int((share * 100).rounded(.up))
    let fate = result.excluded.isEmpty ? "all are kept, since no other is left" : "they do not count"
    lines.append(
      "\(result.disturbed.count) of \(Count.of(result.blocksRun.count, "block")) (\(percent) %) lost over 1 % CPU to other guests; "
        + fate)
    if share > 0.25 { lines.append("the run is unstable: repeat it when the host is quieter, or with more \(more)") }
    let lost = Set(result.blocksRun.map(\.scenario)).filter { scenario in
      !result.excluded.isEmpty
        && result.blocksRun.filter { $0.scenario == scenario }.allSatisfy(result.excluded.contains)
    }
    if !lost.isEmpty {
      lines.append("no number for \(lost.map(\.description).sorted().joined(separator: ", ")): no block of it counts")
    }
    return lines
  }
}
