/// When one thread of a pool looks for a job ten times as long as usual before it sleeps.
///
/// Two pools that hand jobs to each other wait some 100 nanoseconds for each other while both look, and 50 microseconds
/// once both sleep: each waker sleeps again by the time the woken thread answers. One long search ends that state.
/// Elsewhere a long search only uses up the CPU. So a long search must earn the next one: when it found nothing, or when
/// the thread soon had to wait as long again, long searches become half as frequent.
package struct Patience: Sendable {
  /// A long search has helped when this many searches after it were short.
  package static let shortSearchesThatHelp = 16
  /// The largest `interval`.
  package static let rarest = 16

  /// Of the searches that find nothing in the short time, every `interval`th goes on.
  package private(set) var interval = 8
  private var untilLong = 8
  private var wasLong = false
  private var hasFoundLate = false
  private var shortSearches = 0

  package init() {}

  /// Looks for a job. See `Spin.search`.
  @inline(__always)
  package mutating func search(_ look: () -> UInt) -> UInt {
    var isLong = false
    let job = Spin.search(look) {
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
