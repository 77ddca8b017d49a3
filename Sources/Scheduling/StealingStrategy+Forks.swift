// When a fork of a join becomes visible.

extension StealingStrategy {
  /// When a fork of a `join` becomes visible to other threads. Until then its owner alone knows the fork, and the fork
  /// costs a few stores. A visible fork costs a locked instruction, and a cache miss when another thread takes it. Of
  /// the forks that may become visible, the oldest does, which has the most work behind it. A thread has at most 8
  /// visible forks.
  ///
  /// A thread shows forks when it makes a fork. Whatever the choice is, a thread that has found nothing to do shows the
  /// forks that others keep to themselves, also in the middle of a long body. (That takes a kernel with `membarrier`.)
  ///
  /// On two CPUs (`results/ablation`): with up to four and up to eight visible forks, `forkjoin` takes longer. The
  /// other choices make no sure difference there.
  public enum Forks: Hashable, Sendable {
    /// As many forks as threads have nothing to do, and one at least. While all threads are busy, at most one every
    /// four microseconds.
    case idle
    /// At most `count` forks at a time, whatever the other threads do: 1 to 8.
    case upTo(count: Int)
    /// As many forks as threads have nothing to do. None while all threads are busy.
    case onRequest

    /// How many forks of one thread should be visible.
    /// - Parameter idle: how many threads have nothing to do.
    @inlinable package func wanted(idle: Int) -> Int {
      switch self {
      case .idle: max(1, idle)
      case .upTo(let count): count
      case .onRequest: idle
      }
    }

    /// How many microseconds lie at least between two forks that a thread shows.
    /// - Parameter idle: how many threads have nothing to do.
    @inlinable package func interval(idle: Int) -> Int {
      if case .idle = self, idle == 0 { 4 } else { 0 }
    }
  }
}
