import CPlatform
import Dispatch
import OperationCore

extension OperationQueue {
  /// The queue of the main thread: one operation at a time, on the main dispatch queue. The program has to run the
  /// main dispatch queue, with `dispatchMain()` or a run loop.
  public static let main: OperationQueue = {
    let queue = OperationQueue(on: DispatchBackend(queue: .main))
    queue.name = "main"
    queue.maxConcurrentOperationCount = 1
    return queue
  }()

  /// The dispatch queue that runs the operations; nil unless one was set. Setting a dispatch queue puts the operation
  /// queue on a `DispatchBackend`. Setting nil puts the operation queue back on the backend it had. Traps when the
  /// operation queue has operations.
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

/// Tells the core about the main queue at link time, so that `OperationQueue.current` knows the main queue.
@_documentation(visibility: internal)
@c(operations_main_queue)
public func operationsMainQueue() -> UnsafeMutableRawPointer? {
  Unmanaged.passUnretained(OperationQueue.main).toOpaque()
}
