import HarnessMeasuring
import HarnessWords

extension MachineWarnings {
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
