import Glibc
import TestSupport
import Testing

@testable import OperationCore
@testable import OperationJobs

/// References to queues that a thread notes and gives back later.
struct OwedReferencesTests {
  @Test func `a queue to which nothing is owed any more is not touched, because it may be gone`() throws {
    // AddressSanitizer gives freed memory to nobody for long. It reports the use of such memory itself.
    guard dlsym(nil, "__asan_init") == nil else {
      _ = try inTime("the thread that owes", outliveAQueueThatWasOwedTo)
      return
    }
    // Another thread may take the queue's memory first: several tries.
    #expect(try (0..<100).contains { _ in try inTime("the thread that owes", outliveAQueueThatWasOwedTo) })
  }

  /// - Returns: whether the queue's memory came to hold something else before the next reference was noted.
  @Sendable private func outliveAQueueThatWasOwedTo() -> Bool {
    var isReused = false
    OwedReferences.allowed {
      let backend = HeldBackend()
      let other = OperationQueue(backend: backend)
      var address: UnsafeMutableRawPointer?
      do {
        let queue = OperationQueue(backend: backend)
        address = Unmanaged.passUnretained(queue).toOpaque()
        queue.addOperation {}
        backend.runAll()
        // The reference that is owed for the block becomes this operation's, which another thread finishes.
        queue.addOperation(StringKeyedOperation { $0.finishOnAnotherThread() })
        backend.runAll()
      }
      let sizes = (1...128).map { 16 * $0 }
      let blocks = sizes.map { malloc($0)! }
      for (block, size) in zip(blocks, sizes) { memset(block, 0xa5, size) }
      isReused = blocks.contains { $0 == address }
      other.addOperation {}
      backend.runAll()
      for block in blocks { free(block) }
    }
    return isReused
  }

  @Test(arguments: [0, 1, 5, 6, 70, 200]) func `what is owed is given back, used up or not`(added: Int) throws {
    let count = Counter()
    let isFreed = try inTime("the thread that owes") {
      var isFreed = false
      OwedReferences.allowed {
        let backend = HeldBackend()
        weak var watched: OperationQueue?
        do {
          let queue = OperationQueue(backend: backend)
          watched = queue
          for _ in 0..<5 { queue.addOperation { count.increment() } }
          backend.runAll()
          for _ in 0..<added { queue.addOperation { count.increment() } }
          queue.addOperations((0..<added).map { _ in BlockOperation { count.increment() } }, waitUntilFinished: false)
          backend.runAll()
        }
        OwedReferences.settle()
        isFreed = watched == nil
      }
      return isFreed
    }
    #expect(isFreed && count.value == 5 + 2 * added)
  }
}

extension StringKeyedOperation {
  fileprivate func finishOnAnotherThread() {
    let done = Gate()
    startThread {
      self.finish()
      done.open()
    }
    done.pass()
  }
}
