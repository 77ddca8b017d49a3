import Primitives
import StressEngine
import TestSupport
import Testing

@Suite struct IntrusiveFIFOTests {
  /// A class holds the queue: a noncopyable value cannot stand inside `#expect`.
  private final class Holder {
    var queue = IntrusiveFIFO<TestNode>()
    var isEmpty: Bool { queue.isEmpty }
    var count: Int { queue.count }

    func popNumber() -> Int { TestNode.number(of: queue.popFirst()) }
    func popNumbers(_ count: Int) -> [Int] { (0..<count).map { _ in popNumber() } }

    /// Appends a chain that is linked newest first, as a stack's content is.
    func appendStack(_ numbers: [Int], of nodes: NodePool) {
      var stack: UInt = 0
      for number in numbers {
        TestNode.setNext(of: nodes[number], to: stack)
        stack = nodes[number]
      }
      queue.appendReversed(stack: stack)
    }

    /// - Returns: whether the other queue was left empty.
    func appendQueue(_ numbers: [Int], of nodes: NodePool) -> Bool {
      var other = IntrusiveFIFO<TestNode>()
      for number in numbers { other.append(nodes[number]) }
      queue.append(contentsOf: &other)
      return other.isEmpty && other.count == 0 && other.popFirst() == 0
    }
  }

  @Test func `starts empty`() {
    let holder = Holder()
    #expect(holder.isEmpty)
    #expect(holder.count == 0)
    #expect(holder.popNumber() == -1)
  }

  @Test func `first in, first out, again after running empty`() {
    let nodes = NodePool(6)
    let holder = Holder()
    for round in 0..<3 {
      for number in 0..<6 { holder.queue.append(nodes[number]) }
      #expect(holder.count == 6, "round \(round)")
      #expect(holder.popNumbers(6) == Array(0..<6))
      #expect(holder.isEmpty)
    }
  }

  @Test func `a stack's chain comes out oldest first`() {
    let nodes = NodePool(6)
    let holder = Holder()
    holder.queue.append(nodes[0])
    holder.appendStack([1, 2, 3, 4], of: nodes)
    holder.appendStack([], of: nodes)
    holder.queue.append(nodes[5])
    #expect(holder.count == 6)
    #expect(holder.popNumbers(6) == Array(0..<6))
    #expect(holder.isEmpty)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `behaves like an array`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let nodes = NodePool(200)
    var unused = Array(0..<200)
    let holder = Holder()
    var model: [Int] = []
    for step in 0..<2_000 {
      let some = Array(unused.suffix(random.pick(0...5)))
      switch random.pick(0...5) {
      case 0, 1:
        guard let number = unused.popLast() else { continue }
        holder.queue.append(nodes[number])
        model.append(number)
      case 2, 3:
        let number = holder.popNumber()
        #expect(number == model.first ?? -1, "seed \(seed), step \(step)")
        if !model.isEmpty { unused.append(model.removeFirst()) }
      case 4:
        #expect(holder.appendQueue(some, of: nodes), "seed \(seed), step \(step)")
        unused.removeLast(some.count)
        model += some
      default:
        holder.appendStack(some, of: nodes)
        unused.removeLast(some.count)
        model += some
      }
      #expect(holder.count == model.count && holder.isEmpty == model.isEmpty, "seed \(seed), step \(step)")
    }
  }
}
