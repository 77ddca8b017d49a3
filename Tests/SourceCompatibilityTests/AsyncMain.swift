#if FOUNDATION_OPERATIONS
  import Foundation
#else
  import Operations
#endif

// A program of today: `main` is asynchronous, and what says nothing else belongs to the main actor.

/// What the program did, in order.
final class Journal {
  private(set) var lines: [String] = []

  func add(_ line: String) { lines.append(line) }
}

/// A subclass as programs have them. Its members belong to no actor, as those of its superclass.
nonisolated final class Sum: Operation, @unchecked Sendable {
  // Sendable: written by `main()`, and read after the finish.
  private(set) var result = 0

  override func main() { result = (1...10).reduce(0, +) }
}

@main
struct App {
  static let journal = Journal()

  static func main() async {
    let queue = OperationQueue()
    await resumed { done in queue.addOperation { done() } }
    journal.add("an operation ran")

    let sum = Sum()
    await resumed { done in
      // A completion block runs when the operation has finished, and nothing behind the operation waits for it.
      sum.completionBlock = {
        OperationQueue.main.addOperation {
          MainActor.assumeIsolated { journal.add("the sum is \(sum.result)") }
          done()
        }
      }
      queue.addOperation(sum)
    }
    await resumed { done in
      queue.addBarrierBlock { OperationQueue.main.addOperation(done) }
    }

    await resumed { done in
      OperationQueue.main.addOperation {
        MainActor.assumeIsolated { journal.add("in the main queue: \(OperationQueue.current === OperationQueue.main)") }
        done()
      }
    }
    // The main thread was free meanwhile: what was added to the main queue has run between the steps of this function.
    let last = BlockOperation {
      MainActor.assumeIsolated { journal.add("the last operation of the main queue") }
    }
    OperationQueue.main.addOperation(last)
    while !last.isFinished { await Task.yield() }
    journal.add("a loop of yields lets the main queue run")
    for line in journal.lines { print(line) }
  }

  private static func resumed(_ begin: (@escaping @Sendable () -> Void) -> Void) async {
    await withCheckedContinuation { continuation in begin { continuation.resume() } }
  }
}
