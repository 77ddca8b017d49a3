/// Ready nodes: a stack, or a binary heap with the node first that is before all others.
struct ReadyNodes: ~Copyable {
  var nodes: [UInt32] = []

  mutating func append(_ node: UInt32) { nodes.append(node) }

  /// O(log nodes).
  mutating func insert(_ node: UInt32, _ isBefore: (UInt32, UInt32) -> Bool) {
    var place = nodes.count
    nodes.append(node)
    while place > 0, case let parent = (place - 1) / 2, isBefore(node, nodes[parent]) {
      nodes[place] = nodes[parent]
      place = parent
    }
    nodes[place] = node
  }

  /// O(log nodes).
  mutating func takeFirst(_ isBefore: (UInt32, UInt32) -> Bool) -> UInt32? {
    guard let first = nodes.first, let last = nodes.popLast() else { return nil }
    if nodes.isEmpty { return first }
    var place = 0
    while case var child = 2 * place + 1, child < nodes.count {
      if child + 1 < nodes.count, isBefore(nodes[child + 1], nodes[child]) { child += 1 }
      if isBefore(last, nodes[child]) { break }
      nodes[place] = nodes[child]
      place = child
    }
    nodes[place] = last
    return first
  }
}
