/// A benchmark made ready for one subject: everything that is not to be timed has been done.
public struct Trial {
  /// How many operations one repeat runs; what the counting process divides by.
  public let operationsPerRepeat: Int
  /// Runs and checks so many repeats and gives one value. Throws `CheckFailed` when the subject did something else
  /// than asked.
  public let measure: (_ repeats: Int) throws -> Value
  /// Adds operations that wait, calls `whilePending`, lets them run, checks, and says how many they were: for the
  /// counting process. Nil where nothing can be made to wait.
  public var pend: ((_ whilePending: () -> Void) throws -> Int)?

  /// What calibration times instead of `measure`: for an open loop so many operations as fast as the subject takes them,
  /// which its pace is derived from; for others so many repeats, where `measure` does more than the repeats.
  public let calibrate: ((_ count: Int) throws -> Void)?

  public init(
    operationsPerRepeat: Int, calibrate: ((_ count: Int) throws -> Void)? = nil,
    measure: @escaping (_ repeats: Int) throws -> Value
  ) {
    self.operationsPerRepeat = operationsPerRepeat
    self.calibrate = calibrate
    self.measure = measure
  }
}

/// The benchmark's check of its own result failed: there is no number.
public struct CheckFailed: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }
}

/// How often a benchmark repeats itself for one value.
public enum RepeatPolicy: Sendable, Hashable {
  /// As often as it takes on the slowest subject to fill the plan's time for one value.
  /// `seconds` is what one repeat takes at least, for the estimate of the plan alone.
  case calibrated(seconds: Double = 0)
  /// So many repeats over all values of a process, whatever they take: for benchmarks that need a number of samples,
  /// or that count events. `seconds` is what they take on the slowest subject, for the estimate of the plan alone.
  case perProcess(Int, seconds: Double)

  /// So many samples over all values of a process, at a pace that all subjects share: what is calibrated is how many
  /// operations the slowest subject completes, running flat out, in the plan's time for one value.
  case paced(samples: Int, seconds: Double)

  /// Whether a process of its own has to find something out before the blocks.
  public var isCalibrated: Bool {
    switch self {
    case .calibrated, .paced: true
    case .perProcess: false
    }
  }
}
