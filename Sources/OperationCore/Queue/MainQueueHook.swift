import CPlatform

/// The main queue, which another module provides (it runs on the main dispatch queue).
enum MainQueueHook {
  /// It, on the main thread; nil on others, and where no such module is linked in.
  static var currentOnMainThread: OperationQueue? {
    guard cplatform_is_main_thread(), let pointer = cplatform_main_queue() else { return nil }
    return Unmanaged<OperationQueue>.fromOpaque(pointer).takeUnretainedValue()
  }
}
