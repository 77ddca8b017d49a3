/// The nature of work, as in Foundation. Where no queue priority is set, the quality of service chooses the level:
/// user-interactive very high, user-initiated high, default normal, utility low, background very low. Raw values are
/// Foundation's.
public enum QualityOfService: Int, Sendable, CaseIterable {
  /// Somebody waits for each frame of the work's output: the level `veryHigh`.
  case userInteractive = 0x21
  /// Somebody has asked for the work and waits: the level `high`.
  case userInitiated = 0x19
  /// Somebody will look at the result later: the level `low`.
  case utility = 0x11
  /// Nobody waits for the work: the level `veryLow`.
  case background = 0x09
  /// No quality of service is set: the level `normal`.
  case `default` = -1
}

extension QualityOfService {
  /// The level that stands for this quality of service when no queue priority is set.
  var priority: Operation.QueuePriority {
    switch self {
    case .userInteractive: .veryHigh
    case .userInitiated: .high
    case .default: .normal
    case .utility: .low
    case .background: .veryLow
    }
  }

  /// This case's position in `allCases`, for packing into a few bits.
  var index: UInt32 {
    switch self {
    case .userInteractive: 0
    case .userInitiated: 1
    case .utility: 2
    case .background: 3
    case .default: 4
    }
  }

  init(index: UInt32) { self = Self.allCases[Int(index)] }
}
