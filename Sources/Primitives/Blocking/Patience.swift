/// When one thread of a pool looks for a job ten times as long as usual before it sleeps.
///
/// Two pools that hand jobs to each other wait some 100 nanoseconds for each other while both look, and 50 microseconds
/// once both sleep: each waker sleeps again by the time the woken thread answers. One long search ends that state.
/// Elsewhere a long search only uses up the CPU. So a long search must earn the next one: when it found nothing, or
/// when the thread soon had to wait as long again, long searches become half as frequent.
package struct Patience: Sendable {
  /// A long search has helped when this many searches after it were short.
  package static let shortSearchesThatHelp = 16
  /// The largest `interval`.
  package static let rarest = 16

  /// How long searches take, and which of them are long.
  package struct Times: Hashable, Sendable {
    /// How long every search takes at most, in nanoseconds.
    package var short: UInt64 = 5_000
    /// How long a search takes that goes on after that, in nanoseconds.
    package var long: UInt64 = 50_000
    /// Of the searches that find nothing in the short time, every nth goes on; none with 0. Nil: as long as that helps.
    package var every: Int?
    /// Whether other threads may have the CPU between two looks.
    package var yields = false

    @inlinable package init(short: UInt64 = 5_000, long: UInt64 = 50_000, every: Int? = nil, yields: Bool = false) {
      (self.short, self.long, self.every, self.yields) = (short, long, every, yields)
    }

    /// The times of a strategy, as its module gives them.
    package init(_ times: (short: UInt64, long: UInt64, every: Int?, yields: Bool)) {
      self.init(short: times.short, long: times.long, every: times.every, yields: times.yields)
    }
  }

  private let times: Times
  /// Of the searches that find nothing in the short time, every `interval`th goes on.
  package private(set) var interval: Int
  private var untilLong: Int
  private var wasLong = false
  private var hasFoundLate = false
  private var shortSearches = 0

  package init(_ times: Times = Times()) {
    self.times = times
    interval = times.every ?? 8
    untilLong = interval
  }

  /// Looks for a job. See `Spin.search`.
  @inline(__always)
  package mutating func search(_ look: () -> UInt) -> UInt {
    var isLong = false
    let job = Spin.search(times, look) {
      isLong = goesOn()
      return isLong
    }
    if job != 0 { found(late: isLong) }
    return job
  }

  /// A search has found a job.
  /// - Parameter late: whether the short time was over.
  package mutating func found(late: Bool) {
    if late { hasFoundLate = true } else { shortSearches &+= 1 }
  }

  /// A search has found nothing in the short time.
  /// - Returns: whether the search goes on.
  package mutating func goesOn() -> Bool {
    if let every = times.every {
      untilLong -= 1
      if untilLong != 0 { return false }
      untilLong = every
      return true
    }
    if wasLong {
      let hasHelped = hasFoundLate && shortSearches >= Self.shortSearchesThatHelp
      interval = hasHelped ? 1 : min(2 * interval, Self.rarest)
      untilLong = interval
    }
    untilLong -= 1
    wasLong = untilLong == 0
    hasFoundLate = false
    shortSearches = 0
    return wasLong
  }
}
