/// What an interval says of a ratio.
package enum Verdict: String, Encodable, Sendable {
  /// Surely below 1, and surely above 1.
  case less, more
  /// The whole interval is within the margin. Without a margin: the interval holds 1.
  case same
  /// There is no interval, or one that holds 1 and is wider than the margin.
  case open

  /// - Parameter margin: what is no difference that matters; nil: an interval that holds 1 shows none.
  package init(_ interval: ClosedRange<Double>?, margin: ClosedRange<Double>? = nil) {
    guard let interval else {
      self = .open
      return
    }
    // What is the same needs no direction.
    if let margin, margin.contains(interval.lowerBound), margin.contains(interval.upperBound) {
      self = .same
    } else if interval.contains(1) {
      self = margin == nil ? .same : .open
    } else {
      self = interval.upperBound < 1 ? .less : .more
    }
  }

  /// The word for what should be small, such as a time.
  package var judged: String {
    switch self {
    case .less: "better"
    case .more: "worse"
    case .same, .open: rawValue
    }
  }
}
