/// What runs operations: a backend takes jobs from any thread and runs each job exactly once, on threads of its own.
///
/// Contract for an implementation:
/// * `submit` may be called from any thread, also from inside a job, and must not run the job before it returns.
/// * Each job's `run()` is called exactly once. What `run()` returns is the next job of this thread: run it, or
///   submit it.
/// * Queues without a limit rely for their order on two things: higher `priority` first, and first in, first out
///   within a priority. A backend that orders otherwise works, but its queues keep the order of priorities less well.
/// * A reference to the backend keeps it running; a queue holds its backend as long as the queue has operations.
///
/// The smallest complete backend starts a thread per job:
/// ```swift
/// final class ThreadPerJob: Backend {
///   let name = "thread-per-job"
///   let workerCount = 1
///   func submit(_ job: Job) {
///     startThread { var next: Job? = job; while let job = next { next = job.run() } }
///   }
/// }
/// ```
public protocol Backend: AnyObject, Sendable {
  /// Short and lower case; appears in descriptions and in benchmark results.
  var name: String { get }
  /// How many jobs run at the same time when none of them blocks.
  var workerCount: Int { get }
  /// Takes responsibility for the job. May be called on any thread.
  func submit(_ job: Job)
  /// Takes responsibility for all of the jobs, in their order. The default submits them one by one.
  func submit(contentsOf jobs: consuming JobList)
  /// Runs `body`, a body that is about to block the calling thread. The calling thread runs one of this backend's
  /// jobs. A backend with a fixed number of threads lets another thread take the calling thread's place meanwhile;
  /// the default only calls `body`.
  func whileBlocked(_ body: () -> Void)
  /// Whether another thread takes the place of a thread that is in `whileBlocked`. An operation that waits for another
  /// one then sleeps. Where nobody would take the place, the waiting thread itself runs the awaited operation, or an
  /// operation on which the awaited one depends. That operation then sees all that belongs to the waiting thread:
  /// thread-local and task-local values, recursive locks, the thread's priority and name, and the used part of the
  /// stack. The default is false. The answer may change: a pool that can have no further thread says false.
  var replacesBlockedThreads: Bool { get }
}

extension Backend {
  public func submit(contentsOf jobs: consuming JobList) {
    while let job = jobs.popFirst() { submit(job) }
  }

  public func whileBlocked(_ body: () -> Void) { body() }

  public var replacesBlockedThreads: Bool { false }
}
