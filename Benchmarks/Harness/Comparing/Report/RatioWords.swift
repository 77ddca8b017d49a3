import HarnessWords

/// A ratio of times in words: the only place that decides how such a ratio reads.
///
/// A ratio of 0.0258 reads "38.8 times as fast as foundation", and one of 3.75 "3.75 times as long as foundation".
/// Between 1/1.5 and 1.5 the ratio itself reads better: "x0.920 of foundation's time".
package struct RatioWords: Sendable {
  private let ratio: Double
  private let interval: ClosedRange<Double>?

  /// - Parameter ratio: the time of a subject over the time of the other.
  package init(_ ratio: Double, _ interval: ClosedRange<Double>?) {
    self.ratio = ratio
    self.interval = interval
  }

  /// From this ratio on, and below its inverse, a ratio is a number of times.
  package static let limit = 1.5

  /// Words behind a name, such as "38.8 times as fast as foundation [36.1, 41.0]".
  package func compared(with other: String) -> String {
    switch ratio {
    case ...(1 / Self.limit): "\(faster.times) times as fast as \(other)\(faster.range)"
    case Self.limit...: "\(slower.times) times as long as \(other)\(slower.range)"
    default: "\(NumberFormat.ratio(ratio, interval)) of \(other)'s time"
    }
  }

  /// What takes long. Of anything else one has more or less.
  static func isTime(_ what: String) -> Bool { what == "time" || what == "makespan" }

  /// A sentence, such as "tbb is faster: stealing takes 3.75 times as long [3.50, 4.01]".
  /// - Parameter what: what the ratio is one of, such as the peak of pending operations.
  package func sentence(_ name: String, against other: String, of what: String = "time") -> String {
    guard Self.isTime(what) else {
      return switch ratio {
      case ...(1 / Self.limit): "\(other) has \(faster.times) times \(name)'s \(what)\(faster.range)"
      case Self.limit...: "\(other) has less: \(name) has \(slower.times) times \(other)'s \(what)\(slower.range)"
      default: "\(name) has \(NumberFormat.ratio(ratio, interval)) of \(other)'s \(what)"
      }
    }
    return switch ratio {
    case ...(1 / Self.limit): "\(name) is \(compared(with: other))"
    case Self.limit...: "\(other) is faster: \(name) takes \(slower.times) times as long\(slower.range)"
    default: "\(name) takes \(compared(with: other))"
    }
  }

  private var faster: (times: String, range: String) {
    (NumberFormat.significant(1 / ratio), Self.range(interval.map { (1 / $0.upperBound)...(1 / $0.lowerBound) }))
  }

  private var slower: (times: String, range: String) { (NumberFormat.significant(ratio), Self.range(interval)) }

  private static func range(_ interval: ClosedRange<Double>?) -> String {
    interval.map { " \(NumberFormat.range($0))" } ?? ""
  }
}
