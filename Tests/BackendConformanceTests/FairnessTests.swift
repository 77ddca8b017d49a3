import OperationBackends
import TestSupport
import Testing

/// Row 20: how often backends that keep its order take a job of the lowest level before more urgent ones.
@Suite("Fairness")
struct FairnessTests {
  static let backends = allBackends.filter(\.isOrdered)

  /// The order in which 200 urgent operations and one of the lowest level start on one worker.
  private func placeOfTheLowest(on backend: any Backend) throws -> Int {
    let queue = OperationQueue(backend: backend)
    let log = EventLog<Int>()
    let holder = SpinningOperation()
    queue.addOperation(holder)
    try holder.started.wait("the operation that holds the worker")
    for index in 0...200 {
      let operation = BlockOperation { log.append(index) }
      operation.queuePriority = index == 0 ? .veryLow : .veryHigh
      queue.addOperation(operation)
    }
    holder.release.set()
    try queue.drainInTime()
    #expect(log.events.count == 201)
    #expect(log.events.filter { $0 != 0 } == Array(1...200))
    return log.events.firstIndex(of: 0) ?? -1
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
