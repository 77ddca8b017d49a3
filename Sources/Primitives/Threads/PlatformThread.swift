import CPlatform

/// Starts threads: detached, named, with the main thread's CPUs and priority. All signals are blocked except those of
/// the thread's own faults, SIGPROF and SIGPIPE.
package enum PlatformThread {
  /// Eight megabytes of address space, the usual size of a main thread's stack. Memory is used as it is touched.
  package static let stackBytes = 8 << 20

  /// - Returns: false when the system has no thread to give.
  package static func start(name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
    let context = Unmanaged.passRetained(StartContext(name: name, body: body))
    if cplatform_thread_start(threadEntry, context.toOpaque(), stackBytes) == 0 { return true }
    context.release()
    return false
  }
}

private final class StartContext: Sendable {
  let name: String
  let body: @Sendable () -> Void
  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

/// A top-level function, not a closure: a closure literal could inherit an actor's isolation from its place.
private func threadEntry(_ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  let start = Unmanaged<StartContext>.fromOpaque(context).takeRetainedValue()
  start.name.withCString { cplatform_thread_set_name($0) }
  start.body()
}
