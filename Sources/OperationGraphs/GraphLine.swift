import Primitives

/// The runs of a graph that are under way, where each node runs in the order of the runs.
final class GraphLine: Sendable {
  private let locked = Locked<[GraphRun]>([])

  /// In the order in which they began. Touched under the lock.
  var runs: [GraphRun] {
    _read { yield locked.state }
    _modify { yield &locked.state }
  }

  func withLock(_ body: () -> Void) { locked.withLock(body) }

  /// The run has ended. So have all nodes of the runs before it, whose owners may not have noticed: no run waits for
  /// those any more.
  func remove(_ run: GraphRun) {
    let removed = locked.withLock { () -> [GraphRun] in
      guard let index = locked.state.firstIndex(where: { $0 === run }) else { return [] }
      defer { locked.state.removeSubrange(...index) }
      return Array(locked.state[...index])
    }
    withExtendedLifetime(removed) {}
  }
}
