extension Operation {
  /// Order among the ready operations of a queue; the raw values are Foundation's.
  public enum QueuePriority: Int, Sendable, CaseIterable {
    case veryLow = -8
    case low = -4
    case normal = 0
    case high = 4
    case veryHigh = 8
  }
}

extension Operation.QueuePriority {
  /// 0 (very low) to 4 (very high).
  package var level: Int { (rawValue + 8) / 4 }

  package init(level: Int) { self = Self(rawValue: level * 4 - 8) ?? .normal }
}
