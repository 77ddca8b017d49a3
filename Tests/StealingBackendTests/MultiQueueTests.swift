import OperationCore
import OperationJobs
import Scheduling
import Testing

@testable import StealingBackend

/// The lists of a relaxed multi-queue, without threads of a pool.
@Suite struct MultiQueueTests {
  private static let levels: [Operation.QueuePriority] = [.veryLow, .low, .normal, .high, .veryHigh]

  @Test(arguments: [(1, 1), (2, 1), (7, 1), (2, 3), (5, 100)])
  func `every job is taken once, whatever the lists`(lists: Int, stickiness: Int) throws {
    let queue = MultiQueue(lists: lists, stickiness: stickiness, fairnessInterval: 0)
    let worker = Worker(index: 0, fairnessInterval: 0, strategy: StealingStrategy())
    #expect(queue.isEmpty && queue.take(worker) == 0)
    var runs = [Int](repeating: 0, count: 100)
    withUnsafeMutablePointer(to: &runs) { pointer in
      nonisolated(unsafe) let runs = pointer
      for index in 0..<100 {
        let job = Job(priority: Self.levels[index % 5]) { runs.pointee[index] += 1 }
        // From a worker, and from a thread outside.
        queue.push(job.word, level: job.level, index.isMultiple(of: 2) ? Unmanaged.passUnretained(worker) : nil)
      }
      #expect(!queue.isEmpty && queue.jobCount == 100)
      while case let job = queue.take(worker), job != 0 { _ = Job(word: job).run() }
    }
    #expect(runs.allSatisfy { $0 == 1 } && queue.isEmpty && queue.jobCount == 0)
  }

  @Test func `one list keeps the order of levels, and the oldest goes first among equals`() {
    let queue = MultiQueue(lists: 1, stickiness: 1, fairnessInterval: 0)
    let worker = Worker(index: 0, fairnessInterval: 0, strategy: StealingStrategy())
    var order: [Int] = []
    withUnsafeMutablePointer(to: &order) { pointer in
      nonisolated(unsafe) let order = pointer
      for (index, level) in [1, 3, 1, 4, 2, 3].enumerated() {
        let job = Job(priority: Self.levels[level]) { order.pointee.append(index) }
        queue.push(job.word, level: job.level, nil)
      }
      while case let job = queue.take(worker), job != 0 { _ = Job(word: job).run() }
    }
    #expect(order == [3, 1, 5, 4, 0, 2])
  }
}
