import Synchronization

extension GraphRun {
  /// How many nodes have begun, which ones run, and the first ones that wait for those. O(nodes).
  func explain() -> [String] {
    let parity = begunNow
    func hasBegun(_ node: UInt32) -> Bool {
      pending[Int(node)].load(ordering: .relaxed) & Self.begun == parity
    }
    var running = Set((0..<laneCount).map { self.running[$0].pointer.pointee.load(ordering: .relaxed) })
    running.remove(Self.noNode)
    running.formUnion(failure.withLock { Array(failure.state.tasks.keys) })
    let begun = (0..<UInt32(plan.count)).count { hasBegun($0) }
    var lines = ["runs a graph: \(begun) of \(plan.count) nodes have begun"]
    for node in running.sorted().prefix(Self.explained) {
      let (first, end) = plan.successors(of: Int(node))
      let waiting = (first..<end).lazy.map { self.plan.successors[$0] }.filter { !hasBegun($0) }
      let names = waiting.prefix(3).map(plan.name).joined(separator: ", ")
      lines.append("  \(plan.name(of: node)) runs" + (names.isEmpty ? "" : "; \(names) waits for it"))
    }
    return lines
  }

  private static let explained = 8
}
