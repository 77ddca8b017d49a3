/// A benchmark made ready for one subject: everything that is not to be timed has been done.
package struct Trial {
  /// How many operations one repeat runs; what the counting process divides by.
  package let operationsPerRepeat: Int
  /// Runs and checks `repeats` repeats and gives one value. Throws `CheckFailed` when the subject did something else
  /// than asked.
  package let measure: (_ repeats: Int) throws -> Value
  /// Adds operations that wait, calls `whilePending`, lets them run, checks, and says how many they were: for the
  /// counting process. Nil where nothing can be made to wait.
  package var pend: ((_ whilePending: () -> Void) throws -> Int)?

  /// What calibration times instead of `measure`: for an open loop `count` operations as fast as the subject takes them,
  /// which its pace is derived from; for others `count` repeats, where `measure` does more than the repeats.
  package let calibrate: ((_ count: Int) throws -> Void)?

  package init(
    operationsPerRepeat: Int, calibrate: ((_ count: Int) throws -> Void)? = nil,
    measure: @escaping (_ repeats: Int) throws -> Value
  ) {
    self.operationsPerRepeat = operationsPerRepeat
    self.calibrate = calibrate
    self.measure = measure
  }
}
