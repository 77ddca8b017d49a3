import CPlatform
import OperationForks
import Primitives

/// The runs of a graph that are under way, where each node runs in the order of the runs.
final class GraphLine: Sendable {
  private struct State: ~Copyable {
    /// In the order in which they began.
    var runs: [GraphRun] = []
    /// How many runs of the graph each thread runs nodes of, the one inside of the other.
    var threads: [UInt: Int] = [:]
  }

  private let locked = Locked(State())

  private var thisThread: UInt { UInt(bitPattern: cplatform_thread_words_address()) }

  /// A run begins behind the last one. O(1), beside the body. Traps when the calling thread runs a node of the graph,
  /// which would wait for the node's own end.
  /// - Parameter body: gets the last run, and is called with the lock: that run cannot leave the line meanwhile.
  func append(_ run: GraphRun, _ body: (_ last: GraphRun?) -> Void) {
    let isInNode = locked.withLock {
      if locked.state.threads[thisThread] != nil { return true }
      body(locked.state.runs.last)
      locked.state.runs.append(run)
      return false
    }
    if isInNode {
      forkMisuse("a node of a graph waits for a run of that graph, and its runs are in order: it waits for itself")
    }
  }

  /// The run has ended. So have all nodes of the runs before it, whose owners may not have noticed: no run waits for
  /// those any more.
  func remove(_ run: GraphRun) {
    let removed = locked.withLock { () -> [GraphRun] in
      guard let index = locked.state.runs.firstIndex(where: { $0 === run }) else { return [] }
      defer { locked.state.runs.removeSubrange(...index) }
      return Array(locked.state.runs[...index])
    }
    withExtendedLifetime(removed) {}
  }

  /// The calling thread runs nodes of a run while the body runs.
  func whileWorking(_ body: () -> Void) {
    let thread = thisThread
    locked.withLock { locked.state.threads[thread, default: 0] += 1 }
    body()
    locked.withLock {
      let count = (locked.state.threads[thread] ?? 1) - 1
      locked.state.threads[thread] = count == 0 ? nil : count
    }
  }
}
