import Primitives
import StressEngine
import Synchronization
import TestSupport
import Testing

@Suite struct InjectorTests {
  /// Noncopyable values cannot be captured by several closures: a class holds the injector.
  private final class Shared: Sendable {
    let injector = Injector<TestNode>()
    let stop = Atomic<Bool>(false)
    var isEmpty: Bool { injector.isEmpty }
  }

  private func numbers(_ shared: Shared, limit: Int) -> [Int] {
    var batch = IntrusiveFIFO<TestNode>()
    let result = shared.injector.take(limit: limit, consumerCount: 1, into: &batch)
    var numbers: [Int] = []
    while !batch.isEmpty { numbers.append(TestNode.number(of: batch.popFirst())) }
    #expect(result.taken == numbers.count)
    return numbers
  }

  @Test func `starts empty`() {
    let shared = Shared()
    #expect(shared.isEmpty)
    #expect(numbers(shared, limit: 8) == [])
  }

  @Test func `single nodes and chains come out in the order of the pushes`() {
    let nodes = NodePool(10)
    let shared = Shared()
    shared.injector.push(nodes[0])
    shared.injector.push(nodes[1])
    shared.injector.push(newest: nodes.linkNewestFirst(2..<6), oldest: nodes[2])
    shared.injector.push(nodes[6])
    #expect(!shared.isEmpty)
    // What the first take left behind stays ahead of what comes later.
    #expect(numbers(shared, limit: 3) == [0, 1, 2])
    #expect(!shared.isEmpty)
    shared.injector.push(nodes[7])
    #expect(numbers(shared, limit: 100) == [3, 4, 5, 6, 7])
    #expect(shared.isEmpty)
  }

  @Test func `nodes that are put first come out first, in their order`() {
    let nodes = NodePool(8)
    let shared = Shared()
    for index in 0..<3 { shared.injector.push(nodes[index]) }
    #expect(numbers(shared, limit: 1) == [0])
    shared.injector.push(nodes[3])
    var first = IntrusiveFIFO<TestNode>()
    for index in 4..<6 { first.append(nodes[index]) }
    shared.injector.putFirst(first)
    #expect(numbers(shared, limit: 8) == [4, 5, 1, 2, 3])
    #expect(shared.isEmpty)
    var again = IntrusiveFIFO<TestNode>()
    again.append(nodes[6])
    shared.injector.putFirst(again)
    #expect(!shared.isEmpty)
    #expect(numbers(shared, limit: 8) == [6])
    #expect(shared.isEmpty)
  }

  @Test func `a batch is an even share, at most the limit`() {
    let nodes = NodePool(100)
    let shared = Shared()
    for index in 0..<100 { shared.injector.push(nodes[index]) }
    var batch = IntrusiveFIFO<TestNode>()
    let takes = [(64, 4), (10, 4), (64, 1), (64, 1)].map { limit, consumers in
      let result = shared.injector.take(limit: limit, consumerCount: consumers, into: &batch)
      return [result.taken, result.left]
    }
    #expect(takes == [[26, 74], [10, 64], [64, 0], [0, 0]])
    var numbers: [Int] = []
    while !batch.isEmpty { numbers.append(TestNode.number(of: batch.popFirst())) }
    #expect(numbers == Array(0..<100))
  }

  @Test(arguments: [1, 3])
  func `many producers and consumers: each node once, each producer in its order`(consumers: Int) throws {
    let producers = 3
    let each = 10_000
    let total = producers * each
    let seed = StressSettings.fromEnvironment.seed
    let nodes = NodePool(total)
    let shared = Shared()
    let left = CountdownLatch(producers)
    let taken = Monitor([[Int]](repeating: [], count: consumers))
    try onThreads(producers + consumers, "all \(total) nodes, seed \(seed)") { index in
      var random = SeededGenerator(seed: seed &+ UInt64(index))
      guard index >= producers else {
        produce(nodes, (index * each)..<((index + 1) * each), into: shared, &random)
        left.countDown()
        return
      }
      var mine: [Int] = []
      while true {
        let isLast = left.remaining <= 0
        var batch = IntrusiveFIFO<TestNode>()
        let result = shared.injector.take(
          limit: random.pick(1...64), consumerCount: random.pick(1...consumers), into: &batch)
        while !batch.isEmpty {
          let node = batch.popFirst()
          let number = TestNode.number(of: node)
          let message = TestNode.pointer(node).pointee.message
          if message != ~number { Issue.record("node \(number) came without its message") }
          mine.append(number)
        }
        if result.taken == 0 {
          if isLast && shared.isEmpty { break }
          giveTheProcessorAway()
        }
      }
      let numbers = mine
      taken.with { $0[index - producers] = numbers }
    }
    let lists = taken.value
    #expect(lists.flatMap { $0 }.sorted() == Array(0..<total))
    for list in lists {
      for producer in 0..<producers {
        let sequence = list.filter { $0 / each == producer }
        #expect(sequence == sequence.sorted(), "a consumer saw producer \(producer) out of order, seed \(seed)")
      }
    }
  }

  private func produce(
    _ nodes: NodePool, _ numbers: Range<Int>, into shared: Shared, _ random: inout SeededGenerator
  ) {
    var number = numbers.lowerBound
    while number < numbers.upperBound {
      let count = min(random.chance(30) ? random.pick(2...20) : 1, numbers.upperBound - number)
      for next in number..<number + count { TestNode.pointer(nodes[next]).pointee.message = ~next }
      if count == 1 {
        shared.injector.push(nodes[number])
      } else {
        shared.injector.push(newest: nodes.linkNewestFirst(number..<number + count), oldest: nodes[number])
      }
      number += count
      if random.chance(3) { giveTheProcessorAway() }
    }
  }

  /// A worker that sees "empty" goes to sleep, so the answer must not come while a node only moves inside.
  @Test func `is never seen empty while one node stays inside`() throws {
    let nodes = NodePool(2)
    let shared = Shared()
    shared.injector.push(nodes[0])
    try race(
      "one mover and two lookers",
      {
        var held = nodes[1]
        for _ in 0..<50_000 {
          // One of the two nodes is in this thread's hand, the other always inside.
          shared.injector.push(held)
          var batch = IntrusiveFIFO<TestNode>()
          _ = shared.injector.take(limit: 1, consumerCount: 1, into: &batch)
          held = batch.popFirst()
        }
        shared.stop.store(true, ordering: .relaxed)
      }, { Self.lookUntilStopped(shared) }, { Self.lookUntilStopped(shared) })
  }

  private static func lookUntilStopped(_ shared: Shared) {
    while !shared.stop.load(ordering: .relaxed) {
      if shared.isEmpty {
        Issue.record("seen empty")
        return
      }
    }
  }
}
