import Primitives

/// The queues to which the attempts of a retry have added operations with asynchronous bodies, and whether
/// `cancelAllOperations` was called there since.
///
/// An attempt adds its operation anew each time. So between two attempts, and at the beginning of one, a queue knows
/// nothing of the retry that it should cancel. `cancelAllOperations` first counts itself, and then takes its list. An
/// operation first takes its number, and then reads the count. So an operation that is not on the list sees the call
/// here.
package final class RetryScope: @unchecked Sendable {
  // Sendable: touched under the lock.

  /// That of the attempt which the calling task makes. The body of an operation is another's: it has none.
  @TaskLocal package static var current: RetryScope?

  private struct Seen {
    let queue: OperationQueue
    /// The queue's count when the first operation was added. Calls of the attempt itself are added.
    var calls: Int
  }

  private let lock = FutexLock()
  private var seen: [Seen] = []

  package init() {}

  /// Whether a queue of the attempts was cancelled by somebody else than the attempts.
  package var isCancelled: Bool {
    lock.withLock { seen.contains { $0.calls != $0.queue.registry.cancelCalls } }
  }

  /// A cancellation was not final: what comes from now on counts.
  package func forgive() {
    let old = lock.withLock {
      defer { seen = [] }
      return seen
    }
    withExtendedLifetime(old) {}
  }

  /// A queue lists an operation, and has given it a number.
  /// - Parameter makeTask: makes the body's task.
  static func list(_ operation: Operation, in queue: OperationQueue, _ makeTask: () -> Void) {
    guard let scope = current else { return makeTask() }
    if scope.wasCancelled(queue) { operation.flagCancelled() }
    $current.withValue(nil, operation: makeTask)
  }

  private func wasCancelled(_ queue: OperationQueue) -> Bool {
    let calls = queue.registry.cancelCalls
    return lock.withLock {
      if let known = seen.first(where: { $0.queue === queue }) { return known.calls != calls }
      seen.append(Seen(queue: queue, calls: calls))
      return false
    }
  }

  /// `cancelAllOperations` was called in the attempt itself.
  func cancels(_ queue: OperationQueue) {
    lock.withLock {
      if let place = seen.firstIndex(where: { $0.queue === queue }) { seen[place].calls += 1 }
    }
  }
}
