// The thread sanitizer does not see the lock in the standard library's `Mutex`, and would report each use of one. A
// build for the sanitizer has this type in its place: the module's own name goes first.
#if SANITIZE_THREAD
  import Glibc

  struct Mutex<Value>: ~Copyable, @unchecked Sendable {
    // Sendable: the pointers never change, and the value is touched under the lock alone.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    init(_ initial: consuming sending Value) {
      pthread_mutex_init(lock, nil)
      value.initialize(to: initial)
    }

    deinit {
      value.deinitialize(count: 1)
      value.deallocate()
      pthread_mutex_destroy(lock)
      lock.deallocate()
    }

    borrowing func withLock<Result: ~Copyable, Failure: Error>(
      _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
      pthread_mutex_lock(lock)
      defer { pthread_mutex_unlock(lock) }
      return try body(&value.pointee)
    }
  }
#endif
