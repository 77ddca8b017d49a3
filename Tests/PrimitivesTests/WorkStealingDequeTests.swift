import Primitives
import StressEngine
import TestSupport
import Testing

/// One thread: order, growth, and agreement with a plain array.
@Suite struct WorkStealingDequeTests {
  private func withDeque(capacity: Int = 4, _ body: (WorkStealingDeque) throws -> Void) rethrows {
    let deque = WorkStealingDeque(capacity: capacity)
    defer { deque.deallocate() }
    try body(deque)
  }

  @Test func `empty gives nothing`() {
    withDeque { deque in
      #expect(deque.isEmpty)
      #expect(deque.count == 0)
      #expect(deque.pop() == 0)
      #expect(deque.takeFirst() == 0)
      #expect(deque.steal() == .empty)
      #expect(deque.isEmpty && deque.count == 0)
    }
  }

  @Test func `the owner pops the newest first`() {
    withDeque { deque in
      for element in 1...100 as ClosedRange<UInt> { deque.push(element) }
      #expect(deque.count == 100)
      for element in (1...100 as ClosedRange<UInt>).reversed() { #expect(deque.pop() == element) }
      #expect(deque.pop() == 0)
    }
  }

  @Test func `thieves, and the owner from the other end, take the oldest first`() {
    withDeque { deque in
      for element in 1...100 as ClosedRange<UInt> { deque.push(element) }
      for element in 1...100 as ClosedRange<UInt> {
        if element.isMultiple(of: 2) {
          #expect(deque.takeFirst() == element)
        } else {
          #expect(deque.steal() == .element(element))
        }
      }
      #expect(deque.steal() == .empty)
      #expect(deque.takeFirst() == 0)
    }
  }

  @Test(arguments: [1, 2, 4, 64])
  func `growing keeps every element in its place`(capacity: Int) {
    withDeque(capacity: capacity) { deque in
      // Moves the ring's start away from slot 0 first, so that growing must unroll it.
      for element in 1...UInt(capacity) { deque.push(element) }
      for element in 1...UInt(capacity) { #expect(deque.steal() == .element(element)) }
      for element in 1...5_000 as ClosedRange<UInt> { deque.push(element) }
      for element in 1...2_500 as ClosedRange<UInt> { #expect(deque.steal() == .element(element)) }
      for element in (2_501...5_000 as ClosedRange<UInt>).reversed() { #expect(deque.pop() == element) }
      #expect(deque.isEmpty)
    }
  }

  @Test(arguments: 1...30 as ClosedRange<UInt64>)
  func `behaves like an array`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    withDeque(capacity: 1 << random.pick(0...4)) { deque in
      var model: [UInt] = []
      var next: UInt = 1
      // Phases of filling and of emptying, so that the deque both grows and runs empty.
      for step in 0..<5_000 {
        let pushes = (step / 500).isMultiple(of: 2) ? 60 : 30
        if random.chance(pushes) {
          deque.push(next)
          model.append(next)
          next += 1
        } else if random.chance(50) {
          #expect(deque.pop() == model.popLast() ?? 0, "seed \(seed), step \(step)")
        } else {
          let expected = model.isEmpty ? 0 : model.removeFirst()
          if random.chance(50) {
            #expect(deque.takeFirst() == expected, "seed \(seed), step \(step)")
          } else {
            #expect(deque.steal() == (expected == 0 ? .empty : .element(expected)), "seed \(seed), step \(step)")
          }
        }
        #expect(deque.count == model.count && deque.isEmpty == model.isEmpty, "seed \(seed), step \(step)")
      }
    }
  }

  @Test func `ownership may move to another thread that synchronises`() throws {
    let deque = WorkStealingDeque(capacity: 2)
    defer { deque.deallocate() }
    for thread in 0..<8 as Range<UInt> {
      try inTime("owner \(thread)") {
        for element in 1...100 as ClosedRange<UInt> { deque.push(thread * 100 + element) }
        for element in (51...100 as ClosedRange<UInt>).reversed() { #expect(deque.pop() == thread * 100 + element) }
      }
    }
    #expect(deque.count == 400)
    for thread in 0..<8 as Range<UInt> {
      for element in 1...50 as ClosedRange<UInt> { #expect(deque.steal() == .element(thread * 100 + element)) }
    }
  }
}
