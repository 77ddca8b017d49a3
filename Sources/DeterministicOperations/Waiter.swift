import OperationCore
import Primitives
import Synchronization

/// Where a real thread sleeps until it has its turn.
final class Seat: Sendable {
  let parker = Parker()
}

/// One job, or one block of a timer, from its beginning to its end. The job runs on one carrier, whatever it waits for.
final class Strand: @unchecked Sendable {
  // Sendable: constants, what is touched under the lock of the driver, and `sight`, which one thread touches.

  /// Counts the strands of a driver.
  let number: Int
  /// The virtual worker that runs the job; nil for a block of a timer and for a question to a subclass.
  let worker: Int?
  let job: Job
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

  init(number: Int, worker: Int?, job: Job) {
    self.number = number
    self.worker = worker
    self.job = job
  }
}

/// What a waiter waits for.
enum Condition {
  /// Nothing but its turn.
  case turn
  case holds(() -> Bool)
  /// A virtual time, in nanoseconds.
  case time(Int64)
  /// That nothing is left to happen up to a virtual time; nil: at all.
  case rest(upTo: Int64?)

  /// Whether the clock may go on by itself for a guest that waits for this.
  var allowsTime: Bool {
    switch self {
    case .turn, .rest(upTo: .some): false
    case .holds, .time, .rest(upTo: nil): true
    }
  }
}

/// One that waits for its turn: a strand, or a *guest*, which is a thread or a task of others.
final class Waiter: @unchecked Sendable {
  // Sendable: constants, an atomic, and fields that are touched under the lock of the driver.

  /// Becomes `turn` when the waiter is ready: the closure of a wait must be gone when the wait returns.
  private(set) var condition: Condition
  /// Called without locks when nothing can happen.
  var whenQuiet: (() -> Void)?
  let allowsTime: Bool
  let strand: Strand?
  /// The thread that waits; nil for a task.
  let seat: Seat?
  /// Lets a task go on; called without locks. True: the waiter was given up.
  let resume: (@Sendable (_ isCancelled: Bool) -> Void)?
  /// The timer of the pool that gives the turn; nil while there is none.
  var timer: Int?
  let hasTurn = Atomic<Bool>(false)

  init(
    _ condition: Condition, strand: Strand? = nil, seat: Seat? = nil,
    resume: (@Sendable (_ isCancelled: Bool) -> Void)? = nil
  ) {
    self.condition = condition
    allowsTime = condition.allowsTime
    self.strand = strand
    self.seat = seat
    self.resume = resume
  }

  func forgetCondition() {
    condition = .turn
    whenQuiet = nil
  }
}

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

/// A thread of others that uses the backend throughout the body of `withDeterministicOperations`.
final class HostThread: DrivenThread {
  private let backend: DeterministicBackend

  init(_ backend: DeterministicBackend) { self.backend = backend }

  var drivenBackend: (any DrivenBackend)? { backend }
}
