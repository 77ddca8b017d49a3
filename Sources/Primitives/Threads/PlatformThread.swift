import CPlatform

/// Starting a thread: detached, named, all signals blocked but those of its own faults.
package enum PlatformThread {
  /// Eight megabytes of address space, the usual main-thread size; memory is used as it is touched.
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

/// A top-level function, not a closure: a closure literal could inherit an actor's isolation from where it stands.
private func threadEntry(_ context: UnsafeMutableRawPointer?) {
  guard let context else { return }
  let start = Unmanaged<StartContext>.fromOpaque(context).takeRetainedValue()
  start.name.withCString { cplatform_thread_set_name($0) }
  start.body()
}
