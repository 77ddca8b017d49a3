/// The rule by which a long run says that memory does not grow.
///
/// The samples are cut into thirds by time. The first third is warming up: pools, magazines and the allocator's arenas
/// fill. The median of the last third may lie above that of the second by a tenth or by 16 MB, whichever is more: the
/// allocator's own unsteadiness is below that, and what every round loses adds up to more within minutes.
public enum FlatMemory {
  public static let allowedShare = 0.1
  public static let allowedBytes = 16 * 1024 * 1024
  /// Two in each third.
  public static let fewestSamples = 6

  /// One line that says what is wrong; nil when memory is flat.
  public static func objection(_ samples: [Int]) -> String? {
    guard samples.count >= fewestSamples else {
      return "\(samples.count) samples of memory are too few to say whether it grows; \(fewestSamples) are needed"
    }
    let third = samples.count / 3
    let second = median(samples.dropLast(third).suffix(third))
    let last = median(samples.suffix(third))
    let most = second + max(Int(Double(second) * allowedShare), allowedBytes)
    guard last > most else { return nil }
    return "memory grows: \(megabytes(last)) in the last third, \(megabytes(second)) in the second; "
      + "at most \(megabytes(most)) would be flat"
  }

  public static func megabytes(_ bytes: Int) -> String {
    let tenths = (bytes * 10 + 524_288) / 1_048_576
    return "\(tenths / 10).\(tenths % 10) MB"
  }

  /// The lower of the two in the middle of an even number.
  private static func median(_ samples: some Sequence<Int>) -> Int {
    let sorted = samples.sorted()
    return sorted[(sorted.count - 1) / 2]
  }
}
