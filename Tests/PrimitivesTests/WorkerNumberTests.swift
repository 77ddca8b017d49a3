import Synchronization
import Testing

@testable import Primitives

/// How many workers a pool has, with and without a chosen number.
struct WorkerNumberTests {
  private final class CPUs: Sendable {
    private let count: Atomic<Int>
    let looks = Atomic<Int>(0)
    init(_ count: Int) { self.count = Atomic(count) }
    func set(_ new: Int) { count.store(new, ordering: .relaxed) }
    func read() -> Int {
      looks.wrappingAdd(1, ordering: .relaxed)
      return count.load(ordering: .relaxed)
    }
  }

  @Test func aChosenNumberStays() {
    let cpus = CPUs(2)
    let number = WorkerNumber(5, affinity: 4, cpus: cpus.read)
    cpus.set(1)
    number.look(at: 1_000_000_000)
    #expect(number.now == 5 && number.most == 5 && number.withheld == 0 && cpus.looks.load(ordering: .relaxed) == 0)
  }

  @Test func withoutANumberThePoolFollowsTheCPUs() {
    let cpus = CPUs(2)
    let number = WorkerNumber(nil, affinity: 4, interval: 100, cpus: cpus.read)
    #expect(number.now == 2 && number.most == 4 && number.withheld == 2)
    cpus.set(1)
    number.look(at: 100)
    #expect(number.now == 1 && number.withheld == 3)
    // Too soon: nothing is read.
    cpus.set(3)
    let looks = cpus.looks.load(ordering: .relaxed)
    number.look(at: 199)
    #expect(number.now == 1 && cpus.looks.load(ordering: .relaxed) == looks)
    number.look(at: 200)
    #expect(number.now == 3)
    // There are never more than the mask had at the start, and never none.
    for (read, now) in [(9, 4), (0, 1), (-1, 1), (4, 4)] {
      cpus.set(read)
      number.look(at: UInt64(1_000 + 1_000 * (read + 2)))
      #expect(number.now == now)
    }
  }

  /// A quota may grant more than the mask has.
  @Test func theMaskIsNoLimitBelowTheCPUs() {
    let number = WorkerNumber(nil, affinity: 1, cpus: { 2 })
    #expect(number.most == 2 && number.now == 2)
  }
}
