import CPlatform
import Scheduling
import Synchronization

/// What the threads of a backend belong to, as forks use it. `README.md` says when what is called.
package protocol ForkHost: AnyObject, Sendable {
  /// An outermost join begins on the calling thread. Traps when the backend has been shut down, and in a forked child.
  /// - Returns: whether the thread is a guest: none of the backend's. A guest counts as a thread that runs.
  func beginForks() -> Bool
  /// Counts one guest more, or one less.
  func countGuest(_ change: Int)
  /// How many threads more could run jobs at this instant.
  var idlePlaces: Int { get }
  /// Takes the ticket of a fork, as `submit` takes a job.
  /// - Parameter wakes: whether a sleeping thread is woken at once. If not, the monitor looks soon.
  /// - Returns: false when the backend takes no jobs from outside any more: the ticket was not taken.
  func show(_ ticket: Job, wakes: Bool) -> Bool
  /// Wakes a thread for a ticket that was shown without waking any.
  func wakeForForks()
}

/// A backend as forks know it. A backend of this library has one for its whole life; a scope on another backend makes
/// one.
@usableFromInline
package final class ForkHome: @unchecked Sendable {
  // Sendable: everything is written before the home is handed out.

  /// The queue of the operation holds the backend until the scope has ended, or else the caller of `Backend.run` does.
  /// So no references are counted here.
  package unowned(unsafe) let backend: any Backend
  /// What the backend's threads belong to, which the backend holds; nil when the backend is not one of this library's.
  package unowned(unsafe) let host: (any ForkHost)?
  private let object: ObjectIdentifier
  /// Who has a ticket that was given to the backend. A backend of this library has an odd number that does not come
  /// again: its lists may outlive the backend, and another backend may be at its address by then. A user's backend has
  /// its address: it runs each job that it was given, whenever that is.
  package let holder: UInt
  /// The number by which operations remember the backend; 0 when it is not one of this library's.
  package let identity: UInt32
  /// The worker count, read from the backend once, at least 1: the property may be a user's.
  package let workerCount: Int
  /// When forks become visible.
  package let visibility: StealingStrategy.Forks

  private static let lastHolder = Atomic<UInt>(1)

  /// - Parameter host: what the backend's threads belong to. They name the same object to `Forks.uncover`.
  package init(_ backend: any SupervisedBackend, host: any ForkHost, visibility: StealingStrategy.Forks = .idle) {
    object = ObjectIdentifier(backend)
    self.backend = backend
    self.host = host
    self.visibility = visibility
    workerCount = max(1, backend.workerCount)
    holder = Self.lastHolder.wrappingAdd(2, ordering: .relaxed).newValue
    identity = BackendIdentities.shared.take(for: backend)
  }

  /// Makes a home for a scope on a backend that is not one of this library's.
  package init(_ backend: any Backend) {
    object = ObjectIdentifier(backend)
    self.backend = backend
    host = nil
    visibility = .idle
    workerCount = max(1, backend.workerCount)
    holder = UInt(bitPattern: Unmanaged.passUnretained(backend as AnyObject).toOpaque())
    identity = 0
  }

  // The backend may be gone already: reading `backend` would count a reference.
  deinit { if identity != 0 { BackendIdentities.shared.giveBack(for: object) } }

  /// The backend, when it decides which of its threads goes on.
  package var driven: (any DrivenBackend)? { DrivenBackends.exist ? backend as? any DrivenBackend : nil }

  package func isOf(_ other: any Backend) -> Bool { object == ObjectIdentifier(other) }

  /// How many threads more could run a fork now.
  package var idlePlaces: Int {
    if ForkVisibility.isForced { return Int(cplatform_fork_slots) }
    return host?.idlePlaces ?? workerCount - 1
  }

  /// - Returns: false when the backend takes no jobs from outside any more.
  package func show(_ ticket: Job, wakes: Bool) -> Bool {
    if let host { return host.show(ticket, wakes: wakes) }
    backend.submit(ticket)
    return true
  }
}

/// For tests: each fork for which a slot is free is shown.
package enum ForkVisibility {
  private static let flag = Atomic<Bool>(false)

  package static var isForced: Bool {
    get { flag.load(ordering: .relaxed) }
    set { flag.store(newValue, ordering: .relaxed) }
  }
}
