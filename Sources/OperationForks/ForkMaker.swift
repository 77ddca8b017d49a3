import CPlatform
import OperationJobs
import Primitives

/// The task of Swift's in which a scope of forks began. A fork that another thread takes runs there as a task of its
/// own, which sees of this one what a body can ask for: whether it is cancelled, its priority and its name. `README.md`
/// here says more, in "What a fork sees".
final class ForkMaker: @unchecked Sendable {
  // Sendable: `record` belongs to the thread of the scope. Everything else is constant, or under `state`.

  /// The backend whose threads help.
  let home: Unmanaged<BackendHome>?
  private let priority: TaskPriority
  private let name: String?
  private let state = Locked(State())
  private var record: UnsafeMutableRawPointer?

  private struct State: ~Copyable {
    var isCancelled = false
    /// The tasks of the forks that run.
    var running: [UnsafeCurrentTask] = []
  }

  /// Called inside of the task.
  init(home: Unmanaged<BackendHome>?) {
    self.home = home
    priority = Task.currentPriority
    name = Task.name
    record = cplatform_on_cancel(Unmanaged.passUnretained(self).toOpaque())
  }

  /// Called inside of the task, when all forks have ended. A cancellation that is under way is waited for.
  func end() { record.map(cplatform_on_cancel_end) }

  fileprivate func cancel() {
    state.withLock {
      state.state.isCancelled = true
      for task in state.state.running { task.cancel() }
    }
  }

  /// Runs a body in a task of its own, on the calling thread, which may run another task.
  /// - Parameter maker: nil for a body that was made outside of tasks.
  static func runAsTask(_ maker: Unmanaged<ForkMaker>?, _ body: () -> Void) {
    withoutActuallyEscaping(body) { body in
      let box = Box(body: body)
      let maker = maker?._withUnsafeGuaranteedRef { $0 }
      _ = Task.immediateDetached(name: maker?.name, priority: maker?.priority) {
        withUnsafeCurrentTask { task in
          if let maker, let task { maker.begin(task) }
          box.body()
          if let maker, let task { maker.end(task) }
        }
      }
    }
  }

  private struct Box: @unchecked Sendable {
    // Sendable: the task runs on the thread that makes it, before the call returns.
    let body: () -> Void
  }

  private func begin(_ task: UnsafeCurrentTask) {
    state.withLock {
      state.state.running.append(task)
      if state.state.isCancelled { task.cancel() }
    }
  }

  private func end(_ task: UnsafeCurrentTask) {
    state.withLock {
      let index = state.state.running.firstIndex(of: task)
      if let index { state.state.running.remove(at: index) }
    }
  }
}

/// Where a fork that was shown comes from, in one word: the backend, or the task, which knows the backend (then bit 0
/// is set).
struct ForkOrigin {
  let home: Unmanaged<BackendHome>
  let maker: Unmanaged<ForkMaker>?

  init?(of fork: ForkList.Fork) {
    guard let word = fork.pointee.home else { return nil }
    if UInt(bitPattern: word) & 1 == 0 {
      (home, maker) = (.fromOpaque(word), nil)
      return
    }
    let maker = Unmanaged<ForkMaker>.fromOpaque(word - 1)
    guard let home = maker._withUnsafeGuaranteedRef({ $0.home }) else { return nil }
    (self.home, self.maker) = (home, maker)
  }

  static func word(home: Unmanaged<BackendHome>, maker: Unmanaged<ForkMaker>?) -> UnsafeMutableRawPointer {
    maker.map { $0.toOpaque() + 1 } ?? home.toOpaque()
  }
}

/// Called by C on the thread that cancels the task.
@_documentation(visibility: internal)
@c(operations_task_cancelled)
public func operationsTaskCancelled(_ maker: UnsafeMutableRawPointer) {
  Unmanaged<ForkMaker>.fromOpaque(maker)._withUnsafeGuaranteedRef { $0.cancel() }
}
