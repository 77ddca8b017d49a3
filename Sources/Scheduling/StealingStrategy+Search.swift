// How long a thread without a job looks for one.

extension StealingStrategy {
  /// How long a thread without a job looks for one before it sleeps. A sleep and a wake cost about 25 microseconds
  /// together.
  ///
  /// Threads of Go and Tokio look a few times and then sleep. A longer search finds more jobs without a wake. It also
  /// uses up CPU time that other threads may need.
  ///
  /// On two CPUs (`results/ablation`): without a search, two pools that hand jobs to each other take many times as
  /// long, because each step wakes a thread. They take a little longer with 50 microseconds at every search, and with
  /// yields.
  public enum Search: Hashable, Sendable {
    /// At most 5 microseconds. Now and then a search that found nothing goes on for 50: more often while such long
    /// searches find jobs.
    case patient
    /// At most 5 microseconds. Every `every`th search that found nothing in 5 microseconds goes on for 50: 1 or more.
    case long(every: Int)
    /// At most this number of microseconds, from 0 to 10,000. With 0 a thread looks once.
    case microseconds(Int)
    /// At most this number of microseconds, from 0 to 10,000. Between two looks the thread lets other threads have the
    /// CPU.
    case yielding(microseconds: Int)

    /// The choice in numbers.
    ///
    /// `short` is how long a search takes at most, in nanoseconds. A search that found nothing in that time may go on
    /// for `long` nanoseconds. Every `every`th such search goes on. With 0 none goes on, and with nil the thread
    /// decides by how much long searches helped. `yields` is whether other threads may have the CPU between two looks.
    package var times: (short: UInt64, long: UInt64, every: Int?, yields: Bool) {
      switch self {
      case .patient: (5_000, 50_000, nil, false)
      case .long(let every): (5_000, 50_000, every, false)
      case .microseconds(let count): (UInt64(max(0, count)) * 1_000, 0, 0, false)
      case .yielding(let count): (UInt64(max(0, count)) * 1_000, 0, 0, true)
      }
    }
  }
}
