/// What a new job of a work-stealing pool calls for.
@usableFromInline package enum Reaction: Hashable, Sendable {
  /// A searching thread will find the job, or looks once more before it sleeps.
  case nothing
  /// One more thread is needed: woken if one sleeps, else started.
  case activate
  /// Every place is taken.
  case busy

  /// Decides from what the threads do.
  /// - Parameters:
  ///   - searching: how many threads search.
  ///   - active: how many threads use, or are about to use, a CPU.
  ///   - limit: how many may.
  ///   - wanted: how many searching threads are enough.
  @inlinable @inline(__always)
  package init(searching: Int, active: @autoclosure () -> Int, limit: Int, wanted: Int) {
    self = searching >= wanted ? .nothing : active() < limit ? .activate : .busy
  }
}
