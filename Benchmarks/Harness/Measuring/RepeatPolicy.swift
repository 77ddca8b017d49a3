/// How often a benchmark repeats itself for one value.
package enum RepeatPolicy: Sendable, Hashable {
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
  package var isCalibrated: Bool {
    switch self {
    case .calibrated, .paced: true
    case .perProcess: false
    }
  }
}
