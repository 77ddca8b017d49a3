import CPlatform
import OperationJobs
import Primitives

/// The tasks that were handed to the library's executors. Kept while the variable OPERATIONS_DUMP is set, and else a
/// load and a branch for each job.
///
/// A task is known by its address and its number. Nothing keeps it alive: whoever looks asks the memory itself whether
/// the task is still there (`TaskMemory`). So an entry costs nothing at the task's end, which no hook tells.
package enum TaskWatch {
  struct Entry {
    let number: UInt64
    /// When the task was handed over first, by the monotonic clock in nanoseconds.
    let since: UInt64
    /// When it was last handed over, began to run, or stopped.
    var changed: UInt64
    /// The thread that runs a job of the task.
    var thread: Int32 = 0
    /// What the task awaits, where a call of the library's suspends it.
    var awaited: (@Sendable () -> String)?
  }

  /// By the task's address. Touched under `lock`.
  nonisolated(unsafe) private static var entries: [UInt: Entry] = [:]
  /// At how many entries those of ended tasks are taken out.
  nonisolated(unsafe) private static var room = least
  private static let least = 1024
  private static let lock = FutexLock()

  /// A job is handed over.
  @inline(__always)
  package static func note(_ job: UnownedJob?) {
    if cplatform_watches_tasks(), let job { write(RuntimeHooks.address(of: job)) }
  }

  /// A thread runs a job, in `body`.
  @inline(__always)
  package static func running<Result>(_ job: UnownedJob?, _ body: () -> Result) -> Result {
    // The task may be gone when the body returns.
    guard cplatform_watches_tasks(), let job, let known = begin(RuntimeHooks.address(of: job)) else { return body() }
    defer { end(known) }
    return body()
  }

  /// The calling task begins to await what `words` names. To be ended by `end`.
  package static func awaiting(_ words: @escaping @Sendable () -> String) -> UInt? {
    guard cplatform_watches_tasks(), let task = cplatform_current_task() else { return nil }
    write(task)
    let address = UInt(bitPattern: task)
    lock.withLock { entries[address]?.awaited = words }
    return address
  }

  package static func end(awaiting task: UInt?) {
    guard let task else { return }
    // The last reference to what was awaited goes without the lock.
    let old = lock.withLock { entries[task]?.awaited.take() }
    withExtendedLifetime(old) {}
  }

  private static func write(_ task: UnsafeMutableRawPointer) {
    guard cplatform_is_task(task) else { return }
    let (address, number, now) = (UInt(bitPattern: task), cplatform_task_number(task), cplatform_now_ns())
    lock.withLock {
      if entries[address]?.number == number {
        entries[address]?.changed = now
      } else {
        if entries.count >= room { forgetEnded() }
        entries[address] = Entry(number: number, since: now, changed: now)
      }
    }
  }

  /// Called with the lock.
  private static func forgetEnded() {
    entries = entries.filter { TaskMemory.isAlive($0.key, number: $0.value.number) }
    room = max(least, 2 * entries.count)
  }

  private static func begin(_ task: UnsafeMutableRawPointer) -> (address: UInt, number: UInt64)? {
    guard cplatform_is_task(task) else { return nil }
    write(task)
    let (address, thread) = (UInt(bitPattern: task), cplatform_thread_id())
    return lock.withLock {
      entries[address]?.thread = thread
      return entries[address].map { (address, $0.number) }
    }
  }

  private static func end(_ task: (address: UInt, number: UInt64)) {
    let (thread, now) = (cplatform_thread_id(), cplatform_now_ns())
    lock.withLock {
      // Another thread may run the task by now.
      guard let entry = entries[task.address], entry.number == task.number, entry.thread == thread else { return }
      entries[task.address]?.thread = 0
      entries[task.address]?.changed = now
    }
  }

  /// The tasks that have not ended, the oldest first.
  static func all() -> [(entry: Entry, memory: TaskMemory)] {
    let known = lock.withLock { entries }
    return known.compactMap { address, entry in TaskMemory(address, number: entry.number).map { (entry, $0) } }
      .sorted { $0.entry.number < $1.entry.number }
  }
}
