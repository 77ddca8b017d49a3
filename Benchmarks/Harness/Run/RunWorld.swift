/// Where a run's session meets the world; tests put something else here.
package struct RunWorld {
  /// Starts a process for a request, with additions to its environment, and waits for it at most the given seconds.
  package var launch: (MeasureRequest, [String: String], Double) -> ProcessOutcome
  package var showProgress: (_ done: Int, _ total: Int, _ what: String, _ secondsLeft: Double) -> Void
  package var say: (String) -> Void
  /// Keeps the rows of a process for good as soon as it has ended.
  package var record: ([Row]) -> Void
  /// Keeps what is known of the run so far, beside its rows.
  package var checkpoint: (RunResult) -> Void
  package var isInterrupted: () -> Bool
  /// What the counting processes find in their environment, or nil when nothing can count.
  package var countingEnvironment: [String: String]?
  /// What the timed processes find in theirs.
  package var timingEnvironment: [String: String]
  /// Where a traced process writes its events, by its number.
  package var tracePiece: (Int32) -> String
  /// Takes them over: how many operations they show, and how many events not.
  package var keepTrace: (TraceRequest, _ operations: Int, _ notShown: Int) -> Void

  package init(
    launch: @escaping (MeasureRequest, [String: String], Double) -> ProcessOutcome,
    showProgress: @escaping (Int, Int, String, Double) -> Void, say: @escaping (String) -> Void,
    record: @escaping ([Row]) -> Void, checkpoint: @escaping (RunResult) -> Void = { _ in },
    isInterrupted: @escaping () -> Bool, countingEnvironment: [String: String]?,
    timingEnvironment: [String: String] = [:], tracePiece: @escaping (Int32) -> String = { "trace.\($0)" },
    keepTrace: @escaping (TraceRequest, Int, Int) -> Void = { _, _, _ in }
  ) {
    self.launch = launch
    self.showProgress = showProgress
    self.say = say
    self.record = record
    self.checkpoint = checkpoint
    self.timingEnvironment = timingEnvironment
    self.tracePiece = tracePiece
    self.keepTrace = keepTrace
    self.isInterrupted = isInterrupted
    self.countingEnvironment = countingEnvironment
  }
}
