import CPlatform

/// The backend of `OperationQueue()`: the backend that the umbrella module linked in.
package enum DefaultBackend {
  package static let box: BackendBox = {
    guard let pointer = cplatform_default_backend() else {
      fatalError("Operations: no default backend is linked in; import Operations, or pass a backend to OperationQueue")
    }
    return Unmanaged<BackendBox>.fromOpaque(pointer).takeUnretainedValue()
  }()

  package static var backend: any Backend { box.backend }
}

/// A backend behind one word.
@usableFromInline
package final class BackendBox: Sendable {
  package let backend: any Backend

  /// `backend` itself, when the backend is one of this library's own; else nil.
  package let supervised: (any SupervisedBackend)?

  /// A number that all boxes of one backend share, different for any two backends alive at the same time; never 0.
  package let identity: UInt32
  /// The worker count, read from the backend once: the property is a user's, and the count is needed under a lock.
  package let workerCount: Int
  /// The backend's name, read once for the same reason: a diagnosis runs no code of a user's.
  package let name: String
  /// The backend as forks know it, if forks of its operations run there.
  package let forkHome: ForkHome?

  package init(_ backend: any Backend) {
    self.backend = backend
    supervised = backend as? any SupervisedBackend
    identity = BackendIdentities.shared.take(for: backend)
    workerCount = max(1, backend.workerCount)
    name = backend.name
    forkHome = supervised?.runsForks == true ? supervised?.forkHome : nil
  }

  deinit { BackendIdentities.shared.giveBack(for: ObjectIdentifier(backend)) }
}
