import OperationBackends

/// Runs jobs on the thread that adds them.
final class ImmediateBackend: Backend {
  let name = "immediate"
  let workerCount = 1

  func submit(_ job: Job) {
    var next = Optional(job)
    while let job = next { next = job.run() }
  }
}
