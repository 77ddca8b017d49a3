import TestSupport
import Testing

@testable import OperationCore

@Suite struct OperationProgressTests {
  private let backend = HeldBackend()
  private let queue: OperationQueue

  init() { queue = OperationQueue(backend: backend) }

  private func add(_ count: Int) {
    for _ in 0..<count { queue.addOperation {} }
  }

  private func run(_ count: Int) {
    for _ in 0..<count { backend.run() }
  }

  @Test func `of a queue that never had an operation`() {
    let progress = queue.progress
    #expect(progress.totalUnitCount == 0)
    #expect(progress.completedUnitCount == 0)
    #expect(progress.fractionCompleted == 0)
    #expect(!progress.isFinished)
    #expect(queue.progress === progress)
  }

  @Test func `without a total, everything that was added counts, also from before it was asked for`() {
    add(4)
    run(1)
    let progress = queue.progress
    #expect(progress.totalUnitCount == 4)
    #expect(progress.completedUnitCount == 1)
    #expect(progress.fractionCompleted == 0.25)
    run(3)
    #expect(progress.fractionCompleted == 1)
    #expect(progress.isFinished)
    add(4)
    #expect(progress.fractionCompleted == 0.5)
    #expect(!progress.isFinished)
  }

  @Test func `the first total starts the count at 0, later ones do not`() {
    add(3)
    run(3)
    let progress = queue.progress
    progress.totalUnitCount = 4
    #expect(progress.completedUnitCount == 0)
    add(2)
    run(2)
    #expect(progress.completedUnitCount == 2)
    #expect(progress.fractionCompleted == 0.5)
    progress.totalUnitCount = 2
    #expect(progress.completedUnitCount == 2)
    #expect(progress.isFinished)
  }

  @Test func `more than the total is still a whole`() {
    let progress = queue.progress
    progress.totalUnitCount = 2
    add(5)
    run(5)
    #expect(progress.completedUnitCount == 5)
    #expect(progress.fractionCompleted == 1)
    #expect(progress.isFinished)
  }

  @Test func `a total of 0 or less is never finished`() {
    let progress = queue.progress
    progress.totalUnitCount = -7
    #expect(progress.totalUnitCount == 0)
    add(1)
    run(1)
    #expect(progress.fractionCompleted == 0)
    #expect(!progress.isFinished)
  }

  @Test func `cancelled operations count when they are out of the way`() {
    add(3)
    queue.cancelAllOperations()
    #expect(queue.progress.completedUnitCount == 0)
    backend.runAll()
    #expect(queue.progress.completedUnitCount == 3)
  }

  @Test func `it outlives its queue with what was last seen`() {
    let backend = HeldBackend()
    var queue: OperationQueue? = OperationQueue(backend: backend)
    let progress = queue?.progress
    progress?.totalUnitCount = 2
    queue?.addOperation {}
    backend.runAll()
    #expect(progress?.completedUnitCount == 1)
    weak let gone = queue
    queue = nil
    #expect(gone == nil)
    #expect(progress?.completedUnitCount == 1)
    #expect(progress?.fractionCompleted == 0.5)
  }
}
