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

  /// Nothing is known where the files cannot be read: the number stays.
  @Test func whatCannotBeReadChangesNothing() {
    let isKnown = Atomic<Bool>(true)
    let number = WorkerNumber(nil, affinity: 8, interval: 0) { isKnown.load(ordering: .relaxed) ? 2 : nil }
    isKnown.store(false, ordering: .relaxed)
    number.look(at: 1)
    #expect(number.now == 2 && number.most == 8)
    #expect(CPUCount.availableIfKnown(root: "/no/such/folder") == nil)
    #expect(CPUCount.availableIfKnown().map { $0 == CPUCount.available() } ?? true)
    // Without a number at the start, that of the CPUs counts.
    #expect(WorkerNumber(nil, affinity: 1, cpus: { nil }).now == CPUCount.available())
  }

  /// A quota may grant more than the mask has.
  @Test func theMaskIsNoLimitBelowTheCPUs() {
    let number = WorkerNumber(nil, affinity: 1, cpus: { 2 })
    #expect(number.most == 2 && number.now == 2)
  }
}
