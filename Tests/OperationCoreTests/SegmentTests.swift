import Synchronization
import Testing

@testable import OperationCore

@Suite struct SegmentTests {
  private static let capacity = Segment.capacity

  /// A directory in a class: its deallocation frees the segments.
  private final class Shared {
    var directory = SegmentDirectory()
    /// Addresses of all segments that were ever given out.
    private(set) var addresses: Set<UInt> = []

    func slot(_ sequence: Int) -> UnsafeMutablePointer<Atomic<UInt>> {
      let segment = directory.findOrMake(covering: sequence)
      addresses.insert(segment.word)
      return segment.slot(sequence)
    }

    /// Segments that a look at all operations would visit.
    var liveCount: Int {
      var count = 0
      var sequence = 0
      while let base = directory.nextBase(from: sequence) {
        count += 1
        sequence = base + Segment.capacity
      }
      return count
    }

    func finish(_ sequence: Int) { slot(sequence).pointee.store(Registry.done, ordering: .relaxed) }
  }

  @Test func `a segment covers its numbers and has a slot for each`() {
    let segment = Segment(base: 2 * Self.capacity)
    defer { segment.deallocate() }
    #expect(!segment.covers(2 * Self.capacity - 1))
    #expect(segment.covers(2 * Self.capacity))
    #expect(segment.covers(3 * Self.capacity - 1))
    #expect(!segment.covers(3 * Self.capacity))
    let slots = Set((0..<Self.capacity).map { segment.slot(2 * Self.capacity + $0) })
    #expect(slots.count == Self.capacity)
    #expect(slots.allSatisfy { $0.pointee.load(ordering: .relaxed) == 0 })
  }

  @Test func `done when all slots are, in whatever order, and empty again when reused`() {
    let segment = Segment(base: 0)
    defer { segment.deallocate() }
    for sequence in (1..<Self.capacity).reversed() {
      segment.slot(sequence).pointee.store(Registry.done, ordering: .relaxed)
      #expect(!segment.isDone())
    }
    segment.slot(0).pointee.store(Registry.done, ordering: .relaxed)
    #expect(segment.isDone())
    segment.reuse(base: 7 * Self.capacity)
    #expect(segment.base == 7 * Self.capacity)
    #expect(!segment.covers(0))
    #expect(!segment.isDone())
    for sequence in 0..<Self.capacity { #expect(segment.slot(sequence).pointee.load(ordering: .relaxed) == 0) }
  }

  @Test func `numbers find their segment, from whichever one the making began`() {
    let shared = Shared()
    let far = shared.directory.findOrMake(covering: 5 * Self.capacity + 3)
    #expect(far.covers(5 * Self.capacity))
    for index in 0..<5 {
      let segment = shared.directory.findOrMake(covering: index * Self.capacity + 9)
      #expect(segment.base == index * Self.capacity)
    }
    #expect(shared.directory.last.word == far.word)
    guard case .missing = shared.directory.find(covering: 6 * Self.capacity) else {
      Issue.record("a segment that nobody made")
      return
    }
  }

  @Test func `numbers whose segment serves others are reused, not missing`() {
    let shared = Shared()
    for sequence in 0..<40 * Self.capacity { shared.finish(sequence) }
    guard case .reused = shared.directory.find(covering: 0) else {
      Issue.record("the first numbers are over")
      return
    }
  }

  @Test(arguments: [1, 5, 40]) func `memory follows what is pending, not what was added`(pendingSegments: Int) {
    let shared = Shared()
    let pending = pendingSegments * Self.capacity
    for sequence in 0..<1_000 * Self.capacity {
      _ = shared.slot(sequence)
      if sequence >= pending { shared.finish(sequence - pending) }
    }
    #expect(shared.addresses.count <= pendingSegments + 8)
    #expect(shared.liveCount <= pendingSegments + 8)
  }

  @Test func `one operation that never finishes holds one segment, not all that come after it`() {
    let shared = Shared()
    _ = shared.slot(0)
    for sequence in 1..<2_000 * Self.capacity { shared.finish(sequence) }
    #expect(shared.addresses.count <= 16)
    #expect(shared.liveCount <= 16)
    #expect(shared.directory.firstSequence == 0)
  }
}
