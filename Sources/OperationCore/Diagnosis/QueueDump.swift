import OperationExecutors
import Primitives

/// The queues of a dump of the program.
///
/// Without OPERATIONS_DUMP in the environment no queue is remembered.
enum QueueDump {
  private struct WeakQueue: @unchecked Sendable {
    // Sendable: touched under `lock`.
    weak var queue: OperationQueue?
    /// Queues are shown in the order in which they were made.
    let number: Int
  }

  /// Touched under `lock`.
  nonisolated(unsafe) private static var queues: [ObjectIdentifier: WeakQueue] = [:]
  nonisolated(unsafe) private static var made = 0
  private static let lock = FutexLock()

  private static let isOn: Bool = {
    guard ProgramDump.isOn else { return false }
    ProgramDump.add(lines)
    return true
  }()

  /// Called from a queue's `init`. O(1).
  static func remember(_ queue: OperationQueue) {
    guard isOn else { return }
    lock.withLock {
      made += 1
      queues[ObjectIdentifier(queue)] = WeakQueue(queue: queue, number: made)
    }
  }

  /// Called from a queue's `deinit`, for every queue that was remembered. O(1).
  static func forget(_ queue: OperationQueue) {
    guard isOn else { return }
    // Nobody else has this address as long as the queue's memory is not free.
    lock.withLock { queues[ObjectIdentifier(queue)] = nil }
  }

  @Sendable private static func lines() -> [String] {
    // Under the lock references are taken, and none is given back: giving the last one back runs code of others.
    let alive = lock.withLock { queues.values.compactMap { entry in entry.queue.map { (entry.number, $0) } } }
    return [counted(alive.count, "queue")]
      + alive.sorted { $0.0 < $1.0 }.map { $1.diagnosis(withTasks: false).description }
  }
}
