import OperationCore
import OperationJobs

/// One job, or one block of a timer, from its beginning to its end. The job runs on one carrier, whatever it waits for.
final class Strand: @unchecked Sendable {
  // Sendable: constants, what is touched under the lock of the driver, and `sight`, which one thread touches.

  /// Counts the strands of a driver.
  let number: Int
  /// The virtual worker that runs the job; nil for a block of a timer and for a question to a subclass.
  let worker: Int?
  let job: Job
  /// Whether the job is a part of the body of an asynchronous test: no job of the backend's for what is called in it.
  let isOfTest: Bool
  /// Whether another virtual worker may have the worker's place.
  var gavePlace = false
  var carrier: Carrier?
  /// The strand blocked without the backend's knowledge: it lost the baton, and goes on beside all others.
  var isAdrift = false
  /// Only of a strand adrift: whether the strand computes, as far as the monitor knows. If not, it blocks.
  var computes = false
  /// Grows whenever the strand enters the backend or comes back from it.
  var visits = 0
  /// The monitor's alone.
  var sight = Sight()

  init(number: Int, worker: Int?, job: Job, isOfTest: Bool) {
    self.number = number
    self.worker = worker
    self.job = job
    self.isOfTest = isOfTest
  }
}
