import CPlatform
import Scheduling
import Synchronization

/// What the threads of a backend belong to, as forks use it. `README.md` says when what is called.
package protocol ForkHost: AnyObject, Sendable {
  /// Which host it is, also of a reference to it.
  var identity: ObjectIdentifier { get }
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

extension ForkHost {
  package var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

/// A host that somebody else holds. A call counts no reference of the host: threads that count would take turns at a
/// cache line with each fork.
private final class ForkHostReference<Host: ForkHost>: ForkHost, @unchecked Sendable {
  // Sendable: nothing changes.

  private let host: Unmanaged<Host>
  let identity: ObjectIdentifier

  init(to host: Host) {
    self.host = .passUnretained(host)
    identity = ObjectIdentifier(host)
  }

  func beginForks() -> Bool { host._withUnsafeGuaranteedRef { $0.beginForks() } }
  func countGuest(_ change: Int) { host._withUnsafeGuaranteedRef { $0.countGuest(change) } }
  var idlePlaces: Int { host._withUnsafeGuaranteedRef { $0.idlePlaces } }
  func show(_ ticket: Job, wakes: Bool) -> Bool {
    host._withUnsafeGuaranteedRef { $0.show(ticket, wakes: wakes) }
  }
  func wakeForForks() { host._withUnsafeGuaranteedRef { $0.wakeForForks() } }
}

private func reference<Host: ForkHost>(to host: Host) -> any ForkHost { ForkHostReference(to: host) }

/// A backend as this library knows it. A backend of this library has one home for its whole life; of a user's backend
/// each queue, executor and scope makes one.
package final class BackendHome: @unchecked Sendable {
  // Sendable: everything is written before the home is handed out, or atomic.

  /// Who has the home holds the backend, too: a queue, an executor, or the caller of `Backend.run`. So no references
  /// are counted here.
  package unowned(unsafe) let backend: any Backend
  /// What the backend's threads belong to, which the backend holds; nil when the backend is not one of this library's.
  package let host: (any ForkHost)?
  /// What operations, launch frames and tickets remember of the backend, in four bytes: the number is the same in all
  /// homes of the backend, and different for any two backends of which there are homes; never 0.
  package let number: UInt32
  /// The worker count, read from the backend once, at least 1: the property may be a user's, and the count is needed
  /// under locks.
  package let workerCount: Int
  /// When forks become visible.
  package let visibility: StealingStrategy.Forks
  /// For tests: each fork for which a slot is free is shown.
  package let showsAllForks = Atomic<Bool>(false)
  /// Tasks of the whole process run on the backend.
  package let isDefaultExecutor = Atomic<Bool>(false)
  private let object: ObjectIdentifier
  /// The backend is one of this library's. Its number does not come again: lists of forks may outlive the backend, and
  /// another backend may be at its address by then.
  private let isOnlyHome: Bool

  /// - Parameter host: what the backend's threads belong to. They name the same object to `Forks.uncover`.
  package init(_ backend: any Backend, host: (any ForkHost)? = nil, visibility: StealingStrategy.Forks = .idle) {
    object = ObjectIdentifier(backend)
    self.backend = backend
    self.host = host.map { reference(to: $0) }
    self.visibility = visibility
    workerCount = max(1, backend.workerCount)
    isOnlyHome = host != nil
    number = isOnlyHome ? BackendNumbers.shared.take() : BackendNumbers.shared.take(for: object)
  }

  // The backend may be gone already: reading `backend` would count a reference.
  deinit { if !isOnlyHome { BackendNumbers.shared.giveBack(for: object) } }

  /// The home of a backend of this library, or a new one.
  package static func of(_ backend: any Backend) -> BackendHome {
    (backend as? any SupervisedBackend)?.home ?? BackendHome(backend)
  }

  /// The backend, when it decides which of its threads goes on.
  package var driven: (any DrivenBackend)? { DrivenBackends.exist ? backend as? any DrivenBackend : nil }

  /// Traps where the process needs the backend until it ends.
  package func checkShutdown(isShared: Bool) {
    if isShared { fatalError("Operations: the shared pool cannot be shut down") }
    if isDefaultExecutor.load(ordering: .relaxed) {
      fatalError("Operations: \(backend.name) cannot be shut down: it is the default executor of the process")
    }
  }

  package func isOf(_ other: any Backend) -> Bool { object == ObjectIdentifier(other) }

  /// How many threads more could run a fork now.
  package var idlePlaces: Int {
    if showsAllForks.load(ordering: .relaxed) { return Int(cplatform_fork_slots) }
    return host?.idlePlaces ?? workerCount - 1
  }

  /// Shows the ticket of a fork.
  /// - Returns: false when the backend takes no jobs from outside any more.
  package func show(_ ticket: Job, wakes: Bool) -> Bool {
    if let host { return host.show(ticket, wakes: wakes) }
    backend.submit(ticket)
    return true
  }
}
