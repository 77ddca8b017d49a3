import Primitives
import TestSupport
import Testing

@Suite struct CacheLineTests {
  private struct Wide {
    var words = InlineArray<40, Int>(repeating: 3)
  }

  @Test func `a padded value starts on a line of its own`() {
    let pointers = (0..<20).map { PaddedPointer($0) }
    for (index, padded) in pointers.enumerated() {
      #expect(UInt(bitPattern: padded.pointer) % UInt(CacheLine.bytes) == 0)
      #expect(padded.pointer.pointee == index)
    }
    let lines = Set(pointers.map { UInt(bitPattern: $0.pointer) / UInt(CacheLine.bytes) })
    #expect(lines.count == pointers.count)
    for padded in pointers { padded.deallocate() }
  }

  @Test func `a value wider than a line keeps all of its content`() {
    let padded = PaddedPointer(Wide())
    for index in 0..<40 { padded.pointer.pointee.words[index] = index }
    for index in 0..<40 { #expect(padded.pointer.pointee.words[index] == index) }
    padded.deallocate()
  }

  @Test func `deallocating releases the value`() {
    let tracker = LifetimeTracker()
    let padded = PaddedPointer(tracker.token())
    #expect(tracker.live == 1)
    padded.deallocate()
    #expect(tracker.live == 0)
  }
}
