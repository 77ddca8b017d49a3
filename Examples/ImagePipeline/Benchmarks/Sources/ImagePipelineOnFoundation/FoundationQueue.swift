@_exported import Foundation
import Operations
import Synchronization

// Exported, so that the other files of this module see it too.

// The names of this library that the pipeline and the coalescer use, made of Foundation's queue. They stand in the
// module that both are compiled into, so they go before what `import Operations` brings.

public typealias Operation = Foundation.Operation

/// Foundation's queue. The backend is not used: Foundation has its own threads.
public final class OperationQueue: Foundation.OperationQueue, @unchecked Sendable {
  /// Takes limits by priority. Foundation has none, so they do nothing.
  public struct Limits: Sendable {
    public subscript(below priority: Operation.QueuePriority) -> Int? {
      get { nil }
      set {}
    }
  }

  public var limits = Limits()

  public convenience init(on backend: any Backend) {
    self.init()
    // Steps that wait for other steps are operations that run.
    maxConcurrentOperationCount = 1_000_000
  }

  public func drained() async {
    while operationCount > 0 { try? await Task.sleep(for: .milliseconds(1)) }
  }
}

/// An asynchronous operation, as users of Foundation write it.
public final class TaskOperation<Success: Sendable, Failure: Error>: Foundation.Operation, @unchecked Sendable {
  // Sendable: what changes lies under the lock.

  private enum Phase { case waits, runs, over }

  private struct State {
    var phase = Phase.waits
    /// Given away when it runs or the operation is over: what it holds is released then.
    var body: (@Sendable () async throws -> Success)?
    var task: Task<Void, Never>?
  }

  private let state: Mutex<State>

  public init(_ body: @escaping @Sendable () async throws(Failure) -> Success) {
    state = Mutex(State(body: body))
  }

  public override var isAsynchronous: Bool { true }
  public override var isExecuting: Bool { state.withLock { $0.phase == .runs } }
  public override var isFinished: Bool { state.withLock { $0.phase == .over } }

  public override func start() {
    let body = state.withLock { $0.body.take() }
    guard let body, !isCancelled else { return enter(.over) }
    enter(.runs)
    let task = Task { [self] in
      _ = try? await body()
      enter(.over)
    }
    state.withLock { if $0.phase == .runs { $0.task = task } }
    if isCancelled { task.cancel() }
  }

  public override func cancel() {
    super.cancel()
    state.withLock { $0.task }?.cancel()
  }

  private func enter(_ next: Phase) {
    let keys = next == .over ? ["isExecuting", "isFinished"] : ["isExecuting"]
    for key in keys { willChangeValue(forKey: key) }
    state.withLock { state in
      state.phase = next
      if next == .over { state.task = nil }
    }
    for key in keys.reversed() { didChangeValue(forKey: key) }
  }
}
