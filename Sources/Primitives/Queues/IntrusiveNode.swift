/// How queues reach the link inside a node. A node is one non-zero word (an object reference that the queue's user
/// keeps alive); 0 means none.
@usableFromInline
package protocol IntrusiveNode {
  static func next(of node: UInt) -> UInt
  static func setNext(of node: UInt, to next: UInt)
}
