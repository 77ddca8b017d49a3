import OperationCore
import OperationJobs
import StealingBackend

/// The backend of `OperationQueue()`.
private let defaultBackend = BackendBox(StealingBackend.shared)

/// Tells the core about the default backend at link time.
@_documentation(visibility: internal)
@c(operations_default_backend)
public func operationsDefaultBackend() -> UnsafeMutableRawPointer? {
  Unmanaged.passUnretained(defaultBackend).toOpaque()
}
