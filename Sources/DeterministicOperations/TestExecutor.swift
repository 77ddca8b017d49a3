import OperationCore
import OperationJobs

/// Runs the parts of an asynchronous test's body, and of its child tasks, as strands of the backend. So nothing else
/// goes on while the body does, and the seed decides when the body goes on.
///
/// The runtime asks this executor for everything that is not bound to an actor with an executor of its own, such as the
/// main actor.
final class TestExecutor: TaskExecutor {
  private let driver: Driver

  init(_ driver: Driver) { self.driver = driver }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    driver.goOnWithTest(Job { job.runSynchronously(on: self.asUnownedTaskExecutor()) }, as: "the test")
  }
}
