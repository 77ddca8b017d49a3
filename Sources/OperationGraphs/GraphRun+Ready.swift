import Primitives
import Synchronization

// Where ready nodes lie until a thread takes them.

extension GraphRun {
  /// A node is ready. Who calls this calls `offer` when others should take it.
  func add(_ node: UInt32, _ lane: Int) {
    if lane >= 0, ranks == nil { lanes[lane].push(UInt(node) + 1) } else { pool.withLock { addToPool(node) } }
  }

  /// Called with the lock of the pool. Where the order is one of ranks the pool is a heap.
  private func addToPool(_ node: UInt32) {
    if ranks == nil { pool.state.append(node) } else { pool.state.insert(node, isBefore) }
    poolCount.store(pool.state.nodes.count, ordering: .sequentiallyConsistent)
  }

  /// The longer way hangs on `one`, or `one` was added first.
  private func isBefore(_ one: UInt32, _ other: UInt32) -> Bool {
    guard let ranks else { return one < other }
    let (first, second) = (ranks[Int(one)], ranks[Int(other)])
    return first > second || first == second && one < other
  }

  func takeOwn(_ lane: Int) -> UInt32 {
    // Nothing is 0, which becomes `noNode`.
    lane < 0 ? Self.noNode : UInt32(truncatingIfNeeded: lanes[lane].pop() &- 1)
  }

  /// Takes a node of another thread's.
  func steal(beside own: Int) -> UInt32 {
    for lane in 0..<laneCount where lane != own {
      while true {
        switch lanes[lane].steal() {
        case .element(let word): return UInt32(truncatingIfNeeded: word - 1)
        case .lost: continue
        case .empty: break
        }
        break
      }
    }
    if poolCount.load(ordering: .sequentiallyConsistent) == 0 { return Self.noNode }
    return pool.withLock {
      let node = ranks == nil ? pool.state.nodes.popLast() : pool.state.takeFirst(isBefore)
      poolCount.store(pool.state.nodes.count, ordering: .relaxed)
      return node ?? Self.noNode
    }
  }

  /// Whether a node waits for a thread.
  var hasReady: Bool {
    for lane in 0..<laneCount where !lanes[lane].isEmpty { return true }
    return poolCount.load(ordering: .sequentiallyConsistent) > 0
  }

  func claimLane() -> Int {
    while true {
      let free = freeLanes.load(ordering: .relaxed)
      if free == 0 { return Self.noLane }
      let lane = free.trailingZeroBitCount
      if freeLanes.bitwiseAnd(~(1 << UInt64(lane)), ordering: .acquiring).oldValue & (1 << UInt64(lane)) != 0 {
        return lane
      }
    }
  }

  func giveBack(_ lane: Int) {
    if lane < 0 { return }
    running[lane].pointer.pointee.store(Self.noNode, ordering: .relaxed)
    freeLanes.bitwiseOr(1 << UInt64(lane), ordering: .releasing)
  }

  /// Changes when a thread of another lane begins a node.
  func whatOthersRun(beside own: Int) -> UInt64 {
    var sum: UInt64 = 0
    for lane in 0..<laneCount where lane != own {
      sum = sum &* 31 &+ UInt64(running[lane].pointer.pointee.load(ordering: .relaxed))
    }
    return sum
  }
}
