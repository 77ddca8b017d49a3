import Synchronization

/// A node of a graph that is being built, for what comes after it: see ``OperationGraph``.
public struct GraphNode<Value: Sendable>: Sendable {
  /// The place in the order of adding.
  @usableFromInline let index: UInt32
  /// Where the value of the node lies in the block of a run, in bytes.
  @usableFromInline let offset: UInt32
  /// Tells graphs apart.
  @usableFromInline let graph: UInt32

  @usableFromInline
  init(index: UInt32, offset: UInt32, graph: UInt32) { (self.index, self.offset, self.graph) = (index, offset, graph) }
}

/// A node of any type of value, for the list behind `after:`.
public protocol AnyGraphNode: Sendable {
  /// The node, as one that gives no value.
  var withoutValue: GraphNode<Void> { get }
}

extension GraphNode: AnyGraphNode {
  @inlinable public var withoutValue: GraphNode<Void> { GraphNode<Void>(index: index, offset: 0, graph: graph) }
}

/// The values of one run: a block in which each node has its place.
@frozen @usableFromInline
struct GraphValues: @unchecked Sendable {
  // Sendable: a place is written by its node alone, before the nodes that come after it read the place.

  @usableFromInline let memory: UnsafeMutableRawPointer

  @usableFromInline
  init(_ memory: UnsafeMutableRawPointer) { self.memory = memory }

  /// The node has ended.
  @inlinable @inline(__always)
  func read<Value: Sendable>(_ node: GraphNode<Value>) -> Value {
    place(node.offset, of: Value.self).pointee
  }

  @inlinable @inline(__always)
  func write<Value: Sendable>(_ value: consuming Value, at offset: UInt32) {
    place(offset, of: Value.self).initialize(to: value)
  }

  @inlinable @inline(__always)
  func place<Value>(_ offset: UInt32, of type: Value.Type) -> UnsafeMutablePointer<Value> {
    (memory + Int(offset)).assumingMemoryBound(to: type)
  }
}

/// What a node does with the values of its run.
@usableFromInline typealias GraphBody = @Sendable (GraphValues) throws -> Void
/// What a node with an asynchronous body does.
@usableFromInline typealias GraphTaskBody = @Sendable (GraphValues) async throws -> Void
