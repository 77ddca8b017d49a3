import HarnessWords

/// How often each arm of a scenario repeats a benchmark for one value.
///
/// What an operation takes may depend on the number of repeats, because the first one finds threads asleep and caches
/// cold. So subjects of about the same speed have the same number: as many repeats as the quickest of them needs to
/// fill the time of a value. A slower arm has fewer when its value would be longer than the longest one.
package enum CommonRepeats {
  /// - Parameter fitting: for each arm, how many repeats fill the longest value.
  package static func numbers(_ fitting: [CellKey: Int], _ effort: Effort) -> [CellKey: Int] {
    guard let most = fitting.values.max() else { return [:] }
    let share = Double(effort.target) / Double(effort.longestValue)
    let common = max(1, Int((Double(most) * share).rounded(.up)))
    return fitting.mapValues { min($0, common) }
  }
}
