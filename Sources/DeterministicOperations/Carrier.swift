import OperationCore
import OperationJobs
import Primitives

/// A real thread of the backend.
final class Carrier: PoolMember, DrivenThread, @unchecked Sendable {
  // Sendable: constants, and fields that are touched under the lock of the driver.

  let driver: Driver
  let seat = Seat()
  let watched = WatchedThread()
  /// What the carrier does when it is woken.
  var order: Order?
  /// The strand on the carrier's stack.
  var strand: Strand?

  enum Order {
    /// The carrier has the baton, and chooses the next steps.
    case drive
    /// The carrier begins a strand, which has the baton.
    case begin(Strand)
    case end
  }

  init(_ driver: Driver) { self.driver = driver }

  var drivenBackend: (any DrivenBackend)? { driver.backend }
}
