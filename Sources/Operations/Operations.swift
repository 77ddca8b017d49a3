/// The module to import: operations, queues, and the three backends.
@_exported import DispatchBackend
@_exported import OperationCore
@_exported import StealingBackend
@_exported import ThreadPoolBackend

/// The backend of `OperationQueue()`.
private let defaultBackend = BackendBox(StealingBackend.shared)

/// Tells the core about the default backend at link time.
@c(operations_default_backend)
public func operationsDefaultBackend() -> UnsafeMutableRawPointer? {
  Unmanaged.passUnretained(defaultBackend).toOpaque()
}
