import Glibc
import OperationBackends

/// The sample backend: written against the public protocol alone, as a user would write one. A thread for each job.
public final class ThreadPerJobBackend: Backend {
  public let name = "sample"
  public let workerCount = 4

  /// A job never waits for the thread of another job.
  public let replacesBlockedThreads = true

  public init() {}

  public func submit(_ job: Job) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 256 * 1024)
    let box = Unmanaged.passRetained(JobBox(job)).toOpaque()
    var thread = pthread_t()
    // The system may have no thread to give at the moment: another one is about to end.
    while pthread_create(&thread, &attributes, runJob, box) == EAGAIN { usleep(500) }
    pthread_attr_destroy(&attributes)
  }
}

private final class JobBox {
  let job: Job
  init(_ job: Job) { self.job = job }
}

private nonisolated func runJob(_ box: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  let job = Unmanaged<JobBox>.fromOpaque(box!).takeRetainedValue().job
  var next: Job? = job
  while let job = next { next = job.run() }
  return nil
}
