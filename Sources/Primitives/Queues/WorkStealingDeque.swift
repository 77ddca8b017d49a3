import Synchronization

/// The dynamic circular work-stealing deque of Chase and Lev (SPAA 2005) with the memory orderings of Lê, Pop, Cohen
/// and Zappa Nardelli ("Correct and efficient work-stealing for weak memory models", PPoPP 2013). Elements are
/// non-zero words.
///
/// Callers: one owner thread calls `push`, `pop` and `takeFirst`; any thread calls `steal` and `isEmpty`. Ownership
/// may move to another thread when that hand-over itself synchronises.
///
/// Invariant: the elements are the slots `top ..< bottom` (indices grow for ever; a slot is index mod capacity). Only
/// the owner writes `bottom` and slots. `top` only grows, by compare-exchange, and the thread that moves `top` from t
/// to t+1 owns element t.
///
/// Publication: the releasing store of `bottom` in `push` publishes the slot (and what the element points to) to the
/// acquiring load of `bottom` in `steal`. A grown buffer is published by a releasing store before that. The fences
/// only order "store bottom, load top" in `pop` against "load top, load bottom" in `steal`, so that both cannot take
/// the last element. A thief that reads a slot late, after the owner reused it, fails its compare-exchange on `top`.
///
/// Old buffers stay allocated until `deallocate`, because a slow thief may still read them. The buffers' sizes
/// double, so the old buffers together are no larger than the newest.
@usableFromInline
package struct WorkStealingDeque: @unchecked Sendable {
  // Sendable: the pointers never change; the memory that they point to follows the protocol above.

  /// Result of `steal`.
  @usableFromInline package enum Stolen: Equatable, Sendable {
    case element(UInt)
    case empty
    /// Another thread moved `top` first: there may be more elements.
    case lost
  }

  @usableFromInline struct Top: ~Copyable { @usableFromInline let index = Atomic<Int>(0) }
  @usableFromInline struct Bottom: ~Copyable {
    @usableFromInline let index = Atomic<Int>(0)
    /// The owner's last look at `top`. The value is a lower bound, and spares the owner the thieves' cache line.
    @usableFromInline let knownTop = Atomic<Int>(0)
  }
  @usableFromInline struct Buffers: ~Copyable {
    @usableFromInline let current: Atomic<UnsafeMutableRawPointer>
    init(_ buffer: UnsafeMutableRawPointer) { current = Atomic(buffer) }
  }

  @usableFromInline let top = PaddedPointer(Top())
  @usableFromInline let bottom = PaddedPointer(Bottom())
  @usableFromInline let buffers: PaddedPointer<Buffers>
  /// Outgrown buffers. Only the owner touches the list, so the list lies in memory of its own.
  private let retired = UnsafeMutablePointer<[UnsafeMutableRawPointer]>.holding([])

  /// - Parameter capacity: the first buffer's capacity; a power of two.
  package init(capacity: Int = 256) {
    if capacity < 1 || capacity & (capacity - 1) != 0 { fatalError("Operations: \(capacity) is no power of two") }
    buffers = PaddedPointer(Buffers(Buffer.allocate(capacity: capacity)))
  }

  /// Frees the memory. No thread may use the deque any more.
  package func deallocate() {
    Buffer.deallocate(buffers.pointer.pointee.current.load(ordering: .relaxed))
    for buffer in retired.pointee { Buffer.deallocate(buffer) }
    retired.free()
    top.deallocate()
    bottom.deallocate()
    buffers.deallocate()
  }

  /// The number of elements at some instant, for any thread; exact for the owner when nobody steals.
  package var count: Int {
    max(
      0,
      bottom.pointer.pointee.index.load(ordering: .relaxed) - top.pointer.pointee.index.load(ordering: .relaxed))
  }

  /// Sequentially consistent: a thread that has said that it goes to sleep asks this, and must not be answered from
  /// before it said so. (With relaxed loads a processor with weak order may answer early. On x86 the two are the same
  /// instruction.)
  @inlinable package var isEmpty: Bool {
    let first = top.pointer.pointee.index.load(ordering: .sequentiallyConsistent)
    return bottom.pointer.pointee.index.load(ordering: .sequentiallyConsistent) <= first
  }

  /// Called by the owner: appends at the bottom.
  @inlinable package func push(_ element: UInt) {
    let end = bottom.pointer.pointee.index.load(ordering: .relaxed)
    var buffer = buffers.pointer.pointee.current.load(ordering: .relaxed)
    if end - bottom.pointer.pointee.knownTop.load(ordering: .relaxed) > Buffer.mask(buffer) {
      buffer = makeRoom(end, buffer)
    }
    Buffer.slot(buffer, end).pointee.store(element, ordering: .relaxed)
    bottom.pointer.pointee.index.store(end &+ 1, ordering: .releasing)
  }

  /// Called by the owner: takes the newest element, or 0 when empty.
  @inlinable package func pop() -> UInt {
    let end = bottom.pointer.pointee.index.load(ordering: .relaxed) &- 1
    let buffer = buffers.pointer.pointee.current.load(ordering: .relaxed)
    bottom.pointer.pointee.index.store(end, ordering: .relaxed)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    let first = top.pointer.pointee.index.load(ordering: .relaxed)
    guard first <= end else {
      bottom.pointer.pointee.index.store(end &+ 1, ordering: .relaxed)
      return 0
    }
    var element = Buffer.slot(buffer, end).pointee.load(ordering: .relaxed)
    if first == end {
      if !top.pointer.pointee.index.compareExchange(
        expected: first, desired: first &+ 1, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed
      ).exchanged {
        element = 0
      }
      bottom.pointer.pointee.index.store(end &+ 1, ordering: .relaxed)
    }
    return element
  }

  /// Called by the owner: takes the oldest element, or 0 when empty. No fence is needed, because the owner knows
  /// `bottom`.
  @inlinable package func takeFirst() -> UInt {
    let end = bottom.pointer.pointee.index.load(ordering: .relaxed)
    let buffer = buffers.pointer.pointee.current.load(ordering: .relaxed)
    var first = top.pointer.pointee.index.load(ordering: .acquiring)
    while first < end {
      let element = Buffer.slot(buffer, first).pointee.load(ordering: .relaxed)
      let result = top.pointer.pointee.index.compareExchange(
        expected: first, desired: first &+ 1, successOrdering: .sequentiallyConsistent, failureOrdering: .acquiring)
      if result.exchanged { return element }
      first = result.original
    }
    return 0
  }

  /// Called by any thread: takes the oldest element.
  @inlinable package func steal() -> Stolen {
    let first = top.pointer.pointee.index.load(ordering: .acquiring)
    atomicMemoryFence(ordering: .sequentiallyConsistent)
    guard first < bottom.pointer.pointee.index.load(ordering: .acquiring) else { return .empty }
    let buffer = buffers.pointer.pointee.current.load(ordering: .acquiring)
    let element = Buffer.slot(buffer, first).pointee.load(ordering: .relaxed)
    return top.pointer.pointee.index.compareExchange(
      expected: first, desired: first &+ 1, successOrdering: .sequentiallyConsistent, failureOrdering: .relaxed
    ).exchanged ? .element(element) : .lost
  }

  /// Refreshes `knownTop`; doubles the buffer when it is really full.
  @usableFromInline func makeRoom(_ end: Int, _ buffer: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    let first = top.pointer.pointee.index.load(ordering: .acquiring)
    bottom.pointer.pointee.knownTop.store(first, ordering: .relaxed)
    guard end - first > Buffer.mask(buffer) else { return buffer }
    let larger = Buffer.allocate(capacity: 2 * (Buffer.mask(buffer) + 1))
    for index in first..<end {
      Buffer.slot(larger, index).pointee.store(
        Buffer.slot(buffer, index).pointee.load(ordering: .relaxed), ordering: .relaxed)
    }
    retired.pointee.append(buffer)
    buffers.pointer.pointee.current.store(larger, ordering: .releasing)
    return larger
  }
}

extension WorkStealingDeque {
  /// A power-of-two ring of atomic words behind a one-word header that holds the ring's mask.
  @usableFromInline enum Buffer {
    static func allocate(capacity: Int) -> UnsafeMutableRawPointer {
      let memory = UnsafeMutableRawPointer.allocate(
        byteCount: MemoryLayout<Int>.stride * (capacity + 1), alignment: CacheLine.bytes)
      memory.bindMemory(to: Int.self, capacity: 1).initialize(to: capacity - 1)
      let slots = (memory + MemoryLayout<Int>.stride).bindMemory(to: Atomic<UInt>.self, capacity: capacity)
      for index in 0..<capacity { (slots + index).initialize(to: Atomic(0)) }
      return memory
    }

    static func deallocate(_ buffer: UnsafeMutableRawPointer) {
      slot(buffer, 0).deinitialize(count: mask(buffer) + 1)
      buffer.deallocate()
    }

    @inlinable static func mask(_ buffer: UnsafeMutableRawPointer) -> Int {
      buffer.assumingMemoryBound(to: Int.self).pointee
    }

    @inlinable static func slot(_ buffer: UnsafeMutableRawPointer, _ index: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
      (buffer + MemoryLayout<Int>.stride).assumingMemoryBound(to: Atomic<UInt>.self) + (index & mask(buffer))
    }
  }
}
