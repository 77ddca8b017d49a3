import Primitives
import StressEngine
import Synchronization
import TestSupport
import Testing

/// One owner and several thieves at once: every element is taken exactly once, and what it stands for arrives with it.
@Suite struct WorkStealingDequeStressTests {
  /// Elements are numbers 1...count; each stands for a plain word that the owner writes just before it pushes.
  ///
  /// Invariant behind `@unchecked Sendable`: word i is written by the owner before it pushes i, and read by whoever
  /// took i.
  private final class Table: @unchecked Sendable {
    let deque: WorkStealingDeque
    let count: Int
    let finished = Atomic<Bool>(false)
    private let words: UnsafeMutablePointer<Int>
    private let taken: UnsafeMutablePointer<Atomic<Int>>

    init(count: Int, capacity: Int) {
      deque = WorkStealingDeque(capacity: capacity)
      self.count = count
      words = .allocate(capacity: count + 1)
      words.initialize(repeating: 0, count: count + 1)
      taken = .allocate(capacity: count + 1)
      for index in 0...count { (taken + index).initialize(to: Atomic(0)) }
    }

    deinit {
      deque.deallocate()
      words.deallocate()
      taken.deinitialize(count: count + 1)
      taken.deallocate()
    }

    func push(_ element: Int) {
      words[element] = -element
      deque.push(UInt(element))
    }

    func take(_ element: UInt, by whom: String) {
      let index = Int(element)
      guard (1...count).contains(index) else {
        Issue.record("\(whom) took \(element), which nobody pushed")
        return
      }
      if words[index] != -index { Issue.record("\(whom) took \(index) without what it stands for") }
      taken[index].wrappingAdd(1, ordering: .relaxed)
    }

    /// Elements not taken exactly once.
    var wrong: [Int] { (1...count).filter { taken[$0].load(ordering: .relaxed) != 1 } }

    /// A thief: steals until the owner has finished and nothing is left.
    func steal(by whom: String, seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      var newest: UInt = 0
      while true {
        // Read before the steal: an empty deque seen after the owner finished stays empty.
        let isLast = finished.load(ordering: .acquiring)
        switch deque.steal() {
        case .element(let element):
          if element <= newest { Issue.record("\(whom) stole \(element) after \(newest)") }
          newest = element
          take(element, by: whom)
        case .lost: continue
        case .empty:
          if isLast { return }
          giveTheProcessorAway()
        }
        if random.chance(2) { giveTheProcessorAway() }
      }
    }
  }

  /// What the owner does between pushes.
  enum OwnerOrder: CaseIterable, Sendable { case newestFirst, oldestFirst, mixed }

  @Test(arguments: OwnerOrder.allCases, [1, 3])
  func `each element exactly once`(order: OwnerOrder, thieves: Int) throws {
    let settings = StressSettings.fromEnvironment
    for round in 0..<4 as Range<UInt64> {
      let seed = settings.seed &+ round
      let table = Table(count: 20_000, capacity: 2)
      try onThreads(thieves + 1, "owner and \(thieves) thieves, seed \(seed)") { index in
        guard index == 0 else {
          table.steal(by: "thief \(index)", seed: seed &+ UInt64(index))
          return
        }
        var random = SeededGenerator(seed: seed)
        var next = 1
        while next <= table.count {
          // Bursts: long ones make the deque grow, short ones make owner and thieves meet at the last element.
          for _ in 0..<min(random.chance(10) ? random.pick(1...200) : random.pick(1...3), table.count - next + 1) {
            table.push(next)
            next += 1
          }
          for _ in 0..<random.pick(0...4) { take(from: table, order, &random) }
          if random.chance(5) { giveTheProcessorAway() }
        }
        while !table.deque.isEmpty { take(from: table, order, &random) }
        table.finished.store(true, ordering: .releasing)
      }
      #expect(table.wrong == [], "seed \(seed): elements not taken exactly once")
    }
  }

  private func take(from table: Table, _ order: OwnerOrder, _ random: inout SeededGenerator) {
    let isNewest = order == .newestFirst || (order == .mixed && random.chance(50))
    let element = isNewest ? table.deque.pop() : table.deque.takeFirst()
    if element != 0 { table.take(element, by: "the owner") }
  }

  /// The case the fences are for: one element, owner and thief reach for it together.
  @Test func `the last element goes to one of two`() throws {
    let table = Table(count: 100_000, capacity: 4)
    try onThreads(2, "owner and thief") { index in
      if index == 0 {
        for element in 1...table.count {
          table.push(element)
          let popped = table.deque.pop()
          if popped != 0 { table.take(popped, by: "the owner") }
        }
        table.finished.store(true, ordering: .releasing)
      } else {
        table.steal(by: "the thief", seed: 1)
      }
    }
    #expect(table.wrong == [])
    #expect(table.deque.isEmpty)
  }
}
