extension Clock {
  /// The instant, but not before now, and not more than a century after now: clocks of the system trap beyond a few
  /// centuries.
  func withinACentury(_ instant: Instant) -> Instant {
    let now = now
    if instant <= now { return now }
    guard let century = Swift.Duration.century as? Duration else { return instant }
    return min(instant, now.advanced(by: century))
  }

  /// The tolerance, from 0 to a century.
  func withinACentury(_ tolerance: Duration?) -> Duration? {
    guard let tolerance, let century = Swift.Duration.century as? Duration else { return tolerance }
    return min(max(tolerance, .zero), century)
  }
}
