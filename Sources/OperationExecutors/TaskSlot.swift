import CPlatform
import OperationJobs

/// The job that a thread runs next when the job of a task ends that the thread runs now. `README.md` here says which
/// jobs go there.
///
/// A slot lies on the stack of the thread that runs the job. No other thread knows it.
@usableFromInline
package struct TaskSlot {
  /// The one that runs the present job, and is kept alive by it.
  @usableFromInline unowned(unsafe) let runner: any TaskJobRunner
  /// The number of the backend that the present job came from.
  @usableFromInline let home: UInt32
  @usableFromInline var next: UInt

  /// Runs a job of Swift's runtime on this thread, with a slot. Nothing else may be in `body`: code behind the task's
  /// end would come before the slot's job.
  /// - Parameter runner: from whose backend the job came.
  /// - Returns: the word of the job that the thread runs next, or 0.
  @inlinable @inline(__always)
  package static func run(for runner: any TaskJobRunner, _ body: () -> Void) -> UInt {
    let outer = cplatform_task_slot()
    var slot = TaskSlot(runner: runner, home: runner.homeNumber)
    withUnsafeMutablePointer(to: &slot) { slot in
      cplatform_set_task_slot(slot)
      body()
      cplatform_set_task_slot(outer)
    }
    return slot.next
  }

  /// Runs a job of Swift's runtime inside of code that goes on afterwards: what is handed over goes to the backend.
  @inlinable
  package static func without(_ body: () -> Void) {
    let outer = cplatform_task_slot()
    cplatform_set_task_slot(nil)
    body()
    cplatform_set_task_slot(outer)
  }

  /// Takes a job of a task that is handed over, when the task that ran here until now has been suspended or has ended,
  /// so that nothing but the end of the present job comes first.
  /// - Parameter home: the backend that the job is for.
  /// - Returns: false when the job must go to the backend.
  @inlinable @inline(__always)
  package static func take(_ job: Job, home: UInt32) -> Bool {
    guard let slot = current, slot.pointee.home == home, !cplatform_runs_task() else { return false }
    let earlier = slot.pointee.next
    slot.pointee.next = job.word
    if earlier != 0 { slot.pointee.runner.submit(Job(word: earlier)) }
    return true
  }

  /// The calling thread is about to block, or to run other jobs, inside of the present job: nothing may wait for it.
  package static func close() {
    guard let slot = current else { return }
    cplatform_set_task_slot(nil)
    let next = slot.pointee.next
    slot.pointee.next = 0
    if next != 0 { slot.pointee.runner.submit(Job(word: next)) }
  }

  @inlinable @inline(__always)
  static var current: UnsafeMutablePointer<TaskSlot>? {
    cplatform_task_slot()?.assumingMemoryBound(to: TaskSlot.self)
  }

  @inlinable @inline(__always)
  init(runner: any TaskJobRunner, home: UInt32) {
    self.runner = runner
    self.home = home
    next = 0
  }
}

extension TaskJobRunner {
  /// Hands a job over, to this thread or to the backend.
  @inlinable @inline(__always)
  package func handOver(_ job: Job) {
    if !TaskSlot.take(job, home: homeNumber) { submit(job) }
  }
}
