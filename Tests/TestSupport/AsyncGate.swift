/// Closed until somebody opens it, then open for good. Tasks wait without a thread.
public final class AsyncGate: Sendable {
  private let waiting = Monitor<[UnsafeContinuation<Void, Never>]?>([])

  public init() {}

  public var isOpen: Bool { waiting.value == nil }
  /// How many tasks wait.
  public var waiters: Int { waiting.value?.count ?? 0 }

  public func open() {
    let tasks = waiting.with { tasks in
      defer { tasks = nil }
      return tasks
    }
    for task in tasks ?? [] { task.resume() }
  }

  public func pass() async {
    await withUnsafeContinuation { continuation in
      let isOpen = waiting.with { tasks in
        if tasks == nil { return true }
        tasks?.append(continuation)
        return false
      }
      if isOpen { continuation.resume() }
    }
  }
}
