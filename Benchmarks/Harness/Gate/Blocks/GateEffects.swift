import HarnessMeasuring

/// What `GateRunner` asks of the machine: processes, the clock, lines for the user. Tests put something else here.
package struct GateEffects {
  package var launch: (GateArm, MeasureRequest, [String: String], Double) -> ProcessOutcome
  /// Begins to watch the machine. The returned function gives the share of CPU time that was stolen since then.
  package var watchSteal: () -> () -> Double
  package var showProgress: (_ done: Int, _ total: Int, _ what: String) -> Void
  package var isInterrupted: () -> Bool
  /// The time, in nanoseconds.
  package var now: () -> UInt64
  package var say: (String) -> Void

  package init(
    launch: @escaping (GateArm, MeasureRequest, [String: String], Double) -> ProcessOutcome,
    watchSteal: @escaping () -> () -> Double, showProgress: @escaping (Int, Int, String) -> Void,
    isInterrupted: @escaping () -> Bool, now: @escaping () -> UInt64 = Clock.now, say: @escaping (String) -> Void
  ) {
    (self.launch, self.watchSteal, self.showProgress) = (launch, watchSteal, showProgress)
    (self.isInterrupted, self.now, self.say) = (isInterrupted, now, say)
  }
}
