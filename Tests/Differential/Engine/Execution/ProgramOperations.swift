import Operations
import Synchronization

/// Overrides `main()`.
final class PlainProgramOperation: Operation, @unchecked Sendable {
  // Invariant: both are constant.
  private let state: ExecutionState
  private let index: Int

  init(_ state: ExecutionState, _ index: Int) {
    self.state = state
    self.index = index
    super.init()
  }

  override func main() { state.run(index, block: 0) }
}

/// Is ready when its dependencies are, and a condition of its own holds.
final class ConditionalProgramOperation: Operation, @unchecked Sendable {
  // Invariant: constant, or atomic.
  private let state: ExecutionState
  private let index: Int
  private let holds = Atomic<Bool>(false)

  init(_ state: ExecutionState, _ index: Int) {
    self.state = state
    self.index = index
    super.init()
  }

  override var isReady: Bool { super.isReady && holds.load(ordering: .acquiring) }

  override func main() { state.run(index, block: 0) }

  func satisfy() {
    willChangeValue(forKey: "isReady")
    holds.store(true, ordering: .releasing)
    didChangeValue(forKey: "isReady")
  }
}

/// The asynchronous pattern as written for Foundation.
final class HandWrittenProgramOperation: Operation, @unchecked Sendable {
  // Invariant: constant, or atomic.
  private let state: ExecutionState
  private let index: Int
  private let executing = Atomic<Bool>(false)
  private let finished = Atomic<Bool>(false)

  init(_ state: ExecutionState, _ index: Int) {
    self.state = state
    self.index = index
    super.init()
  }

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { executing.load(ordering: .acquiring) }
  override var isFinished: Bool { finished.load(ordering: .acquiring) }

  override func start() {
    guard !isCancelled else {
      state.journal.append(.startSkipped(index))
      post(.isFinished, true) { finished.store(true, ordering: .releasing) }
      return
    }
    post(.isExecuting, true) { executing.store(true, ordering: .releasing) }
    state.run(index, block: 0)
  }

  func end() {
    post(.isExecuting, false) { executing.store(false, ordering: .releasing) }
    post(.isFinished, true) { finished.store(true, ordering: .releasing) }
  }

  private func post(_ key: ObservedKey, _ value: Bool, _ change: () -> Void) {
    state.journal.append(.postBegins(index, key, value: value))
    willChangeValue(forKey: key.rawValue)
    change()
    didChangeValue(forKey: key.rawValue)
    state.journal.append(.postEnded(index, key, value: value))
  }
}
