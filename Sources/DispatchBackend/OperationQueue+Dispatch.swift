import CPlatform
import Dispatch
import OperationCore

extension OperationQueue {
  /// The queue of the main thread: one operation at a time, on the main dispatch queue. The program has to run that, with
  /// `dispatchMain()` or a run loop.
  public static let main: OperationQueue = {
    let queue = OperationQueue(on: DispatchBackend(queue: .main))
    queue.name = "main"
    queue.maxConcurrentOperationCount = 1
    return queue
  }()

  /// The dispatch queue that runs the operations; nil unless one was set. Setting one puts the queue on a
  /// `DispatchBackend`; nil puts it back on the backend it had. Traps when the queue has operations.
  public final var underlyingQueue: DispatchQueue? {
    get { self === OperationQueue.main ? .main : attachment as? DispatchQueue }
    set {
      if let newValue {
        replaceBackend(DispatchBackend(queue: newValue))
      } else if attachment != nil {
        restoreBackend()
      }
      attachment = newValue
    }
  }
}

/// Tells the core about the main queue at link time, so that `OperationQueue.current` knows it.
@_documentation(visibility: internal)
@c(operations_main_queue)
public func operationsMainQueue() -> UnsafeMutableRawPointer? {
  Unmanaged.passUnretained(OperationQueue.main).toOpaque()
}
