import CPlatform
@_spi(Jobs) import OperationJobs
import Primitives

/// What runs jobs of Swift's runtime that came out of a backend.
@usableFromInline
package protocol TaskJobRunner: AnyObject, Sendable {
  /// The number of the backend that the jobs come out of; 0 while there is none.
  var homeNumber: UInt32 { get }
  /// Hands a job to that backend.
  func submit(_ job: Job)

  /// Runs the job on the calling thread.
  /// - Parameter job: nil for the turn of a serial executor.
  /// - Returns: the word of the job that the thread runs next, or 0.
  func run(_ job: UnownedJob?) -> UInt
}

/// A job of Swift's runtime as a job of a backend. Its memory is used again, so handing a task over allocates nothing.
package final class TaskJob: JobObject {
  private var job: UnownedJob?
  private var runner: (any TaskJobRunner)?
  /// Runs jobs until this one has run, as for a thread that waits: nobody tells the backend who awaits the task.
  private var host: (any DrivenBackend)?
  /// In the depot: the link to the next magazine.
  private var magazine: UInt = 0

  private override init() {}

  /// - Parameters:
  ///   - job: nil for a turn. The backend that gets the result runs the job, once.
  ///   - host: for a job of a task outside of all operations, on a backend that decides which of its threads goes on.
  ///   - runner: held until the job runs. The runtime may have let the runner go by then.
  package static func make(_ job: UnownedJob?, level: Int, runner: any TaskJobRunner, host: (any DrivenBackend)? = nil)
    -> Job
  {
    let object: Unmanaged<TaskJob>
    if let spare = UnsafeRawPointer(bitPattern: Spares<SpareTaskJobs>.take()) {
      object = .fromOpaque(spare)
    } else {
      object = .passRetained(TaskJob())
    }
    object._withUnsafeGuaranteedRef {
      $0.setLevel(level)
      $0.link.store(0, ordering: .relaxed)
      $0.job = job
      $0.runner = runner
      $0.host = host
    }
    host?.expectTaskJob()
    TaskWatch.note(job)
    return Job(word: UInt(bitPattern: object.toOpaque()))
  }

  static func magazine(of word: UInt) -> UInt { of(word)._withUnsafeGuaranteedRef { $0.magazine } }
  static func setMagazine(of word: UInt, to next: UInt) { of(word)._withUnsafeGuaranteedRef { $0.magazine = next } }
  private static func of(_ word: UInt) -> Unmanaged<TaskJob> {
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
  }

  override package var stepLabel: String { "task" }

  override package func runJob() -> JobOutcome {
    OwedReferences.settle()
    guard let runner = runner.take() else { fatalError("Operations: a job of a task was run twice") }
    let (job, host) = (job.take(), host.take())
    // The memory goes back first: what the job hands over may take it.
    let isKept = Spares<SpareTaskJobs>.keep(UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()))
    var next: UInt = 0
    TaskWatch.running(job) { next = runner.run(job) }
    host?.endTaskWait()
    return JobOutcome(next: next, isReleased: !isKept)
  }
}

/// The memory of `TaskJob`s that have run.
enum SpareTaskJobs: SpareKind {
  static let depot = SpareDepot()

  @inline(__always)
  static func local(_ words: UnsafeMutablePointer<cplatform_thread_words>) -> UnsafeMutablePointer<cplatform_magazines>
  {
    cplatform_spare_task_jobs(words)
  }

  static func next(of word: UInt) -> UInt { JobNode.next(of: word) }
  static func setNext(of word: UInt, to next: UInt) { JobNode.setNext(of: word, to: next) }

  static func nextMagazine(of word: UInt) -> UInt { TaskJob.magazine(of: word) }
  static func setNextMagazine(of word: UInt, to next: UInt) { TaskJob.setMagazine(of: word, to: next) }

  static func free(_ word: UInt) { JobObject.object(word).release() }
}

/// Called by C when a thread ends.
@_documentation(visibility: internal)
@c(operations_free_task_spares)
public func operationsFreeTaskSpares(_ words: UnsafeMutablePointer<cplatform_thread_words>) {
  Spares<SpareTaskJobs>.freeOwn(words)
}
