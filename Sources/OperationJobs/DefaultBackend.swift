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

  package let home: BackendHome
  /// The home of the backend, if forks of its operations run there.
  package let forkHome: BackendHome?
  /// The backend's name, read once, since the property is a user's: a diagnosis runs no code of a user's.
  package let name: String

  package init(_ backend: any Backend) {
    self.backend = backend
    supervised = backend as? any SupervisedBackend
    home = supervised?.home ?? BackendHome(backend)
    forkHome = supervised?.runsForks == true ? home : nil
    name = backend.name
  }
}
