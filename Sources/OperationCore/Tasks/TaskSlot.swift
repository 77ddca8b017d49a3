import CPlatform

/// The job that a thread runs next when the job of a task ends that the thread runs now. `README.md` here says which jobs go
/// there.
///
/// A slot lies on the stack of the thread that runs the job. No other thread knows it.
struct TaskSlot {
  /// The backend whose job runs. Whoever runs the job keeps it alive.
  private unowned(unsafe) let backend: any Backend
  private var next: UInt = 0

  /// Runs a job of a task on this thread, with a slot.
  /// - Parameters:
  ///   - backend: the one that the job came from; nil gives no slot.
  ///   - body: runs the job, and gives the word of the job that the thread runs next, or 0.
  /// - Returns: the word of the job that the thread runs next, or 0.
  static func run(on backend: (any Backend)?, _ body: () -> UInt) -> UInt {
    guard let backend else { return body() }
    let outer = cplatform_task_slot()
    var slot = TaskSlot(backend: backend)
    let next = withUnsafeMutablePointer(to: &slot) { slot in
      cplatform_set_task_slot(slot)
      defer { cplatform_set_task_slot(outer) }
      return body()
    }
    if slot.next == 0 { return next }
    if next == 0 { return slot.next }
    // An operation that the job has released goes on here. Another thread may take the task.
    backend.submit(Job(word: slot.next))
    return next
  }

  /// Hands a job of a task over. The job goes into the slot of this thread when the task that ran here until now has been
  /// suspended or has ended, so that nothing but the end of the present job comes first.
  static func submit(_ job: Job, to backend: any Backend) {
    guard let slot = current, slot.pointee.backend === backend, withUnsafeCurrentTask(body: { $0 == nil }) else {
      return backend.submit(job)
    }
    let earlier = slot.pointee.next
    slot.pointee.next = job.word
    if earlier != 0 { backend.submit(Job(word: earlier)) }
  }

  /// The calling thread is about to block, or to run other jobs, inside of the present job: nothing may wait for it.
  static func close() {
    guard let slot = current else { return }
    cplatform_set_task_slot(nil)
    let next = slot.pointee.next
    slot.pointee.next = 0
    if next != 0 { slot.pointee.backend.submit(Job(word: next)) }
  }

  private static var current: UnsafeMutablePointer<TaskSlot>? {
    cplatform_task_slot()?.assumingMemoryBound(to: TaskSlot.self)
  }

  private init(backend: any Backend) { self.backend = backend }
}
