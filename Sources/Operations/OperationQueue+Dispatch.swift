import CPlatform
import Dispatch
import OperationCore

extension OperationQueue {
  /// The queue of the main thread: one operation at a time, on the main dispatch queue. The program has to run the
  /// main dispatch queue, with `dispatchMain()` or a run loop.
  ///
  /// Its limit, suspension, name, quality of service and underlying queue stay as they are: setting them changes
  /// nothing, as on Foundation.
  public static let main: OperationQueue = MainOperationQueue()

  /// The dispatch queue that runs the operations; nil unless one was set. Setting a dispatch queue puts the operation
  /// queue on a `DispatchBackend`. Setting nil puts the operation queue back on the backend it had. Traps when the
  /// operation queue has operations. Setting it on the main queue changes nothing.
  public final var underlyingQueue: DispatchQueue? {
    get { self is MainOperationQueue ? .main : attachment as? DispatchQueue }
    set {
      if self is MainOperationQueue { return }
      if let newValue {
        replaceBackend(DispatchBackend(queue: newValue))
      } else if attachment != nil {
        restoreBackend()
      }
      attachment = newValue
    }
  }
}

/// The main queue. Its settings are those of the main thread: a part of the program that
/// suspended the queue, or moved it elsewhere, would do so for every other part.
private final class MainOperationQueue: OperationQueue, @unchecked Sendable {
  override init() {
    super.init(backend: DispatchBackend(queue: .main))
    super.name = "main"
    super.maxConcurrentOperationCount = 1
  }

  override var maxConcurrentOperationCount: Int {
    get { super.maxConcurrentOperationCount }
    set {}
  }
  override var isSuspended: Bool {
    get { super.isSuspended }
    set {}
  }
  override var name: String? {
    get { super.name }
    set {}
  }
  /// For code that asks. The operations of the main queue have the order of their own priorities.
  override var qualityOfService: QualityOfService {
    get { .userInteractive }
    set {}
  }
}

/// Tells the core about the main queue at link time, so that `OperationQueue.current` knows the main queue.
@_documentation(visibility: internal)
@c(operations_main_queue)
public func operationsMainQueue() -> UnsafeMutableRawPointer? {
  Unmanaged.passUnretained(OperationQueue.main).toOpaque()
}
