/// How often a benchmark repeats itself for one value.
package enum RepeatPolicy: Sendable, Hashable {
  /// As often as it takes on the subject to fill the plan's time for one value.
  /// `seconds` is what one repeat takes at least, for the estimate of the plan alone.
  case calibrated(seconds: Double = 0)
  /// A number of repeats in each of ten processes, whatever they take, or as many altogether in more of them: for
  /// benchmarks that need samples, or that count events. `seconds` is what they take in one of the ten on the slowest
  /// subject, for the estimate of the plan alone.
  case samples(Int, seconds: Double)

  /// The same at a pace that all subjects share: what is calibrated is how many operations the slowest subject completes,
  /// running flat out.
  case paced(samples: Int, seconds: Double)

  /// Whether a process of its own has to find something out before the blocks.
  package var isCalibrated: Bool {
    switch self {
    case .calibrated, .paced: true
    case .samples: false
    }
  }
}
