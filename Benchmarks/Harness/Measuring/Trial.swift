/// A benchmark prepared for one subject. Everything that must not be timed has been done.
package struct Trial {
  /// The number of operations that one repeat runs. The counting process divides by this number.
  package let operationsPerRepeat: Int
  /// Runs and checks `repeats` repeats and gives one value. Throws `CheckFailed` when the subject did not do what was
  /// asked.
  package let measure: (_ repeats: Int) throws -> Value
  /// Adds operations that wait, calls `whilePending`, lets the operations run, checks them, and returns their number,
  /// for the counting process. Nil when the benchmark cannot make operations wait.
  package var pend: ((_ whilePending: () -> Void) throws -> Int)?

  /// The metrics of the benchmark's own, asked for after each value of the given number of operations. The time of this
  /// closure does not count. A process that counts allocations does not ask.
  package var ownReadings: ((_ operations: Int) throws -> [Reading])?

  /// How long a call of an empty body takes in the same loop, in nanoseconds. Nil when a repeat is never as short as
  /// that.
  package var emptyCall: (() throws -> Double)?

  /// What the subject's threads have done so far; nil when the subject does not count.
  package var schedulerCounts: (() -> SchedulerCounts?)?

  /// A value without a repeat. The counting process subtracts what it allocates, such as a task around the repeats. Nil
  /// when a repeat has so many operations that this does not matter.
  package var idle: (() throws -> Void)?

  /// What calibration runs instead of `measure`, and times from outside. An open loop runs `count` operations as fast
  /// as the subject takes them, and its pace is derived from that time.
  package let calibrate: ((_ count: Int) throws -> Void)?

  package init(
    operationsPerRepeat: Int, calibrate: ((_ count: Int) throws -> Void)? = nil,
    measure: @escaping (_ repeats: Int) throws -> Value
  ) {
    (self.operationsPerRepeat, self.calibrate, self.measure) = (operationsPerRepeat, calibrate, measure)
  }
}
