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
    /// One fork every `microseconds` microseconds, the first after that time: 1 or more.
    case beat(microseconds: Int)

    /// How many forks of one thread should be visible.
    /// - Parameter idle: how many threads have nothing to do.
    @inlinable package func wanted(idle: Int) -> Int {
      switch self {
      case .idle: max(1, idle)
      case .upTo(let count): count
      case .onRequest: idle
      case .beat: 1
      }
    }

    /// How many microseconds lie at least between two forks that a thread shows.
    /// - Parameters:
    ///   - idle: how many threads have nothing to do.
    ///   - isFirst: whether the thread has shown none since its outermost join, or the fork that it took, began.
    @inlinable package func interval(idle: Int, isFirst: Bool) -> Int {
      switch self {
      case .idle: idle > 0 || isFirst ? 0 : 4
      case .upTo, .onRequest: 0
      case .beat(let microseconds): microseconds
      }
    }
  }
}
