extension Operation {
  /// Order among the ready operations of a queue; the raw values are Foundation's.
  public enum QueuePriority: Int, Sendable, CaseIterable {
    /// The last level. `Fairness` gives the level a turn now and then, so that its operations never wait for ever.
    case veryLow = -8
    /// Behind `normal`, before `veryLow`.
    case low = -4
    /// The level of an operation whose priority and quality of service nobody has set.
    case normal = 0
    /// Before `normal`, behind `veryHigh`.
    case high = 4
    /// The first level.
    case veryHigh = 8
  }
}

extension Operation.QueuePriority {
  /// 0 (very low) to 4 (very high).
  package var level: Int { (rawValue + 8) / 4 }

  package init(level: Int) { self = Self(rawValue: level * 4 - 8) ?? .normal }
}
