import Testing
import VirtualScheduling

/// Events of one instant in an order by priorities.
struct PriorityOrderTests {
  /// The lanes in the order in which their timers are given: each lane has some timers, one after the other.
  private func order(seed: UInt64, changes: Int, lanes: UInt32, timers: Int) -> [UInt32] {
    let pool = VirtualPool(workers: 1, strategy: .stealing(.init()), choices: VirtualChoices(seed: seed))
    pool.order = PriorityOrder(changes: changes, &pool.choices)
    var lane: [Int: UInt32] = [:]
    var left: [UInt32: Int] = [:]
    for number in 1...lanes { (lane[pool.schedule(at: 0, lane: number)], left[number]) = (number, timers - 1) }
    var order: [UInt32] = []
    while case .timer(let timer)? = pool.next(), let number = lane[timer] {
      order.append(number)
      guard let more = left[number], more > 0 else { continue }
      left[number] = more - 1
      lane[pool.schedule(at: 0, lane: number)] = number
    }
    return order
  }

  @Test func `without changes one lane goes on until it has nothing to do`() {
    var firsts: Set<UInt32> = []
    for seed in 0..<50 as Range<UInt64> {
      let order = order(seed: seed, changes: 0, lanes: 4, timers: 20)
      #expect(order.count == 80)
      #expect(zip(order, order.dropFirst()).count { $0 != $1 } == 3)
      #expect(order == self.order(seed: seed, changes: 0, lanes: 4, timers: 20))
      firsts.insert(order[0])
    }
    #expect(firsts.count == 4)
  }

  @Test func `a change holds up the lane that goes on, behind all others`() {
    var switches: Set<Int> = []
    for seed in 0..<100 as Range<UInt64> {
      let order = order(seed: seed, changes: 1, lanes: 3, timers: 30)
      #expect(order.count == 90)
      let turns = zip(order, order.dropFirst()).filter { $0 != $1 }.map(\.0) + [order[89]]
      switches.insert(turns.count)
      // The one that was held up comes last, a second time.
      if turns.count == 4 { #expect(turns.dropLast().contains(order[89])) }
    }
    // The change comes behind the end, or before, once.
    #expect(switches == [3, 4])
  }

  @Test func `a lane that goes on and on lets others go on`() {
    for seed in 0..<20 as Range<UInt64> {
      let order = order(seed: seed, changes: 0, lanes: 2, timers: 150)
      let first = order.prefix { $0 == order[0] }.count
      #expect(first <= 101 && Set(order.prefix(102)).count == 2, "\(order)")
    }
  }
}
