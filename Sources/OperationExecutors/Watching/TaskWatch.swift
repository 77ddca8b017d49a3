import CPlatform
import OperationJobs
import Primitives

/// The tasks that were handed to the library's executors. Kept with OPERATIONS_DUMP in the environment, and while a
/// seeded test is under way; else this costs two loads and branches for each job.
///
/// A task is known by its address and its number. No reference keeps the task alive, and no hook tells its end: a look
/// reads the task's memory, and so finds out whether the task is still there (`TaskMemory`).
package enum TaskWatch {
  struct Entry {
    let number: UInt64
    /// When the task was handed over first, by the monotonic clock in nanoseconds.
    let since: UInt64
    /// When the task was last handed over, began to run, stopped, or ended to await an operation.
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
    TaskProbe.ready(job)
    if cplatform_watches_tasks(), let job { write(RuntimeHooks.address(of: job)) }
  }

  /// A thread runs a job, in `body`.
  @inline(__always)
  package static func running(_ job: UnownedJob?, _ body: () -> Void) {
    TaskProbe.running(job) { watch(job, body) }
  }

  @inline(__always)
  private static func watch(_ job: UnownedJob?, _ body: () -> Void) {
    guard cplatform_watches_tasks(), let job else { return body() }
    // The task may be gone when the body returns.
    let known = write(RuntimeHooks.address(of: job), thread: cplatform_thread_id())
    body()
    if let known { end(known) }
  }

  /// The calling task begins to await what `words` names. To be ended by `end`.
  package static func awaiting(_ words: @escaping @Sendable () -> String) -> UInt? {
    guard let task = cplatform_current_task(), let known = write(task) else { return nil }
    lock.withLock { entries[known.address]?.awaited = words }
    return known.address
  }

  package static func end(awaiting task: UInt?) {
    guard let task else { return }
    let now = cplatform_now_ns()
    // The last reference to what was awaited goes without the lock.
    let old = lock.withLock {
      entries[task]?.changed = now
      return entries[task]?.awaited.take()
    }
    withExtendedLifetime(old) {}
  }

  /// - Parameter thread: the thread that begins to run the task; nil for a task that is only handed over.
  /// - Returns: nil where the job is no task.
  @discardableResult
  private static func write(_ task: UnsafeMutableRawPointer, thread: Int32? = nil) -> (address: UInt, number: UInt64)? {
    // In a forked child somebody may have the lock for ever.
    guard !cplatform_is_forked_child(), cplatform_is_task(task) else { return nil }
    let (address, number, now) = (UInt(bitPattern: task), cplatform_task_number(task), cplatform_now_ns())
    let isFull = lock.withLock {
      var entry = Entry(number: number, since: now, changed: now)
      if let old = entries[address], old.number == number { (entry, entry.changed) = (old, now) }
      if let thread { entry.thread = thread }
      entries[address] = entry
      guard entries.count >= room else { return false }
      // One thread looks for those that have ended.
      room = .max
      return true
    }
    if isFull { forgetEnded() }
    return (address, number)
  }

  private static func forgetEnded() {
    let known = lock.withLock { entries.mapValues(\.number) }
    let ended = known.filter { !TaskMemory.isAlive($0.key, number: $0.value) }
    lock.withLock {
      for (address, number) in ended where entries[address]?.number == number { entries[address] = nil }
      room = max(least, 2 * entries.count)
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

  /// A task that has not ended.
  struct Sight {
    let entry: Entry
    let memory: TaskMemory
    /// The operation that the task awaits, and where that one is.
    let awaited: String?
  }

  /// The tasks that have not ended, the oldest first; those at `addresses` alone, if there are some.
  static func all(at addresses: Set<UInt>? = nil) -> [Sight] {
    if cplatform_is_forked_child() { return [] }
    let known = lock.withLock { entries }
    return known.compactMap { address, entry in
      guard addresses?.contains(address) ?? true else { return nil }
      return TaskMemory(address, number: entry.number).map {
        Sight(entry: entry, memory: $0, awaited: entry.awaited?())
      }
    }
    .sorted { $0.entry.number < $1.entry.number }
  }
}
