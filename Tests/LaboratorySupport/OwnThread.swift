import Glibc

/// Runs a body on a thread of its own. Tests run on the threads of Swift's concurrency, which one of the subjects works
/// on: a body that blocks until that subject is done must not hold one of them.
package func onOwnThread(_ body: @escaping @Sendable () throws -> Void) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    let box = Unmanaged.passRetained(ThreadStart { continuation.resume(with: Result { try body() }) }).toOpaque()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    var thread = pthread_t()
    let status = pthread_create(
      &thread, &attributes,
      {
        Unmanaged<ThreadStart>.fromOpaque($0!).takeRetainedValue().body()
        return nil
      }, box)
    precondition(status == 0, "no thread can be created")
    pthread_attr_destroy(&attributes)
  }
}

private final class ThreadStart: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
