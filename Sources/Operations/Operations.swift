/// The module to import: operations, queues, and the three backends; and Dispatch, as Foundation does: `underlyingQueue` is of
/// its types, and files written for Foundation use it without importing it.
@_exported import Dispatch
@_exported import DispatchBackend
@_exported import OperationCore
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
