import CPlatform
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
  }

  /// Touched under `lock`.
  nonisolated(unsafe) private static var queues: [WeakQueue] = []
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

  /// Called from a queue's `init`.
  static func remember(_ queue: OperationQueue) {
    guard cplatform_dump_wanted(), isOn else { return }
    lock.withLock {
      queues.removeAll { $0.queue == nil }
      queues.append(WeakQueue(queue: queue))
    }
  }

  private static func write() {
    // The references are given back outside of the lock, because giving the last one back runs code of others.
    let alive = lock.withLock { queues.compactMap(\.queue) }
    printError("\(alive.count) queues")
    for queue in alive { printError(queue.diagnosis().description) }
  }
}
