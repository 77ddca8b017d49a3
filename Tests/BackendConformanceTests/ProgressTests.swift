import Operations
import TestSupport
import Testing

/// Row 38: `progress`.
@Suite("Progress")
struct ProgressTests {
  @Test("row 38: counts every operation, asynchronous and cancelled ones too", arguments: allBackends)
  func countsEveryKind(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.progress.totalUnitCount = 50
      #expect(queue.progress.totalUnitCount == 50)
      #expect(queue.progress.completedUnitCount == 0 && queue.progress.fractionCompleted == 0)
      for _ in 0..<10 {
        let cancelled = Operation()
        cancelled.addDependency(Operation())
        queue.addOperations(
          [
            BlockOperation {}, AsynchronousOperation { operation in startThread { operation.finish() } },
            StringKeyedOperation { $0.finish() }, cancelled,
          ], waitUntilFinished: false)
        queue.addOperation {}
        cancelled.cancel()
      }
      try queue.drainInTime()
      let progress = queue.progress
      try eventually("all 50 to be counted, not \(progress.completedUnitCount)") { progress.completedUnitCount == 50 }
      #expect(progress.fractionCompleted == 1 && progress.isFinished)
    }
  }

  @Test("row 38: half way", arguments: allBackends)
  func halfWay(backend: TestBackend) throws {
    try backend.withQueue { queue in
      queue.progress.totalUnitCount = 4
      for _ in 0..<2 { queue.addOperation {} }
      try queue.drainInTime()
      try eventually("two to be counted") { queue.progress.completedUnitCount == 2 }
      #expect(queue.progress.fractionCompleted == 0.5 && !queue.progress.isFinished)
      let running = AsynchronousOperation { _ in }
      queue.addOperation(running)
      try eventually("the asynchronous operation") { running.isExecuting }
      giveOthersAChance()
      #expect(queue.progress.completedUnitCount == 2)
      running.finish()
      try eventually("three to be counted") { queue.progress.completedUnitCount == 3 }
    }
  }

  @Test("row 38: each queue has its own", arguments: allBackends)
  func separate(backend: TestBackend) throws {
    try backend.withQueues { first, second in
      first.progress.totalUnitCount = 5
      second.progress.totalUnitCount = 5
      for _ in 0..<5 { first.addOperation {} }
      try first.drainInTime()
      try eventually("five to be counted") { first.progress.isFinished }
      #expect(second.progress.completedUnitCount == 0 && !second.progress.isFinished)
    }
  }
}
