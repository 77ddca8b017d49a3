import CPlatform

/// The main queue. Another module provides the main queue, which runs on the main dispatch queue.
enum MainQueueHook {
  /// The main queue, on the main thread; nil on other threads, and where no such module is linked in.
  static var currentOnMainThread: OperationQueue? {
    guard cplatform_is_main_thread(), let pointer = cplatform_main_queue() else { return nil }
    return Unmanaged<OperationQueue>.fromOpaque(pointer).takeUnretainedValue()
  }
}
