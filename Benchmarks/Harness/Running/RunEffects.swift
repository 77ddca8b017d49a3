import HarnessMeasuring
import HarnessResults

/// What `PlanRunner` asks of the machine: processes, files, the clock, lines for the user. Tests put something else
/// here.
package struct RunEffects {
  /// The process of a request, with additions to its environment, which may go on for the given seconds.
  package var launch: (MeasureRequest, [String: String], Double) -> Launched
  package var showProgress: (_ done: Int, _ total: Int, _ what: String, _ secondsLeft: Double) -> Void
  package var say: (String) -> Void
  /// Writes the rows of a process to the file as soon as the process has ended.
  package var record: ([Row]) -> Void
  /// Writes what is known of the run so far, beside its rows.
  package var checkpoint: (RunResult) -> Void
  /// Publishes the rows of a shard's finished blocks, with what is known of the run so far.
  package var publish: ([Row], RunResult) -> Void
  package var isInterrupted: () -> Bool
  /// Waits until what has killed a measuring process has come to this process too, if it is coming.
  package var waitForOwnEnd: () -> Void
  /// The time, in nanoseconds.
  package var now: () -> UInt64
  /// What the machine has done so far, for the time that other guests take.
  package var systemLoad: () -> SystemLoad
  /// The additions to the environment of the counting processes; nil when allocations cannot be counted.
  package var countingEnvironment: [String: String]?
  /// The additions to the environment of the timed processes.
  package var timingEnvironment: [String: String]
  /// The file to which a traced process writes its events, by the number of the process.
  package var tracePiece: (Int32) -> String
  /// Takes over the events of a traced process: how many operations the events show, and how many events are not shown.
  package var keepTrace: (TraceRequest, _ operations: Int, _ notShown: Int) -> Void

  package init(
    launch: @escaping (MeasureRequest, [String: String], Double) -> Launched,
    showProgress: @escaping (Int, Int, String, Double) -> Void, say: @escaping (String) -> Void,
    record: @escaping ([Row]) -> Void, checkpoint: @escaping (RunResult) -> Void = { _ in },
    publish: @escaping ([Row], RunResult) -> Void = { _, _ in },
    isInterrupted: @escaping () -> Bool, waitForOwnEnd: @escaping () -> Void = {},
    now: @escaping () -> UInt64 = Clock.now, systemLoad: @escaping () -> SystemLoad = SystemLoad.read,
    countingEnvironment: [String: String]?,
    timingEnvironment: [String: String] = [:], tracePiece: @escaping (Int32) -> String = { "trace.\($0)" },
    keepTrace: @escaping (TraceRequest, Int, Int) -> Void = { _, _, _ in }
  ) {
    (self.launch, self.showProgress, self.say) = (launch, showProgress, say)
    (self.record, self.checkpoint, self.publish) = (record, checkpoint, publish)
    (self.timingEnvironment, self.tracePiece, self.keepTrace) = (timingEnvironment, tracePiece, keepTrace)
    (self.isInterrupted, self.waitForOwnEnd, self.now) = (isInterrupted, waitForOwnEnd, now)
    (self.systemLoad, self.countingEnvironment) = (systemLoad, countingEnvironment)
  }
}
