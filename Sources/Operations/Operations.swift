/// The module to import: operations, queues, and the three backends. The module exports Dispatch as well, as
/// Foundation does: `underlyingQueue` has a type of Dispatch's, and files written for Foundation use Dispatch without
/// importing it.
@_exported import Dispatch
@_exported import DispatchBackend
@_exported import OperationCore
@_exported import Scheduling
@_exported import StealingBackend
@_exported import ThreadPoolBackend

/// The backend of `OperationQueue()`.
private let defaultBackend = BackendBox(StealingBackend.shared)

/// Tells the core about the default backend at link time.
@_documentation(visibility: internal)
@c(operations_default_backend)
public func operationsDefaultBackend() -> UnsafeMutableRawPointer? {
  Unmanaged.passUnretained(defaultBackend).toOpaque()
}
