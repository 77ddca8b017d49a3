// What a debug build checks at every change of a state word. `StateWord` itself takes any word, also impossible ones.

extension StateWord {
  /// The flags that are never taken back.
  private static let kept =
    enqueued | listed | cancelled | started | skipped | finished | hasWaiters | hasDependents | observed | edgesRemoved
    | asksReady | hasEpilogue | queueWanted | postsExecuting | postsFinished | hasDependencies
    | mainReturned

  /// Whether a thread may change this word into `next`: no flag of those that stay goes, and the count of dependencies
  /// does not fall below 0.
  func mayBecome(_ next: StateWord) -> Bool {
    bits & Self.kept & ~next.bits == 0 && next.isPossible
  }

  /// Whether an operation can be in this state.
  var isPossible: Bool {
    // A count below 0 is a count near the greatest.
    if dependencyCount > UInt64(Int32.max) { return false }
    if has(Self.skipped), !has(Self.started) { return false }
    if has(Self.listed), !has(Self.enqueued) { return false }
    if has(Self.scheduled), !has(Self.listed) { return false }
    return !has(Self.hasDependencies) || has(Self.hasEpilogue)
  }
}
