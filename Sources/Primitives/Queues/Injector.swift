import CPlatform
import Synchronization

/// Many producers, several consumers, first in first out: how work from outside reaches a pool.
///
/// Producers push onto a lock-free stack with one compare-exchange (releasing: the compare-exchange publishes the
/// node's content). A consumer, under a lock that only consumers take, exchanges the whole stack for nothing
/// (acquiring), reverses it into a FIFO, and takes nodes from there. The order is the order of the successful pushes,
/// over all producers, but for nodes that `putFirst` puts at the FIFO's front, under the same lock. Nothing is lost:
/// every node is in exactly one of stack and FIFO, and `isEmpty` looks at both.
@usableFromInline
package struct Injector<Node: IntrusiveNode>: ~Copyable, @unchecked Sendable {
  // Sendable: `incoming` and `available` are atomics; the lock of `ready`, which only consumers take, guards the list.
  @usableFromInline let incoming = Atomic<UInt>(0)
  /// This gap keeps the producers' word off the consumers' cache lines.
  private let gap = InlineArray<15, UInt>(repeating: 0)
  private let ready = Locked(IntrusiveFIFO<Node>())
  /// The count of `ready`, for readers without the lock. The count is never 0 while a consumer moves nodes from
  /// `incoming` to `ready`.
  @usableFromInline let available = Atomic<Int>(0)

  package init() {}

  /// Whether every node that was pushed before the call has been taken. A node that is pushed during the call may be
  /// missed.
  @inlinable package var isEmpty: Bool {
    incoming.load(ordering: .sequentiallyConsistent) == 0 && available.load(ordering: .sequentiallyConsistent) == 0
  }

  /// Nodes that a consumer has counted. Nodes that are still on the producers' stack are not included.
  package var approximateCount: Int { available.load(ordering: .relaxed) }

  @inlinable package borrowing func push(_ node: UInt) {
    push(newest: node, oldest: node)
  }

  /// Pushes a chain that is linked newest first, with one successful compare-exchange; O(1).
  @inlinable package borrowing func push(newest: UInt, oldest: UInt) {
    var head = incoming.load(ordering: .relaxed)
    while true {
      Node.setNext(of: oldest, to: head)
      let result = incoming.compareExchange(
        expected: head, desired: newest, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed)
      if result.exchanged { return }
      head = result.original
    }
  }

  /// Takes an even share of the nodes (count / `consumerCount` + 1), at most `limit` nodes, oldest first.
  /// - Returns: how many nodes were appended to `batch`, and how many nodes stay behind.
  package borrowing func take(
    limit: Int, consumerCount: Int, into batch: inout IntrusiveFIFO<Node>
  ) -> (taken: Int, left: Int) {
    ready.lock()
    if incoming.load(ordering: .relaxed) != 0 {
      available.store(max(1, ready.state.count), ordering: .relaxed)
      ready.state.appendReversed(stack: incoming.exchange(0, ordering: .sequentiallyConsistent))
    }
    let count = min(limit, ready.state.count / consumerCount + 1, ready.state.count)
    for _ in 0..<count { batch.append(ready.state.popFirst()) }
    let left = ready.state.count
    available.store(left, ordering: .sequentiallyConsistent)
    ready.unlock()
    return (count, left)
  }

  /// Puts nodes before all others, in their order. They are visible when the call returns.
  package borrowing func putFirst(_ nodes: consuming IntrusiveFIFO<Node>) {
    ready.lock()
    nodes.append(contentsOf: &ready.state)
    ready.state.append(contentsOf: &nodes)
    available.store(ready.state.count, ordering: .sequentiallyConsistent)
    ready.unlock()
  }
}
