/// First in, first out, through the links inside the nodes: no allocation, O(1) for each operation. Not synchronised.
@usableFromInline
package struct IntrusiveFIFO<Node: IntrusiveNode>: ~Copyable {
  @usableFromInline var head: UInt = 0
  @usableFromInline var tail: UInt = 0
  @usableFromInline package var count = 0

  @inlinable package init() {}

  @inlinable package var isEmpty: Bool { head == 0 }

  @inlinable package mutating func append(_ node: UInt) {
    assert(node != 0, "0 stands for no node")
    Node.setNext(of: node, to: 0)
    if tail == 0 { head = node } else { Node.setNext(of: tail, to: node) }
    tail = node
    count &+= 1
  }

  /// Puts a node before all others.
  @inlinable package mutating func prepend(_ node: UInt) {
    assert(node != 0, "0 stands for no node")
    Node.setNext(of: node, to: head)
    if tail == 0 { tail = node }
    head = node
    count &+= 1
  }

  /// - Returns: the first node, or 0 when empty.
  @inlinable package mutating func popFirst() -> UInt {
    let node = head
    guard node != 0 else { return 0 }
    head = Node.next(of: node)
    if head == 0 { tail = 0 }
    count &-= 1
    return node
  }

  /// Moves all nodes of `other` behind this queue's last node; O(1).
  @inlinable package mutating func append(contentsOf other: inout IntrusiveFIFO) {
    guard other.head != 0 else { return }
    if tail == 0 { head = other.head } else { Node.setNext(of: tail, to: other.head) }
    tail = other.tail
    count &+= other.count
    other.head = 0
    other.tail = 0
    other.count = 0
  }

  /// Takes a chain that is linked newest first (a stack's content), and appends its nodes oldest first; O(chain).
  @inlinable package mutating func appendReversed(stack: UInt) {
    guard stack != 0 else { return }
    var newer: UInt = 0
    var node = stack
    while node != 0 {
      let older = Node.next(of: node)
      Node.setNext(of: node, to: newer)
      newer = node
      node = older
      count &+= 1
    }
    if tail == 0 { head = newer } else { Node.setNext(of: tail, to: newer) }
    tail = stack
  }
}
