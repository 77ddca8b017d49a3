import OperationCore
import TestSupport
import Testing

/// When `addOperations` hands ready operations over before all edges of the batch are linked.
@Suite("Parts of a batch")
struct PartsOfBatchTests {
  /// 16 operations in rows, each of which waits for the one before it in its row, and one that waits for nothing.
  private func rows(_ count: Int = 200) -> [Operation] {
    let rows = (0..<count).map { _ in BlockOperation {} }
    for (earlier, later) in zip(rows, rows.dropFirst(16)) { later.addDependency(earlier) }
    return rows + [BlockOperation {}]
  }

  /// - Returns: how many operations each submission to the backend had before any of them ran.
  private func submissions(of batch: [Operation]) -> [Int] {
    let backend = HeldBackend()
    let queue = OperationQueue(backend: backend)
    queue.addOperations(batch, waitUntilFinished: false)
    let found = backend.submissions
    backend.runAll()
    #expect(batch.allSatisfy { $0.isFinished } && queue.operationCount == 0)
    return found
  }

  @Test("the first operations do not wait for the edges of later ones")
  func begins() { #expect(submissions(of: rows()) == [16, 1]) }

  @Test("a batch of 64 stays whole")
  func short() { #expect(submissions(of: rows(63)) == [17]) }

  @Test("a batch with a more urgent operation stays whole: row 20.3")
  func levels() {
    let batch = rows()
    batch[200].queuePriority = .high
    #expect(submissions(of: batch) == [17])
  }

  @Test("a batch stays whole when a class is asked: its `isReady` may wait for a body")
  func asked() { #expect(submissions(of: rows() + [Operation()]) == [18]) }

  private final class OwnFinish: Operation, @unchecked Sendable {
    // Sendable: no field.
    override var isFinished: Bool { super.isFinished }
  }

  @Test("a batch stays whole when the class of a dependency is asked: its `isFinished` may wait for a body")
  func askedForItsFinish() {
    let outer = OwnFinish()
    outer.start()
    var batch = rows()
    batch[150].addDependency(outer)
    #expect(submissions(of: batch) == [17])
    batch = rows()
    batch[200] = BlockOperation(dependencies: [outer]) {}
    #expect(submissions(of: batch) == [17])
  }

  @Test("a batch of which more than half of a later part is ready is not handed over again before the end")
  func readyLater() {
    let first = rows(63)
    let waiting = (0..<24).map { _ in BlockOperation(dependencies: [first[0]]) {} }
    #expect(submissions(of: first + waiting + (0..<140).map { _ in BlockOperation {} }) == [17, 140])
  }

  @Test("a batch without edges stays whole")
  func independent() { #expect(submissions(of: (0..<200).map { _ in BlockOperation {} }) == [200]) }
}
