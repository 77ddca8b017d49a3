import Glibc
import OperationBackends
import TestSupport
import Testing

/// Row 20: how often backends that keep its order take a job of the lowest level before more urgent ones.
@Suite("Fairness")
struct FairnessTests {
  static let backends = allBackends.filter(\.isOrdered)

  /// The place in which the operation of the lowest level starts, among 200 urgent ones on one worker.
  ///
  /// On a busy machine the pool may take the held thread for one that blocks, and give its place to another thread. Two
  /// threads have no order: then the operations run once more.
  private func placeOfTheLowest(on backend: any Backend) throws -> Int {
    for _ in 0..<20 {
      let started = try startedOnOneWorker(on: backend)
      let order = started.map(\.index)
      #expect(order.sorted() == Array(0...200))
      let isInOrder = order.filter { $0 != 0 } == Array(1...200)
      if !isInOrder, Set(started.map(\.thread)).count > 1 { continue }
      #expect(isInOrder)
      return order.firstIndex(of: 0) ?? -1
    }
    Issue.record("two threads ran the operations of a pool with one worker, twenty times")
    return -1
  }

  private func startedOnOneWorker(on backend: any Backend) throws -> [(index: Int, thread: pthread_t)] {
    let queue = OperationQueue(backend: backend)
    let log = EventLog<(index: Int, thread: pthread_t)>()
    let holder = SpinningOperation()
    queue.addOperation(holder)
    try holder.started.wait("the operation that holds the worker")
    for index in 0...200 {
      let operation = BlockOperation { log.append((index, pthread_self())) }
      operation.queuePriority = index == 0 ? .veryLow : .veryHigh
      queue.addOperation(operation)
    }
    holder.release.set()
    try queue.drainInTime()
    return log.events
  }

  @Test("row 20.7: with 0 strictly the most urgent first", arguments: backends)
  func strict(backend: TestBackend) throws {
    #expect(try backend.withBackend(workers: 1, fairnessInterval: 0) { try placeOfTheLowest(on: $0) } == 200)
  }

  @Test("row 20.6: the lowest level has its turn within the interval", arguments: backends, [1, 16, 61])
  func interval(backend: TestBackend, interval: Int) throws {
    #expect(
      try backend.withBackend(workers: 1, fairnessInterval: interval) { try placeOfTheLowest(on: $0) } < interval)
  }

  @Test("rows 20.6 and 20.7: unless said otherwise, within 61 jobs", arguments: backends)
  func usually(backend: TestBackend) throws {
    #expect(Fairness.defaultInterval == 61)
    #expect(try backend.withBackend(workers: 1) { try placeOfTheLowest(on: $0) } < 61)
  }
}
