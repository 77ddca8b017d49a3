/// How long a thread without a job looks for one before it sleeps. A sleep and a wake cost about 25 microseconds together.
///
/// Go's and Tokio's threads look a few times and sleep. A longer search finds more jobs without a wake, and uses up CPU time
/// that others may need.
public enum Search: Hashable, Sendable {
  /// 5 microseconds, and 50 now and then as long as that helps.
  case patient
  /// 5 microseconds, and 50 at every `every`th search that finds nothing in 5: 1 or more.
  case long(every: Int)
  /// This number of microseconds, from 0 to 10,000. With 0 a thread looks once.
  case microseconds(Int)
  /// The same, but between two looks the thread lets other threads have the CPU.
  case yielding(microseconds: Int)

  /// What a search looks like.
  ///
  /// `short` is how long a search takes at most, in nanoseconds, and `long` how long one takes that goes on after that.
  /// Every `every`th search that found nothing goes on: none with 0, and as long as it helps with nil.
  public var times: (short: UInt64, long: UInt64, every: Int?, yields: Bool) {
    switch self {
    case .patient: (5_000, 50_000, nil, false)
    case .long(let every): (5_000, 50_000, every, false)
    case .microseconds(let count): (UInt64(max(0, count)) * 1_000, 0, 0, false)
    case .yielding(let count): (UInt64(max(0, count)) * 1_000, 0, 0, true)
    }
  }
}
