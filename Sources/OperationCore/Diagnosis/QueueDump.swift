import CPlatform
import OperationJobs
import Primitives

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// With OPERATIONS_DUMP set (to anything), the program writes a diagnosis of every queue to stderr when it gets
/// SIGUSR1.
///
/// Without the variable no queue is remembered and no signal is touched.
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

  /// Starts the thread that writes, once. False without the variable, or when the system refuses the thread.
  private static let isOn: Bool = {
    guard cplatform_dump_wanted() else { return false }
    return PlatformThread.start(name: "op-dump") {
      while true {
        cplatform_dump_wait()
        write()
      }
    }
  }()

  /// Called from a queue's `init`. O(1).
  static func remember(_ queue: OperationQueue) {
    guard cplatform_dump_wanted(), isOn else { return }
    lock.withLock {
      made += 1
      queues[ObjectIdentifier(queue)] = WeakQueue(queue: queue, number: made)
    }
  }

  /// Called from a queue's `deinit`, for every queue that was remembered. O(1).
  static func forget(_ queue: OperationQueue) {
    guard cplatform_dump_wanted(), isOn else { return }
    // Nobody else has this address as long as the queue's memory is not free.
    lock.withLock { queues[ObjectIdentifier(queue)] = nil }
  }

  private static func write() {
    // Under the lock references are taken, and none is given back: giving the last one back runs code of others.
    let alive = lock.withLock { queues.values.compactMap { entry in entry.queue.map { (entry.number, $0) } } }
    printError("\(alive.count) queues")
    for (_, queue) in alive.sorted(by: { $0.0 < $1.0 }) { printError(queue.diagnosis().description) }
  }
}
