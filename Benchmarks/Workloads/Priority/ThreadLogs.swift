import Glibc
import Synchronization

/// A log per thread, so that writing an entry takes no lock and shares no cache line. The logs are merged when no
/// thread writes any more.
///
/// A thread finds its log through a thread-specific key and creates the log on first use, the only moment that takes a
/// lock. A log has room for all operations of the benchmark, so the log never grows while being timed.
final class ThreadLogs<Entry: Sendable>: @unchecked Sendable {
  // Each buffer is written by its own thread alone. `merge` is called after the subject has been drained.
  private final class Log: @unchecked Sendable {
    let entries: UnsafeMutablePointer<Entry>
    var count = 0

    init(capacity: Int) { entries = .allocate(capacity: capacity) }

    deinit {
      entries.deinitialize(count: count)
      entries.deallocate()
    }
  }

  private let capacity: Int
  private let logs = Mutex<[Log]>([])
  private var key = pthread_key_t()

  init(capacity: Int) {
    self.capacity = capacity
    let status = pthread_key_create(&key, nil)
    precondition(status == 0, "no thread-specific key: error \(status)")
  }

  deinit { pthread_key_delete(key) }

  func append(_ entry: Entry) {
    let log = ownLog()
    precondition(log.count < capacity, "a thread logged more than \(capacity) entries")
    (log.entries + log.count).initialize(to: entry)
    log.count += 1
  }

  /// All entries, in no particular order. The logs are empty afterwards.
  func merge() -> [Entry] {
    logs.withLock { logs in
      var merged: [Entry] = []
      for log in logs {
        merged += UnsafeBufferPointer(start: log.entries, count: log.count)
        log.entries.deinitialize(count: log.count)
        log.count = 0
      }
      return merged
    }
  }

  private func ownLog() -> Log {
    if let known = pthread_getspecific(key) { return Unmanaged<Log>.fromOpaque(known).takeUnretainedValue() }
    let log = Log(capacity: capacity)
    logs.withLock { $0.append(log) }
    pthread_setspecific(key, Unmanaged.passUnretained(log).toOpaque())
    return log
  }
}
