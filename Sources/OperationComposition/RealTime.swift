import OperationCore
import OperationJobs

/// Tells, in a test on a deterministic backend, that something goes by a clock that the test does not move: a missing
/// `clock:` is not seen otherwise.
/// - Parameter what: what goes by the clock, as the subject of a sentence.
func tellRealTime<C: Clock>(of clock: C.Type, _ what: String) {
  if clock == ContinuousClock.self || clock == SuspendingClock.self { DrivenBackends.tellRealTime(what) }
}
