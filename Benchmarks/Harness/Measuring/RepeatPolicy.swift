/// How often a benchmark is repeated for one value.
package enum RepeatPolicy: Sendable, Hashable {
  /// The number of repeats that fill the plan's time for one value on the subject. `seconds` is the least time of one
  /// repeat, for the estimate of the plan alone.
  case calibrated(seconds: Double = 0)
  /// A number of repeats in each of ten processes, however long they take, or the same total in more processes. The
  /// policy is for benchmarks that need samples, or that count events. `seconds` is the time of the repeats in one of
  /// the ten processes on the slowest subject, for the estimate of the plan alone.
  case samples(Int, seconds: Double)

  /// One repeat in each process, without a lead-in: the repeat itself takes seconds, and what comes first in it is
  /// part of what is measured. `seconds` is for the estimate of the plan alone.
  case once(seconds: Double)

  /// As `samples`, at a pace that all subjects share. The calibration finds how many operations the slowest subject
  /// completes at full speed.
  case paced(samples: Int, seconds: Double)

  /// Whether a process of its own has to calibrate before the blocks.
  package var isCalibrated: Bool {
    switch self {
    case .calibrated, .paced: true
    case .samples, .once: false
    }
  }
}
