import Primitives

/// A node in raw memory: a link, the node's number, and a plain word that a producer writes and a consumer reads, so
/// that ThreadSanitizer sees a hand-over that does not synchronise.
enum TestNode: IntrusiveNode {
  struct Content {
    var next: UInt
    var number: Int
    var message: Int
  }

  static func pointer(_ node: UInt) -> UnsafeMutablePointer<Content> {
    UnsafeMutablePointer(bitPattern: node)!
  }

  static func next(of node: UInt) -> UInt { pointer(node).pointee.next }
  static func setNext(of node: UInt, to next: UInt) { pointer(node).pointee.next = next }
  static func number(of node: UInt) -> Int { node == 0 ? -1 : pointer(node).pointee.number }
}

/// Nodes 0..<count, freed together.
///
/// Invariant behind `@unchecked Sendable`: the base address never changes; who may touch a node follows from the queue
/// under test.
final class NodePool: @unchecked Sendable {
  private let nodes: UnsafeMutablePointer<TestNode.Content>
  let count: Int

  init(_ count: Int) {
    self.count = count
    nodes = .allocate(capacity: count)
    for number in 0..<count { (nodes + number).initialize(to: TestNode.Content(next: 0, number: number, message: -1)) }
  }

  deinit { nodes.deallocate() }

  subscript(_ number: Int) -> UInt { UInt(bitPattern: nodes + number) }

  /// Links each node to the one before, as a producer of a chain does.
  /// - Returns: the last node.
  func linkNewestFirst(_ numbers: Range<Int>) -> UInt {
    for number in numbers.dropFirst() { TestNode.setNext(of: self[number], to: self[number - 1]) }
    return self[numbers.upperBound - 1]
  }
}
