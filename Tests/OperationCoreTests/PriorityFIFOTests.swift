import TestSupport
import Testing

@testable import OperationCore
@testable import OperationJobs

@Suite struct PriorityFIFOTests {
  private static let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]

  /// Jobs with their level and number, as words; run away at the end so that nothing leaks.
  private func makeJobs(_ levels: [Int]) -> [UInt] { levels.map { Job(priority: Self.levels[$0]) {}.word } }

  private func takeAll(_ list: inout PriorityFIFO, _ jobs: [UInt]) -> [Int] {
    var order: [Int] = []
    while case let job = list.popFirst(), job != 0 {
      order.append(jobs.firstIndex(of: job) ?? -1)
      _ = Job(word: job).run()
    }
    return order
  }

  @Test func `an empty one gives nothing`() {
    var list = PriorityFIFO(fairnessInterval: 1)
    let seen = (list.popFirst(), list.isEmpty, list.hasJob(above: 0))
    #expect(seen == (0, true, false))
  }

  @Test(arguments: 1...20) func `without fairness the order is that of a stable sort`(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let levels = (0..<200).map { _ in Int.random(in: 0..<5, using: &random) }
    let jobs = makeJobs(levels)
    var list = PriorityFIFO(fairnessInterval: 0)
    for job in jobs { list.append(job) }
    let count = list.count
    #expect(count == 200)
    let expected = levels.indices.sorted { (-levels[$0], $0) < (-levels[$1], $1) }
    #expect(takeAll(&list, jobs) == expected)
  }

  @Test(arguments: [1, 2, 16, 61]) func `once every so often one of the lowest level`(interval: Int) {
    let levels = [Int](repeating: 4, count: 200) + [Int](repeating: 1, count: 3) + [0]
    let jobs = makeJobs(levels)
    var list = PriorityFIFO(fairnessInterval: interval)
    for job in jobs { list.append(job) }
    let order = takeAll(&list, jobs)
    #expect(order.sorted() == Array(levels.indices))
    // The only job of the lowest level first, then the next level's in their order.
    let lowest = [203, 200, 201, 202]
    for (turn, job) in lowest.enumerated() where (turn + 1) * interval <= 200 {
      #expect(order[(turn + 1) * interval - 1] == job)
    }
  }

  @Test func `more urgent jobs are seen`() {
    let jobs = makeJobs([2])
    var list = PriorityFIFO(fairnessInterval: 0)
    list.append(jobs[0])
    let seen = (0..<5).map { list.hasJob(above: $0) }
    #expect(seen == [true, true, false, false, false])
    _ = takeAll(&list, jobs)
    let isSeenLater = list.hasJob(above: 0)
    #expect(!isSeenLater)
  }
}
